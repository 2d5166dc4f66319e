package dev.annals.gremlin;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import dev.annals.Patch;
import dev.annals.Version;
import java.io.IOException;
import java.math.BigInteger;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.Arrays;
import java.util.Date;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.commons.configuration2.BaseConfiguration;
import org.apache.tinkerpop.gremlin.process.traversal.IO;
import org.apache.tinkerpop.gremlin.process.traversal.P;
import org.apache.tinkerpop.gremlin.process.traversal.dsl.graph.GraphTraversalSource;
import org.apache.tinkerpop.gremlin.process.traversal.dsl.graph.__;
import org.apache.tinkerpop.gremlin.structure.Direction;
import org.apache.tinkerpop.gremlin.structure.Edge;
import org.apache.tinkerpop.gremlin.structure.T;
import org.apache.tinkerpop.gremlin.structure.Vertex;
import org.apache.tinkerpop.gremlin.structure.VertexProperty.Cardinality;
import org.apache.tinkerpop.gremlin.structure.io.graphson.GraphSONIo;
import org.apache.tinkerpop.gremlin.structure.io.graphson.GraphSONVersion;
import org.apache.tinkerpop.gremlin.structure.util.GraphFactory;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;

/** Time, searches and classes of values, which the suites of TinkerPop do not test, and all refusals. */
public class AnnalsGraphTest {
    @Rule
    public final TemporaryFolder folder = new TemporaryFolder();

    private Path place() {
        return folder.getRoot().toPath().resolve("graph");
    }

    @Test
    public void typesOfJanusGraphAreTexts() throws IOException {
        Path file = folder.getRoot().toPath().resolve("export.json");
        Files.writeString(file, """
                {"id":{"@type":"g:Int64","@value":7},"label":"demigod"}
                {"id":{"@type":"g:Int64","@value":8},"label":"monster","inE":{"battled":[{"id":{"@type":\
                "janusgraph:RelationIdentifier","@value":{"relationId":"3yj-388"}},"outV":{"@type":"g:Int64","@value":7},\
                "properties":{"place":{"@type":"janusgraph:Geoshape","@value":{"coordinates":[23.5,38.25]}},"area":{\
                "@type":"janusgraph:Geoshape","@value":{"geometry":{"type":"Box"}}}}}]}}
                """);
        try (AnnalsGraph graph = AnnalsGraph.open()) {
            GraphTraversalSource g = graph.traversal();
            g.io(file.toString()).with(IO.registry, AnnalsIoRegistry.instance()).read().iterate();
            assertEquals(Map.of("place", "POINT (23.5 38.25)", "area", "{\"geometry\":{\"type\":\"Box\"}}"),
                    g.V(7L).outE("battled").valueMap().next());
            assertEquals("3yj-388", g.E().id().next());
        }
        try (AnnalsGraph graph = AnnalsGraph.open()) {
            String without = Files.readString(file).replace("relationId", "other");
            Files.writeString(file, without);
            RuntimeException refused = assertThrows(
                    RuntimeException.class, () -> graph.io(GraphSONIo.build(GraphSONVersion.V3_0)).readGraph(file.toString()));
            assertTrue(refused.toString(), refused.toString().contains("relationId"));
        }
    }

