package dev.annals.gremlin;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.function.Supplier;
import org.apache.tinkerpop.gremlin.process.traversal.Operator;
import org.apache.tinkerpop.gremlin.process.traversal.Order;
import org.apache.tinkerpop.gremlin.process.traversal.P;
import org.apache.tinkerpop.gremlin.process.traversal.Scope;
import org.apache.tinkerpop.gremlin.process.traversal.TextP;
import org.apache.tinkerpop.gremlin.process.traversal.dsl.graph.GraphTraversal;
import org.apache.tinkerpop.gremlin.process.traversal.dsl.graph.GraphTraversalSource;
import org.apache.tinkerpop.gremlin.process.traversal.dsl.graph.__;
import org.apache.tinkerpop.gremlin.structure.Graph;
import org.apache.tinkerpop.gremlin.structure.T;
import org.apache.tinkerpop.gremlin.structure.Vertex;
import org.apache.tinkerpop.gremlin.structure.VertexProperty;
import org.apache.tinkerpop.gremlin.tinkergraph.structure.TinkerGraph;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;

/**
 * Random traversals give what TinkerGraph gives: in an open transaction, and after the graph is opened again.
 *
 * <p>{@code -Dannals.traversals=n} makes a campaign, {@code -Dannals.seed=n} repeats one.
 */
@SuppressWarnings({"unchecked", "cast"}) // Steps have whatever types they have.
public class OracleTest {
    private static final int TRAVERSALS = Integer.getInteger("annals.traversals", 5_000);
    private static final String[] LABELS = {"person", "software", "place", "unknown"};
    private static final String[] LINKS = {"knows", "created", "likes", "unknown"};
    private static final String[] KEYS = {"name", "age", "score", "flag", "tag", "missing"};
    private static final String[] NAMES = {"a", "ab", "abc", "b", "\u00e9t\u00e9", "z z"};

    @Rule
    public final TemporaryFolder folder = new TemporaryFolder();

    @Test
    public void randomTraversalsGiveWhatTinkerGraphGives() {
        long seed = Seeds.first();
        Path place = folder.getRoot().toPath().resolve("graph");
        try (TinkerGraph oracle = TinkerGraph.open()) {
            fill(oracle, new Random(seed));
            try (AnnalsGraph graph = AnnalsGraph.open(place)) {
                fill(graph, new Random(seed));
                compare(seed, 0, TRAVERSALS / 2, oracle, graph);
                graph.tx().commit();
            }
            try (AnnalsGraph graph = AnnalsGraph.open(place)) {
                compare(seed, 1_000_000, TRAVERSALS - TRAVERSALS / 2, oracle, graph);
            }
        }
    }

    /** Changes between steps; both graphs change alike. */
    @Test
    public void randomChangesInTraversalsGiveWhatTinkerGraphGives() {
        long seed = Seeds.first();
        try (TinkerGraph oracle = TinkerGraph.open();
                AnnalsGraph graph = AnnalsGraph.open(folder.getRoot().toPath().resolve("graph"))) {
            fill(oracle, new Random(seed));
            fill(graph, new Random(seed));
            for (int index = 0; index < TRAVERSALS / 25; index++) {
                long own = seed + index;
                int mark = index;
                String found = outcome(() -> changing(graph.traversal(), new Random(own), mark));
                String expected = outcome(() -> changing(oracle.traversal(), new Random(own), mark));
                String text = changing(oracle.traversal(), new Random(own), mark).toString();
                assertEquals("seed " + seed + ", change " + index + ": " + text, expected, found);
                assertEquals("seed " + seed + ", after change " + index + ": " + text, state(oracle), state(graph));
                if (index % 7 == 0) {
                    graph.tx().commit();
                }
            }
        }
    }

    private static String state(Graph graph) {
        GraphTraversalSource g = graph.traversal();
        return outcome(() -> g.V().project("id", "out", "in", "mark").by(T.id).by(__.out().id().order().fold())
                .by(__.inE("made").count()).by(__.values("mark").fold()));
    }

