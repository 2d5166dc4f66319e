package dev.annals.gremlin;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import dev.annals.Attribute;
import dev.annals.TypeDefinition;
import dev.annals.ValueType;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.Date;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.function.Function;
import org.apache.tinkerpop.gremlin.process.traversal.Order;
import org.apache.tinkerpop.gremlin.process.traversal.P;
import org.apache.tinkerpop.gremlin.process.traversal.Traversal;
import org.apache.tinkerpop.gremlin.process.traversal.dsl.graph.GraphTraversalSource;
import org.apache.tinkerpop.gremlin.process.traversal.dsl.graph.__;
import org.apache.tinkerpop.gremlin.structure.T;
import org.apache.tinkerpop.gremlin.structure.Vertex;
import org.junit.Test;

/** Counts, limits and orders that the repository does itself, and those that it must not do. */
public class SearchTest {
    private static final int LARGE = 4;
    private static final OffsetDateTime TIME = OffsetDateTime.parse("2026-01-01T00:00:00Z");
    private static final String LONG = "x".repeat(130);

    private static String plan(Traversal<?, ?> traversal) {
        String plan = traversal.explain().toString();
        String last = plan.substring(plan.indexOf("Final Traversal"));
        return last.substring(last.indexOf('[') + 1, last.lastIndexOf(']'));
    }

    /** The same graph without what this provider adds to TinkerPop's steps. */
    @SuppressWarnings("unchecked") // TinkerPop takes an array of classes.
    private static GraphTraversalSource plain(AnnalsGraph graph) {
        return graph.traversal()
                .withoutStrategies(AnnalsStrategy.class, AnnalsReductionStrategy.class, AnnalsAdjacencyStrategy.class);
    }

    @Test
    public void theRepositoryCounts() {
        try (AnnalsGraph graph = AnnalsGraph.open()) {
            GraphTraversalSource g = graph.traversal();
            assertEquals("AnnalsCountStep(vertex)", plan(g.V().count()));
            assertEquals("AnnalsCountStep(edge,[~label.eq(knows)])", plan(g.E().hasLabel("knows").count()));
            assertEquals(
                    "AnnalsCountStep(vertex,[~label.eq(person), age.gt(3)])",
                    plan(g.V().hasLabel("person").has("age", P.gt(3)).count()));
            for (Traversal<?, ?> inexact : List.<Traversal<?, ?>>of(
                    g.V().has("age", P.neq(3)).count(), g.V().has("age", 0.5).count(), g.V().has("name", "c").count(),
                    g.V().has("name", P.gt("ab")).count(), g.E().has("age", 3).count(), g.V("a").count(),
                    g.V().hasLabel("a").hasLabel("b").count(), g.V().has("@version", 1).count(), g.V().dedup().count())) {
                assertTrue(plan(inexact), plan(inexact).endsWith("CountGlobalStep") && !plan(inexact).contains("AnnalsCount"));
            }
            g.addV("person").property("age", 4).addV("person").property("age", 3).addV("dog").property("age", 5).iterate();
            assertEquals(List.of(1L), g.V().hasLabel("person").has("age", P.gt(3)).count().toList());
            assertEquals(List.of(1L), g.V().hasLabel("person").has("age", P.gt(3)).count().as("n").select("n").toList());
            graph.tx().commit();
            g.V().drop().iterate();
            graph.tx().commit();
            assertEquals(3L, (long) g.with("position", 1).V().count().next());
            assertEquals(0L, (long) g.V().count().next());
        }
    }

    @Test
    public void theRepositoryStopsAtALimit() {
        try (AnnalsGraph graph = AnnalsGraph.open()) {
            GraphTraversalSource g = graph.traversal();
            assertEquals(
                    "AnnalsGraphStep(vertex,[~label.eq(person)],limit 5), RangeGlobalStep(2,5)",
                    plan(g.V().hasLabel("person").range(2, 5)));
            assertEquals("AnnalsGraphStep(edge,[],limit 7), RangeGlobalStep(0,7)", plan(g.E().limit(7)));
            // What the repository does not test itself may leave fewer.
            assertEquals(
                    "AnnalsGraphStep(vertex,[age.neq(3)]), RangeGlobalStep(0,5)", plan(g.V().has("age", P.neq(3)).limit(5)));
            for (int index = 0; index < 600; index++) {
                graph.addVertex("age", index % 3);
            }
            assertEquals(5, g.V().has("age", P.neq(0)).limit(5).toList().size());
            assertEquals(300, g.V().limit(300).toList().size());
            assertEquals(100, g.V().has("age", 1).range(100, 500).toList().size());
        }
    }

