package dev.annals.gremlin;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.function.Supplier;
import org.apache.tinkerpop.gremlin.process.traversal.Order;
import org.apache.tinkerpop.gremlin.process.traversal.P;
import org.apache.tinkerpop.gremlin.process.traversal.TextP;
import org.apache.tinkerpop.gremlin.process.traversal.dsl.graph.GraphTraversal;
import org.apache.tinkerpop.gremlin.process.traversal.dsl.graph.GraphTraversalSource;
import org.apache.tinkerpop.gremlin.process.traversal.dsl.graph.__;
import org.apache.tinkerpop.gremlin.structure.Graph;
import org.apache.tinkerpop.gremlin.structure.T;
import org.apache.tinkerpop.gremlin.structure.Vertex;
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
    private static final String[] KEYS = {"name", "age", "score", "flag", "missing"};
    private static final String[] NAMES = {"a", "ab", "abc", "b", "\u00e9t\u00e9", "z z"};

    @Rule
    public final TemporaryFolder folder = new TemporaryFolder();

    @Test
    public void randomTraversalsGiveWhatTinkerGraphGives() {
        long seed = Long.getLong("annals.seed", System.nanoTime());
        Path place = folder.getRoot().toPath().resolve("graph");
        try (TinkerGraph oracle = TinkerGraph.open()) {
            fill(oracle, new Random(seed));
            try (AnnalsGraph graph = AnnalsGraph.open(place)) {
                fill(graph, new Random(seed));
                compare(seed, TRAVERSALS / 2, oracle, graph);
                graph.tx().commit();
            }
            try (AnnalsGraph graph = AnnalsGraph.open(place)) {
                compare(seed + 1_000_000, TRAVERSALS - TRAVERSALS / 2, oracle, graph);
            }
        }
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
        }
        for (int index = 0; index < 180; index++) {
            Vertex from = vertices[random.nextInt(vertices.length)];
            Vertex to = vertices[random.nextInt(vertices.length)];
            from.addEdge(LINKS[random.nextInt(3)], to, T.id, 1_000 + index, "age", random.nextInt(9));
        }
    }

    private static void compare(long seed, int count, Graph oracle, Graph graph) {
        GraphTraversalSource right = oracle.traversal();
        GraphTraversalSource left = graph.traversal();
        int answered = 0;
        for (int index = 0; index < count; index++) {
            long own = seed + index;
            String expected = outcome(() -> traversal(right, new Random(own)));
            String found = outcome(() -> traversal(left, new Random(own)));
            String text = traversal(right, new Random(own)).toString();
            assertEquals("seed " + own + ": " + text, expected, found);
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
        Steps steps = new Steps(random, isOfEdges ? g.E() : g.V(), !isOfEdges);
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
        private int flatMaps;

        Steps(Random random, GraphTraversal<?, ?> so, boolean isAtVertex) {
            this.random = random;
            this.so = so;
            this.isAtVertex = isAtVertex;
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
                case 9 -> so = at.dedup();
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
            switch (random.nextInt(8)) {
                case 0 -> so = at.out();
                case 1 -> so = at.in(any(LINKS));
                case 2 -> so = at.both(LINKS[random.nextInt(2)], LINKS[2 + random.nextInt(2)]);
                case 3 -> so = at.repeat((GraphTraversal<Object, Object>) (GraphTraversal<?, ?>) __.out(any(LINKS)).simplePath()).times(2);
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
            return switch (random.nextInt(14)) {
                case 0 -> at.count();
                case 1 -> at.values(any(KEYS));
                case 2 -> at.groupCount().by(T.label).unfold();
                case 3 -> at.id();
                case 4 -> at.valueMap("flag", "age").unfold();
                case 5 -> at.values("age").sum();
                case 6 -> at.values("age").max();
                case 7 -> at.order().by(T.id, Order.desc).limit(3);
                case 8 -> at.path().count(org.apache.tinkerpop.gremlin.process.traversal.Scope.local);
                case 9 -> at.values("score").mean();
                case 10 -> at.label().dedup();
                case 11 -> at.order().by(T.id).range(1, 4).values(any(KEYS));
                case 12 -> at.project("id", "label").by(T.id).by(T.label);
                default -> at;
            };
        }
    }
}