    /** The order in which links of one vertex come does not count: it is not the same in both graphs. */
    private static GraphTraversal<?, ?> changing(GraphTraversalSource g, Random random, int mark) {
        String label = LABELS[random.nextInt(3)];
        String link = LINKS[random.nextInt(3)];
        return switch (random.nextInt(8)) {
            case 0 -> g.V().hasLabel(label).property("mark", mark).both(link).has("mark", mark).id();
            case 1 -> g.V().hasLabel(label).as("a").out(link).addE("made").from("a").inV().in("made").count();
            case 2 -> g.V().hasLabel(label).as("a").out(link).addE("made").from("a").inV().local(__.in("made").count());
            case 3 -> g.V().hasLabel(label).sideEffect(__.outE("made").drop()).local(__.both("made").count());
            case 4 -> g.V().where(__.in("made")).sideEffect(__.inE("made").drop()).local(__.both().count());
            case 5 -> g.V().hasLabel(label).where(__.not(__.has("mark", mark))).out(link).property("mark", mark).count();
            case 6 -> g.V(random.nextInt(60)).out(link).property("mark", mark).in(link).property("mark", mark + 1).dedup().count();
            default -> g.V(random.nextInt(60)).repeat((GraphTraversal<Vertex, Vertex>) (GraphTraversal<?, ?>) __.out()
                    .sideEffect(__.property("mark", mark)).has("mark", mark)).times(2).dedup().id();
        };
    }

    private static void fill(Graph graph, Random random) {
        Vertex[] vertices = new Vertex[60];
        for (int index = 0; index < vertices.length; index++) {
            vertices[index] = graph.addVertex(T.id, index, T.label, LABELS[random.nextInt(3)]);
            if (random.nextInt(5) > 0) {
                vertices[index].property("name", NAMES[random.nextInt(NAMES.length)]);
            }
            if (random.nextInt(3) > 0) {
                vertices[index].property("age", random.nextBoolean() ? (Object) random.nextInt(9) : (Object) (long) random.nextInt(9));
            }
            if (random.nextInt(3) > 0) {
                vertices[index].property("score", random.nextInt(9) / 2.0);
            }
            vertices[index].property("flag", random.nextBoolean());
            for (int tags = random.nextInt(4); tags > 0; tags--) {
                Object tag = random.nextBoolean() ? (Object) random.nextInt(9) : NAMES[random.nextInt(NAMES.length)];
                vertices[index].property(VertexProperty.Cardinality.set, "tag", tag);
            }
        }
        for (int index = 0; index < 180; index++) {
            Vertex from = vertices[random.nextInt(vertices.length)];
            Vertex to = vertices[random.nextInt(vertices.length)];
            from.addEdge(LINKS[random.nextInt(3)], to, T.id, 1_000 + index, "age", random.nextInt(9));
        }
    }

    /**
     * Compares random traversals. Of several conditions on the label of an edge TinkerPop makes a list of labels, any of which
     * suffices and each of which TinkerGraph follows; so the oracle, too, makes them one condition first.
     */
    private static void compare(long seed, int start, int count, Graph oracle, Graph graph) {
        GraphTraversalSource right = oracle.traversal().withStrategies(AnnalsLabelStrategy.instance());
        GraphTraversalSource left = graph.traversal();
        int answered = 0;
        for (int index = 0; index < count; index++) {
            long own = seed + start + index;
            String expected = outcome(() -> traversal(right, new Random(own)));
            String found = outcome(() -> traversal(left, new Random(own)));
            String text = traversal(right, new Random(own)).toString();
            assertEquals("seed " + seed + ", traversal " + (start + index) + ": " + text, expected, found);
            answered += expected.startsWith("!") || expected.equals("[]") ? 0 : 1;
        }
        assertTrue(answered + " of " + count + " traversals had an answer", answered > count / 4);
    }

    private static String outcome(Supplier<GraphTraversal<?, ?>> traversal) {
        try {
            List<?> found = traversal.get().limit(20_000).toList();
            return found.stream().map(OracleTest::text).sorted().toList().toString();
        } catch (RuntimeException error) {
            return "!" + error.getClass().getSimpleName();
        }
    }