    @Test
    public void theRepositoryOrders() {
        try (AnnalsGraph graph = AnnalsGraph.open()) {
            GraphTraversalSource g = graph.traversal();
            assertEquals(
                    "AnnalsGraphStep(vertex,[~label.eq(person)],first 3 by age desc), "
                            + "OrderGlobalStep([[value(age), desc]]), RangeGlobalStep(0,3)",
                    plan(g.V().hasLabel("person").order().by("age", Order.desc).limit(3)));
            for (Traversal<?, ?> other : List.<Traversal<?, ?>>of(
                    g.V().order().by("age"), g.V().order().by("age").by("name").limit(3), g.V().order().by(T.id).limit(3),
                    g.V().order().by("age", Order.shuffle).limit(3), g.V().order().by(__.out().count()).limit(3),
                    g.V().order().by("-age").limit(3), g.V().order().limit(3))) {
                assertTrue(plan(other), !plan(other).contains("first"));
            }
        }
        assertEquals(List.of(1, 2L), firstTwo(3, 2L, 2.5, 1));
        assertEquals(List.of("a", "ab"), firstTwo("b", "ab", "a"));
        // The repository has texts before dates; and a Character is a text to it, and of no known class to TinkerPop.
        assertEquals(List.of(TIME, "a"), firstTwo("b", "a", TIME));
        assertEquals(List.of("b", "c"), firstTwo('a', "b", "c"));
        assertEquals(List.of(LONG + "1", LONG + "2"), firstTwo(LONG + "3", LONG + "2", LONG + "1"));
        assertEquals(List.of("\ud83d\ude00", "\uff5e"), firstTwo("\uff5e", "\ud83d\ude00"));
        assertEquals(List.of("\ud83d\ude00", "\ud83d\ude00"), firstTwo("\uff5e", "\ud83d\ude00", "\ud83d\ude00"));
    }

    private static List<Object> firstTwo(Object... values) {
        try (AnnalsGraph graph = AnnalsGraph.open()) {
            graph.addVertex();
            for (Object value : values) {
                graph.addVertex("k", value);
            }
            return graph.traversal().V().order().by("k").limit(2).values("k").toList();
        }
    }

    /** Values of one kind or of many; TinkerPop's own steps say what is right. */
    @Test
    public void whateverTheValuesAreTheResultsAreThoseOfTinkerPop() {
        long seed = Seeds.first();
        for (int round = 0; round < Integer.getInteger("annals.rounds", 200); round++) {
            Random random = new Random(seed + round);
            // To TinkerPop a Float equals several large Integers, which are in an order: such values have none.
            boolean hasOrder = round % 2 == 0;
            try (AnnalsGraph graph = AnnalsGraph.open()) {
                int kinds = 1 + random.nextInt(random.nextBoolean() ? 2 : 13);
                int first = random.nextInt(13);
                for (int index = 0; index < 20; index++) {
                    Vertex vertex = graph.addVertex(random.nextBoolean() ? "a" : "b");
                    if (random.nextInt(6) > 0) {
                        int kind = (first + random.nextInt(kinds)) % 13;
                        vertex.property("k", value(kind == LARGE && hasOrder ? 0 : kind, random));
                    }
                }
                for (int index = 0; index < 20; index++) {
                    long own = random.nextLong();
                    String name = "seed " + (seed + round) + ": " + traversal(graph.traversal(), new Random(own), hasOrder);
                    Function<GraphTraversalSource, String> outcome = g -> outcome(traversal(g, new Random(own), hasOrder));
                    assertEquals(name, outcome.apply(plain(graph)), outcome.apply(graph.traversal()));
                }
            }
        }
    }