    @Test
    public void thePastIsReadByTimeAndByPosition() throws InterruptedException {
        try (AnnalsGraph graph = AnnalsGraph.open()) {
            GraphTraversalSource g = graph.traversal();
            g.addV("person").property(T.id, "ada").property("name", "Ada").as("a").addV("person").property("name", "Bob")
                    .addE("knows").from("a").iterate();
            ((AnnalsTransaction) graph.tx()).author("carl").message("born");
            graph.tx().commit();
            long first = graph.repository().snapshot().position().getAsLong();
            Instant then = Instant.now();
            Thread.sleep(5);
            g.V("ada").property("name", "Countess").iterate();
            g.V().has("name", "Bob").drop().iterate();
            graph.tx().commit();
            assertEquals(List.of("Countess"), g.V().values("name").toList());
            assertEquals(Set.of("Ada", "Bob"), g.with("at", then).V().values("name").toSet());
            assertEquals(List.of("Bob"), g.with("position", first).V("ada").out("knows").values("name").toList());
            assertEquals(List.of("Ada"), g.with("position", first).V().has("name", "Ada").values("name").toList());
            try (AnnalsGraph past = graph.asOf(first)) {
                assertEquals(2L, (long) past.traversal().V().count().next());
                Vertex ada = past.vertices("ada").next();
                assertThrows(UnsupportedOperationException.class, () -> ada.property("name", "x"));
                assertThrows(UnsupportedOperationException.class, () -> past.addVertex());
            }
            List<Version> history = graph.history(g.V("ada").next());
            assertEquals(2, history.size());
            assertEquals("carl", history.get(1).author());
            assertEquals("born", history.get(1).message());
            assertThrows(IllegalArgumentException.class, () -> g.with("at", 7).V().toList());
            assertThrows(IllegalArgumentException.class, () -> g.with("at", then).with("position", 1).V().toList());
        }
    }

    @Test
    public void aTimeIsReadAsTheCommandLineReadsIt() {
        try (AnnalsGraph graph = AnnalsGraph.open()) {
            GraphTraversalSource g = graph.traversal();
            ((AnnalsTransaction) graph.tx()).committedAt(Instant.parse("2025-03-10T12:00:00Z"));
            g.addV("person").iterate();
            graph.tx().commit();
            for (String later : List.of("now", "today", "yesterday", "2025-03-11", "2025-04", "2026", "2025-03-10T13:00:00+01:00")) {
                assertEquals(later, 1L, (long) g.with("at", later).V().count().next());
            }
            for (String before : List.of("2025-03-10", "2025-03", "2025", "2025-03-10T12:59:59.9+01:00")) {
                assertEquals(before, 0L, (long) g.with("at", before).V().count().next());
            }
            for (String wrong : List.of("", "last week", "2025-3", "2025-13", "yesterday ", "20255", "2025-03-10T12:00:00")) {
                IllegalArgumentException error =
                        assertThrows(IllegalArgumentException.class, () -> g.with("at", wrong).V().hasNext());
                assertTrue(error.getMessage(), error.getMessage().contains("today or yesterday, found " + wrong));
            }
        }
    }

    @Test
    public void oneTraversalLoadsManyRows() {
        try (AnnalsGraph graph = AnnalsGraph.open()) {
            GraphTraversalSource g = graph.traversal();
            List<Map<String, Object>> rows = List.of(Map.of("name", "Ada"), Map.of("name", "Charles"));
            g.<Object>inject(rows).unfold().as("row").addV("person").property("name", __.select("row").select("name")).iterate();
            assertEquals(Set.of("Ada", "Charles"), g.V().hasLabel("person").values("name").toSet());
        }
    }