    /** A result with its class, so that 1 and 1L differ. */
    private static String text(Object result) {
        return result instanceof Number number ? number.getClass().getSimpleName() + " " + number : String.valueOf(result);
    }

    private static GraphTraversal<?, ?> traversal(GraphTraversalSource g, Random random) {
        boolean isOfEdges = random.nextInt(5) == 0;
        boolean hasSack = random.nextInt(8) == 0;
        GraphTraversalSource from = hasSack ? g.withSack(1L) : g;
        Steps steps = new Steps(random, isOfEdges ? from.E() : from.V(), !isOfEdges, hasSack);
        if (!isOfEdges && random.nextInt(8) == 0) {
            steps.forgetting();
        }
        int count = 1 + random.nextInt(6);
        for (int index = 0; index < count; index++) {
            steps.next();
        }
        return steps.end();
    }

    /** Adds random steps that fit the kind of element so far. */
    private static final class Steps {
        private final Random random;
        private GraphTraversal<?, ?> so;
        private boolean isAtVertex;
        private final boolean hasSack;
        private int flatMaps;
        private boolean hasDedup;

        Steps(Random random, GraphTraversal<?, ?> so, boolean isAtVertex, boolean hasSack) {
            this.random = random;
            this.so = so;
            this.isAtVertex = isAtVertex;
            this.hasSack = hasSack;
        }

        /** Side effects between steps. They stand first: only g.V() has one order in both graphs. */
        void forgetting() {
            hasDedup = true;
            GraphTraversal<Object, Object> at = (GraphTraversal<Object, Object>) so;
            flatMaps += 1;
            so = switch (random.nextInt(3)) {
                case 0 -> at.local(__.aggregate("x")).out(any(LINKS)).where(P.without("x"));
                case 1 -> at.sideEffect(__.aggregate("x")).both().where(P.within("x"));
                default -> at.hasId(random.nextInt(60))
                        .repeat((GraphTraversal<Object, Object>) (GraphTraversal<?, ?>) __.out().where(P.without("x")).local(__.aggregate("x")))
                        .emit();
            };
        }

        private String any(String[] all) {
            return all[random.nextInt(all.length)];
        }

        /** Texts are asked of names only: asking a number for its start is an error, and which comes first is not fixed. */
        private P<?> condition(String key) {
            return switch (random.nextInt(key.equals("name") ? 11 : 7)) {
                case 0 -> P.eq(random.nextInt(9));
                case 1 -> P.gt(random.nextInt(9));
                case 2 -> P.lte((long) random.nextInt(9));
                case 3 -> P.between(random.nextInt(4), 4 + random.nextInt(4));
                case 4 -> P.within(1, 2.0, "ab", "b");
                case 5 -> P.neq(random.nextInt(9));
                case 6 -> P.eq(any(NAMES));
                case 7 -> TextP.startingWith(any(NAMES));
                case 8 -> TextP.containing(any(NAMES));
                case 9 -> P.lt("ab");
                default -> P.without("a", 3);
            };
        }

        private GraphTraversal<?, ?> inner() {
            String key = any(KEYS);
            return switch (random.nextInt(6)) {
                case 0 -> __.has(any(KEYS));
                case 1 -> __.has(key, condition(key));
                case 2 -> __.values(key).is(condition(key));
                case 3 -> __.label().is(any(LABELS));
                case 4 -> isAtVertex ? __.out(any(LINKS)).has(any(KEYS)) : __.inV();
                default -> __.not(__.has(key, condition(key)));
            };
        }

        void next() {
            String key = any(KEYS);
            GraphTraversal<Object, Object> at = (GraphTraversal<Object, Object>) so;
            switch (random.nextInt(16)) {
                case 0, 1 -> so = at.hasLabel(isAtVertex ? any(LABELS) : any(LINKS));
                case 2 -> so = at.has(key, condition(key));
                case 3 -> so = at.has(any(KEYS));
                case 4 -> so = at.hasNot(any(KEYS));
                case 5 -> so = at.hasId(random.nextInt(60), 1_000 + random.nextInt(180));
                case 6 -> so = at.where(inner());
                case 7 -> so = at.not(inner());
                case 8 -> so = at.or(inner(), inner());
                case 9 -> {
                    so = at.dedup();
                    hasDedup = true;
                }
                case 10 -> so = at.hasLabel(any(LABELS), any(LINKS));
                case 11 -> so = at.has(key, condition(key)).has(key, condition(key));
                case 12 -> so = at.union(__.<Object>identity(), __.<Object>filter(inner()));
                case 13 -> so = at.optional((GraphTraversal<Object, Object>) (GraphTraversal<?, ?>) (isAtVertex ? __.out(any(LINKS)) : __.identity()));
                default -> walk(at);
            }
        }