    private static String outcome(Traversal<?, ?> traversal) {
        try {
            // Which of two equal numbers is first does not count: 0, 0.0, -0.0.
            return traversal.toList().stream()
                    .map(one -> one instanceof Number number ? String.valueOf(number.doubleValue() + 0.0) : one.getClass() + " " + one)
                    .toList()
                    .toString();
        } catch (RuntimeException error) {
            return "!" + error.getClass();
        }
    }

    private static Object value(int kind, Random random) {
        String[] texts = {"", "a", "ab", "b", "\u00e9", "\uff5e", "\ud83d\ude00", "x".repeat(130), "x".repeat(130) + random.nextInt(9)};
        double[] odd = {Double.NaN, Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY, -0.0};
        int small = random.nextInt(5) - 2;
        return switch (kind) {
            case 0 -> small;
            case 1 -> (long) small;
            case 2 -> small / 2.0;
            case 3 -> texts[random.nextInt(texts.length)];
            case LARGE -> random.nextBoolean() ? (Object) (16_777_216.0f + small) : (Object) (16_777_216 + small);
            case 5 -> odd[random.nextInt(odd.length)];
            case 6 -> random.nextBoolean();
            case 7 -> (char) ('a' + random.nextInt(3));
            case 8 -> Instant.ofEpochSecond(small);
            case 9 -> random.nextBoolean() ? (Object) new Date(small) : (Object) OffsetDateTime.parse("2026-01-0" + (small + 3) + "T00:00:00Z");
            case 10 -> new UUID(0, small);
            case 11 -> new BigDecimal(small).divide(new BigDecimal(4));
            default -> random.nextBoolean() ? (Object) List.of(small) : (Object) Duration.ofSeconds(small);
        };
    }

    /** Elements with equal values come in any order, so only the values count. */
    private static Traversal<?, ?> traversal(GraphTraversalSource g, Random random, boolean hasOrder) {
        Object value = value((LARGE + 1 + random.nextInt(12)) % 13, random);
        Object bound = value(random.nextInt(LARGE), random);
        var found = random.nextBoolean() ? g.V() : g.V().hasLabel(random.nextBoolean() ? "a" : "c", "b");
        found = switch (random.nextInt(7)) {
            case 0 -> found.has("k", value);
            case 1 -> found.has("k", P.within(value, bound));
            case 2 -> found.has("k", P.gt(bound));
            case 3 -> found.has("k", P.lte(bound));
            case 4 -> found.has("k", P.between(-1, 2));
            default -> found;
        };
        Order order = random.nextBoolean() ? Order.asc : Order.desc;
        return switch (random.nextInt(hasOrder ? 3 : 2)) {
            case 0 -> found.count();
            case 1 -> found.limit(1 + random.nextInt(5)).count();
            default -> found.order().by("k", order).limit(1 + random.nextInt(8)).values("k");
        };
    }

    @Test
    public void aNameThatNothingHasFindsNothing() {
        try (AnnalsGraph graph = AnnalsGraph.open()) {
            graph.repository().define(List.of(TypeDefinition.entity("person").attribute(Attribute.of("name", ValueType.STRING)).closed()));
            GraphTraversalSource g = graph.traversal();
            g.addV("person").property("name", "Ada").iterate();
            assertEquals(List.of(), g.V().hasLabel("person").has("nme", "Ada").toList());
            assertEquals(List.of(), g.V().hasLabel("persn").toList());
            assertEquals(List.of(), g.V().hasLabel("person").order().by("nme").limit(3).toList());
            assertEquals(0L, (long) g.V().hasLabel("person").has("nme", "Ada").count().next());
            assertEquals(0L, (long) g.V().hasLabel("persn").count().next());
            // One that is known is found beside.
            assertEquals(List.of("Ada"), g.V().hasLabel("persn", "person").values("name").toList());
            assertEquals(1L, (long) g.V().hasLabel("persn", "person").count().next());
            assertEquals(List.of(), g.V().hasLabel("persn", "prsn").toList());
            assertEquals(List.of("Ada"), g.V().hasLabel("persn", "person").order().by("name").limit(2).values("name").toList());
        }
    }
}