    @Test
    public void aTraversalSignsWhatItChanges() {
        try (AnnalsGraph graph = AnnalsGraph.open()) {
            GraphTraversalSource g = graph.traversal();
            g.with("author", "ada").with("message", "born").addV("person").property(T.id, "a").iterate();
            graph.tx().commit();
            g.with("author", "bob").V("a").property("n", 1).next();
            graph.tx().commit();
            g.with("author", "zoe").addV("b").property(T.id, "b").profile().next();
            g.with("author", "zoe").V("b").drop().iterate();
            graph.tx().commit();
            assertEquals("zoe", ((Map<?, ?>) g.call("history", Map.of("vertex", "b")).next()).get("author"));
            g.with("author", "eve").V("a").explain();
            g.with("author", "eve").V("a").property("n", 2).explain();
            g.with("author", "eve").V("a").iterate();
            g.V("a").property("n", 3).iterate();
            graph.tx().commit();
            List<Version> history = graph.history(g.V("a").next());
            assertEquals(List.of("", "bob", "ada"), history.stream().map(Version::author).toList());
            assertEquals("born", history.get(2).message());
            assertThrows(IllegalArgumentException.class, () -> g.with("author", 7).addV().iterate());
            for (String time : List.of("at", "position")) {
                Object when = time.equals("at") ? "now" : 1;
                GraphTraversalSource past = g.with(time, when);
                assertThrows(UnsupportedOperationException.class, () -> past.addV("x").iterate());
                assertThrows(UnsupportedOperationException.class, () -> past.inject(1).addV("x").iterate());
                assertThrows(UnsupportedOperationException.class, () -> past.V("a").property("n", 4).iterate());
                assertThrows(UnsupportedOperationException.class, () -> past.V("a").sideEffect(__.drop()).iterate());
                assertThrows(UnsupportedOperationException.class, () -> past.mergeV(Map.of("n", 5)).iterate());
            }
            graph.tx().rollback();
            assertEquals(1L, (long) g.V().count().next());
        }
    }

    @Test
    public void aServiceTellsTheHistoryAsMaps() {
        try (AnnalsGraph graph = AnnalsGraph.open()) {
            GraphTraversalSource g = graph.traversal();
            g.addV("person").property(T.id, "a").property("n", 1L).property("tags", List.of("x")).as("a")
                    .addE("knows").to("a").property(T.id, 7).iterate();
            ((AnnalsTransaction) graph.tx()).author("ada").message("born");
            graph.tx().commit();
            assertEquals(List.of(), g.addV("person").call("history").toList());
            graph.tx().rollback();
            g.V("a").property("n", 2).iterate();
            graph.tx().commit();
            List<Object> versions = g.V("a").call("history").toList();
            assertEquals(2, versions.size());
            Map<?, ?> first = (Map<?, ?>) versions.get(1);
            assertEquals(
                    List.of("version", "position", "at", "author", "message", "action", "validFrom", "properties"),
                    List.copyOf(first.keySet()));
            assertEquals(List.of(1, 1L, "ada", "born", "create"), List.of(
                    first.get("version"), first.get("position"), first.get("author"), first.get("message"), first.get("action")));
            assertEquals(Map.of("n", 1L, "tags", List.of("x")), first.get("properties"));
            assertEquals(1L, (long) g.with("at", first.get("at")).V("a").values("n").next());
            g.V("a").drop().iterate();
            graph.tx().commit();
            assertEquals(List.of(), g.V("a").call("history").toList());
            assertEquals(3L, (long) g.call("history", Map.of("vertex", "a")).count().next());
            assertEquals(2L, (long) g.call("history", Map.of("edge", 7)).count().next());
            assertEquals(List.of("history"), g.call().toList());
            assertThrows(IllegalStateException.class, () -> g.call("history", Map.of("vertex", "nobody")).toList());
            assertThrows(IllegalArgumentException.class, () -> g.call("history", Map.of("id", "a")).toList());
            assertThrows(IllegalArgumentException.class, () -> g.call("history").toList());
            assertThrows(IllegalArgumentException.class, () -> g.inject(1).call("history").toList());
        }
    }

    @Test
    public void theRepositorySearches() {
        try (AnnalsGraph graph = AnnalsGraph.open()) {
            String plan = graph.traversal().V().hasLabel("person").has("age", P.gt(3)).has("name", "Ada").out().explain().toString();
            assertTrue(plan, plan.contains("AnnalsGraphStep(vertex,[~label.eq(person), age.gt(3), name.eq(Ada)])"));
        }
    }