        private void walk(GraphTraversal<Object, Object> at) {
            if (flatMaps > 2) {
                return;
            }
            flatMaps += 1;
            if (!isAtVertex) {
                so = random.nextBoolean() ? at.inV() : at.bothV();
                isAtVertex = true;
                return;
            }
            switch (random.nextInt(12)) {
                case 8 -> {
                    so = at.repeat((GraphTraversal<Object, Object>) (GraphTraversal<?, ?>) __.both(any(LINKS)).dedup()).emit().times(2);
                    hasDedup = true;
                }
                case 9 -> so = at.repeat((GraphTraversal<Object, Object>) (GraphTraversal<?, ?>) __.out().hasLabel(any(LABELS)))
                        .until(__.or(__.has(any(KEYS)), __.loops().is(3)));
                case 10 -> so = at.sideEffect(__.out(any(LINKS))).out(any(LINKS)).barrier();
                case 11 -> so = hasSack
                        ? at.sack(Operator.sum).by(__.out().count()).out(any(LINKS)).sack(Operator.mult).by(__.constant(2L))
                        : at.as("a").both(any(LINKS)).where(P.neq("a"));
                case 0 -> so = at.out();
                case 1 -> so = at.in(any(LINKS));
                case 2 -> so = at.both(LINKS[random.nextInt(2)], LINKS[2 + random.nextInt(2)]);
                case 3 -> {
                    GraphTraversal<?, ?> out = __.out(any(LINKS));
                    so = at.repeat((GraphTraversal<Object, Object>) (hasDedup ? out : out.simplePath())).times(2);
                }
                case 4 -> so = at.coalesce(__.out(any(LINKS)), __.in());
                case 5 -> so = at.local(__.out().order().by(T.id).limit(1));
                default -> {
                    so = random.nextBoolean() ? at.outE(any(LINKS)) : at.bothE();
                    isAtVertex = false;
                }
            }
        }

        GraphTraversal<?, ?> end() {
            GraphTraversal<Object, Object> at = (GraphTraversal<Object, Object>) so;
            // Which of several ways to an element remains is not the same in both graphs.
            boolean hasWays = !hasDedup;
            if (hasSack) {
                return hasWays ? at.sack() : at.count();
            }
            return switch (random.nextInt(20)) {
                case 19 -> at.order().by("age", random.nextBoolean() ? Order.asc : Order.desc).limit(4).values("age").map(__.math("_ * 1"));
                case 14 -> at.limit(random.nextInt(40)).count();
                case 15 -> at.range(random.nextInt(5), 5 + random.nextInt(400)).count();
                case 16 -> hasWays ? at.path().by(T.id) : at.count();
                case 17 -> at.limit(1).constant("one");
                case 18 -> at.tail(3).count();
                case 0 -> at.count();
                case 1 -> at.values(any(KEYS));
                case 2 -> at.groupCount().by(T.label).unfold();
                case 3 -> at.id();
                case 4 -> at.valueMap("flag", "age").unfold();
                case 5 -> at.values("age").sum();
                case 6 -> at.values("age").max();
                case 7 -> at.order().by(T.id, Order.desc).limit(3);
                case 8 -> hasWays ? at.path().count(Scope.local) : at.count();
                case 9 -> at.values("score").mean();
                case 10 -> at.label().dedup();
                case 11 -> at.order().by(T.id).range(1, 4).values(any(KEYS));
                case 12 -> at.project("id", "label").by(T.id).by(T.label);
                default -> at;
            };
        }
    }
}
