package dev.annals.gremlin;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import java.util.List;
import org.apache.tinkerpop.gremlin.process.traversal.Operator;
import org.apache.tinkerpop.gremlin.process.traversal.Path;
import org.apache.tinkerpop.gremlin.process.traversal.Traversal;
import org.apache.tinkerpop.gremlin.process.traversal.dsl.graph.GraphTraversal;
import org.apache.tinkerpop.gremlin.process.traversal.dsl.graph.GraphTraversalSource;
import org.apache.tinkerpop.gremlin.process.traversal.dsl.graph.__;
import org.apache.tinkerpop.gremlin.process.traversal.util.TraversalHelper;
import org.apache.tinkerpop.gremlin.structure.T;
import org.apache.tinkerpop.gremlin.structure.Vertex;
import org.junit.Test;

/** Steps to neighbours ask the repository for many vertices at once, where nothing shows it but the time. */
public class AdjacencyTest {
    /** Vertices v0, v1, …; each leads to the next one. */
    private static AnnalsGraph chain(int length) {
        AnnalsGraph graph = AnnalsGraph.open();
        Vertex last = graph.addVertex(T.id, "v0");
        for (int index = 1; index <= length; index++) {
            Vertex next = graph.addVertex(T.id, "v" + index);
            last.addEdge("next", next);
            last = next;
        }
        return graph;
    }

    private static int questions(Traversal<?, ?> done) {
        int all = 0;
        for (AnnalsVertexStep<?> step :
                TraversalHelper.getStepsOfAssignableClassRecursively(AnnalsVertexStep.class, done.asAdmin())) {
            all += step.questions();
        }
        return all;
    }

    private static boolean asksForMany(Traversal<?, ?> traversal) {
        String plan = traversal.explain().toString();
        String last = plan.substring(plan.indexOf("Final Traversal"));
        assertTrue(plan, last.contains("VertexStep("));
        return last.contains("AnnalsVertexStep(") && !last.replace("AnnalsVertexStep(", "").contains("VertexStep(");
    }

    @Test
    public void oneQuestionIsForManyVertices() {
        try (AnnalsGraph graph = chain(300)) {
            GraphTraversal<?, Vertex> traversal = graph.traversal().V().out("next");
            assertEquals(300, traversal.toList().size());
            // 1, 4, 16, 64 and 216 vertices.
            assertEquals(5, questions(traversal));
            GraphTraversal<?, ?> repeated = graph.traversal().V().repeat(__.both()).times(2);
            assertEquals(1_198, repeated.toList().size());
            assertTrue(questions(repeated) + " questions", questions(repeated) < 20);
        }
    }

    @Test
    public void aLimitBehindReadsLittle() {
        try (AnnalsGraph graph = chain(300)) {
            GraphTraversal<?, Vertex> traversal = graph.traversal().V().out().limit(1);
            assertEquals(List.of("v1"), traversal.toList().stream().map(Vertex::id).toList());
            // One vertex has the answer; to know that it has the last one, limit() asks for one more: 4 vertices.
            assertEquals(2, questions(traversal));
            GraphTraversal<?, Vertex> more = graph.traversal().V().out().limit(6);
            assertEquals(6, more.toList().size());
            assertEquals(3, questions(more));
        }
    }

    @Test
    public void theFirstBatchOfEachStepIsSmall() {
        try (AnnalsGraph graph = chain(300)) {
            // With a path there is no barrier between the steps.
            GraphTraversal<?, Path> traversal = graph.traversal().V().out().out().path();
            traversal.next();
            assertEquals(2, questions(traversal));
        }
    }

    @Test
    public void aVertexWithManyLinksHasAllOfThem() {
        try (AnnalsGraph graph = AnnalsGraph.open()) {
            Vertex end = graph.addVertex("end");
            for (int hub = 0; hub < 100; hub++) {
                Vertex vertex = graph.addVertex("hub");
                for (int link = 0; link < 260 + hub; link++) {
                    vertex.addEdge("to", end);
                }
            }
            // The batch of 64 has a share of 256.
            assertEquals(100 * 260 + 99 * 50, graph.traversal().V().hasLabel("hub").out().toList().size());
        }
    }

    @Test
    public void aChangeBetweenTwoResultsShows() {
        try (AnnalsGraph graph = chain(40)) {
            GraphTraversal<?, Path> traversal = graph.traversal().V().out().path();
            // The batch of 16 is v5 to v20.
            for (int count = 0; count < 6; count++) {
                traversal.next();
            }
            graph.vertices("v7").next().addEdge("more", graph.addVertex(T.id, "x"));
            assertEquals(35, traversal.toList().size());
        }
    }

    @Test
    public void whatRunsOneByOneStaysSo() {
        try (AnnalsGraph graph = chain(3)) {
            GraphTraversalSource g = graph.traversal();
            assertTrue(asksForMany(g.V().out("next").inE().outV().hasLabel("x").repeat(__.both()).times(2).where(__.outE())));
            assertTrue(asksForMany(g.withSack(1).V().out().sack(Operator.sum).path()));
            assertFalse(asksForMany(g.V().local(__.aggregate("x")).out()));
            assertFalse(asksForMany(g.V().out().group("x").by(T.label)));
            assertFalse(asksForMany(g.V().out().property("a", 1)));
            assertFalse(asksForMany(g.V().as("a").out().addE("b").to("a")));
            assertFalse(asksForMany(g.V().where(__.out()).drop()));
            assertFalse(asksForMany(g.V().out().sideEffect(each -> {})));
            assertEquals(List.of(), g.V("v0").out("unknown").toList());
            assertEquals(List.of(), g.V("v0").out((String) null).toList());
        }
    }

    /** TinkerPop folds both conditions into one list of labels, of which any suffices. */
    @Test
    public void severalConditionsOnTheLabelOfAnEdgeAllHold() {
        try (AnnalsGraph graph = chain(1)) {
            GraphTraversalSource g = graph.traversal();
            g.V("v0").addE("likes").to(__.V("v1")).iterate();
            assertEquals(List.of("next"), g.V("v0").outE().hasLabel("next").hasLabel("next", "likes").label().toList());
            assertEquals(List.of("next"), g.V("v0").bothE().hasLabel("likes", "next").hasLabel("x", "next").label().toList());
            assertEquals(List.of(), g.V("v0").outE().hasLabel("next").hasLabel("likes", "x").label().toList());
            assertEquals(List.of(), g.V("v0").outE().hasLabel("next", "x").hasLabel("likes").label().toList());
            assertEquals(2, g.V("v0").outE().hasLabel("next", "likes", "next").toList().size());
        }
    }

    @Test
    public void theEarliestAndLatestStateHaveTheirOwnLinks() {
        try (AnnalsGraph graph = chain(10)) {
            graph.tx().commit();
            graph.traversal().V("v3").drop().iterate();
            graph.tx().commit();
            assertEquals(8, graph.traversal().V().out().toList().size());
            assertEquals(10, graph.traversal().with("position", 1).V().out().toList().size());
            assertEquals(20, graph.traversal().with("position", 1).V().both().toList().size());
        }
    }
}