    @Test
    public void valuesAndIdsKeepTheirClasses() {
        Map<String, Object> values = Map.ofEntries(
                Map.entry("byte", (byte) 1), Map.entry("short", (short) 2), Map.entry("int", 3), Map.entry("long", 4L),
                Map.entry("large", 1L << 40), Map.entry("float", 0.5f), Map.entry("double", 0.25), Map.entry("flag", true),
                Map.entry("big", new BigInteger("12345678901234567890")), Map.entry("char", 'c'), Map.entry("date", new Date(5)),
                Map.entry("time", OffsetDateTime.parse("2026-01-02T03:04:05+02:00")), Map.entry("uuid", new UUID(1, 2)),
                Map.entry("list", List.of(1L, "a", List.of(2L, 3))), Map.entry("map", Map.of("a", 1L, "b", 2)), Map.entry("set", Set.of(7L)));
        try (AnnalsGraph graph = AnnalsGraph.open(place())) {
            Vertex vertex = graph.addVertex(T.id, 7L);
            values.forEach(vertex::property);
            graph.addVertex(T.id, "7x").addEdge("to", graph.addVertex(T.id, 8));
            assertThrows(IllegalArgumentException.class, () -> graph.addVertex(T.id, 7));
            graph.tx().commit();
        }
        try (AnnalsGraph graph = AnnalsGraph.open(place())) {
            Vertex vertex = graph.vertices(7).next();
            assertEquals(7L, vertex.id());
            values.forEach((key, value) -> assertEquals(key, value, vertex.value(key)));
            assertEquals(values.keySet(), vertex.keys());
            assertEquals(Set.of(7L, "7x", 8), graph.traversal().V().id().toSet());
        }
    }

    @Test
    public void arraysAndArraysOfArraysComeBackAsTheyWere() {
        Map<String, Object> arrays = Map.of(
                "ints", new int[] {1, -2}, "none", new long[0], "shorts", new short[] {3}, "floats", new float[] {0.5f},
                "boxes", new Integer[] {1, 2}, "texts", new String[][] {{"a"}, {}, {"b", "c"}}, "chars", new char[][] {{'x'}},
                "bytes", new byte[][] {{1, 2}, {}}, "cube", new double[][][] {{{1, 2}, {3}}, {}},
                "list", List.of(new boolean[] {true}));
        try (AnnalsGraph graph = AnnalsGraph.open(place())) {
            Vertex vertex = graph.addVertex(T.id, "a");
            arrays.forEach(vertex::property);
            vertex.addEdge("to", vertex, "ints", new int[] {5});
            assertThrows(IllegalArgumentException.class, () -> vertex.property("null", new String[] {"a", null}));
            graph.tx().commit();
        }
        try (AnnalsGraph graph = AnnalsGraph.open(place())) {
            Vertex vertex = graph.vertices("a").next();
            arrays.forEach((key, value) -> {
                Object found = vertex.value(key);
                if (!key.equals("list")) {
                    assertEquals(key, value.getClass(), found.getClass());
                }
                assertTrue(key, Objects.deepEquals(new Object[] {value}, new Object[] {found})
                        || Arrays.equals((boolean[]) ((List<?>) value).get(0), (boolean[]) ((List<?>) found).get(0)));
            });
            assertArrayEquals(new int[] {5}, graph.traversal().E().<int[]>values("ints").next());
            // Another door changes the list.
            graph.repository().transact(t -> t.update(Patch.of("a").set("ints", List.of("x")).set("cube", List.of(1))));
            graph.tx().rollback();
            assertEquals(List.of("x"), graph.vertices("a").next().value("ints"));
            assertEquals(List.of(1L), graph.vertices("a").next().value("cube"));
        }
    }

    @Test
    public void ofTwoTransactionsThatChangeOneVertexOneFails() throws InterruptedException {
        try (AnnalsGraph graph = AnnalsGraph.open()) {
            Vertex vertex = graph.addVertex("n", 0);
            graph.tx().commit();
            vertex.property("n", 1);
            AtomicReference<Throwable> other = new AtomicReference<>();
            Thread thread = new Thread(() -> {
                try {
                    graph.vertices(vertex.id()).next().property("n", 2);
                    graph.tx().commit();
                } catch (RuntimeException error) {
                    other.set(error);
                }
            });
            thread.start();
            thread.join();
            assertEquals(null, other.get());
            RuntimeException lost = assertThrows(RuntimeException.class, () -> graph.tx().commit());
            assertTrue(lost.toString(), lost.getMessage().contains("changed at position"));
            assertFalse(graph.tx().isOpen());
            assertEquals((Integer) 2, vertex.value("n"));
        }
    }

    @Test
    public void deletingKeepsTheHistory() {
        BaseConfiguration settings = new BaseConfiguration();
        settings.setProperty("gremlin.graph", AnnalsGraph.class.getName());
        try (AnnalsGraph graph = (AnnalsGraph) GraphFactory.open(settings)) {
            Vertex vertex = graph.addVertex(T.id, "a", "n", 1);
            graph.tx().commit();
            vertex.remove();
            graph.tx().commit();
            assertFalse(graph.vertices("a").hasNext());
            assertEquals(2, graph.history(vertex).size());
            assertEquals(1L, (long) graph.traversal().with("position", 1).V().count().next());
        }
        settings.setProperty(AnnalsGraph.REMOVE, "purge");
        try (AnnalsGraph graph = (AnnalsGraph) GraphFactory.open(settings)) {
            graph.addVertex(T.id, "a", "n", 1).remove();
            graph.addVertex(T.id, "a", "n", 2);
            graph.tx().commit();
            assertEquals((Integer) 2, graph.vertices("a").next().value("n"));
        }
        settings.setProperty(AnnalsGraph.REMOVE, "forget");
        assertThrows(RuntimeException.class, () -> GraphFactory.open(settings));
    }

    @Test
    public void aChangeWhileTheyAreIteratedShows() {
        try (AnnalsGraph graph = AnnalsGraph.open()) {
            for (int index = 0; index < 3; index++) {
                graph.addVertex(T.id, index, "n", 0).addEdge("self", graph.vertices(index).next(), "n", 0);
            }
            graph.vertices(0).next().addEdge("to", graph.vertices(1).next());
            Iterator<Vertex> all = graph.vertices();
            Iterator<Edge> edges = graph.edges();
            Iterator<Vertex> next = graph.vertices(0).next().vertices(Direction.OUT, "to");
            Iterator<Vertex> found = graph.traversal().V().hasLabel("vertex");
            all.next();
            found.next();
            graph.vertices().forEachRemaining(one -> one.property("n", 1));
            graph.edges().forEachRemaining(one -> one.property("n", 1));
            all.forEachRemaining(one -> assertEquals((Integer) 1, one.value("n")));
            edges.forEachRemaining(one -> assertEquals((Integer) 1, one.value("n")));
            next.forEachRemaining(one -> assertEquals((Integer) 1, one.value("n")));
            found.forEachRemaining(one -> assertEquals((Integer) 1, one.value("n")));
        }
    }

    @Test
    public void aRemovedElementCanBeAddedAgain() {
        try (AnnalsGraph graph = AnnalsGraph.open()) {
            GraphTraversalSource g = graph.traversal();
            for (Object id : new Object[] {"a", 7, 8L, UUID.randomUUID().toString()}) {
                Vertex first = graph.addVertex(T.id, id, "n", 1, "m", 5L);
                Vertex other = graph.addVertex();
                first.addEdge("to", other, T.id, id, "w", 1, "v", 2);
                graph.tx().commit();
                graph.repository().transact(t -> t.classify(graph.text(first), "odd", Map.of()));
                // In a later transaction.
                g.V(id).drop().iterate();
                graph.tx().commit();
                g.addV().property(T.id, id).property("n", 2).iterate();
                assertEquals(List.of(Map.of("n", List.of(2))), g.V(id).valueMap().toList());
                assertEquals("no edge comes back", 0L, (long) g.V(id).bothE().count().next());
                graph.vertices(id).next().addEdge("to", other, T.id, id, "w", 3);
                graph.tx().commit();
                assertEquals(List.of(Map.of("w", 3)), g.V(id).outE().valueMap().toList());
                assertEquals(Map.of(), ((AnnalsVertex) g.V(id).next()).now().classifications());
                // In the same transaction.
                g.V(id).drop().iterate();
                g.addV().property(T.id, id).property("n", 4L).iterate();
                g.V(id).drop().iterate();
                g.addV().property(T.id, id).property("k", 5L).iterate();
                graph.tx().commit();
                assertEquals(List.of(Map.of("k", List.of(5L))), g.V(id).valueMap().toList());
                assertTrue(graph.history(g.V(id).next()).size() > 4);
            }
            // Added and removed before the commit.
            graph.addVertex(T.id, "new").remove();
            graph.addVertex(T.id, "new", "n", 1);
            graph.tx().commit();
            assertEquals((Integer) 1, graph.vertices("new").next().value("n"));
        }
    }

    @Test
    public void anotherElementCannotHaveTheIdOfARemovedOne() {
        try (AnnalsGraph graph = AnnalsGraph.open()) {
            Vertex a = graph.addVertex(T.id, "a", T.label, "person");
            Vertex b = graph.addVertex(T.id, "b");
            a.addEdge("knows", b, T.id, "e").remove();
            graph.tx().commit();
            RuntimeException ends = assertThrows(IllegalArgumentException.class, () -> b.addEdge("knows", a, T.id, "e"));
            assertTrue(ends.getMessage(), ends.getMessage().contains("expected knows from a to b again, found knows from b to a"));
            a.remove();
            RuntimeException label =
                    assertThrows(IllegalArgumentException.class, () -> graph.addVertex(T.id, "a", T.label, "dog"));
            assertTrue(label.getMessage(), label.getMessage().contains("expected person again, found dog"));
            assertTrue(label.getMessage(), label.getMessage().contains("annals.remove=purge"));
            graph.tx().commit();
        }
    }

    @Test
    public void aTraversalThatAddsDoesNotFindWhatItAdds() {
        try (AnnalsGraph graph = AnnalsGraph.open()) {
            for (int count = 0; count < 600; count++) {
                graph.addVertex();
            }
            graph.traversal().V().addV("copy").iterate();
            assertEquals(1_200L, (long) graph.traversal().V().count().next());
        }
    }

    @Test
    public void whatIsNotSupportedIsRefused() {
        try (AnnalsGraph graph = AnnalsGraph.open()) {
            Vertex vertex = graph.addVertex();
            assertThrows(UnsupportedOperationException.class, graph::compute);
            assertThrows(UnsupportedOperationException.class, graph::variables);
            assertThrows(UnsupportedOperationException.class, () -> vertex.property(Cardinality.list, "a", 1));
            assertThrows(UnsupportedOperationException.class, () -> vertex.property(Cardinality.single, "a", 1, "b", 2));
            assertThrows(UnsupportedOperationException.class, () -> vertex.property(Cardinality.single, "a", 1, T.id, "x"));
            assertThrows(UnsupportedOperationException.class, () -> vertex.property("a", 1).property("b", 2));
            assertThrows(UnsupportedOperationException.class, () -> graph.addVertex(T.id, UUID.randomUUID()));
            assertThrows(UnsupportedOperationException.class, () -> graph.addVertex(T.id, 1.5));
            assertThrows(UnsupportedOperationException.class, () -> vertex.addEdge("e", vertex, T.id, new Date()));
            for (Object value : new Object[] {new Object[] {1}, new Date[0], new int[0].getClass(), new java.util.ArrayDeque<>(), Map.of(1, 2)}) {
                assertThrows(IllegalArgumentException.class, () -> vertex.property("a", value));
            }
            vertex.property("a", 1);
            vertex.property("a", null);
            assertFalse(vertex.property("a").isPresent());
        }
    }
}
