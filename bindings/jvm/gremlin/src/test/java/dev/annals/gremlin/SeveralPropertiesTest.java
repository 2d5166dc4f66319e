package dev.annals.gremlin;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import dev.annals.InstanceId;
import dev.annals.NewEntity;
import dev.annals.NewRelationship;
import dev.annals.Patch;
import java.nio.file.Path;
import java.time.OffsetDateTime;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.tinkerpop.gremlin.process.traversal.P;
import org.apache.tinkerpop.gremlin.process.traversal.dsl.graph.GraphTraversalSource;
import org.apache.tinkerpop.gremlin.structure.T;
import org.apache.tinkerpop.gremlin.structure.Vertex;
import org.apache.tinkerpop.gremlin.structure.VertexProperty;
import org.apache.tinkerpop.gremlin.structure.VertexProperty.Cardinality;
import org.apache.tinkerpop.gremlin.util.iterator.IteratorUtils;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;

/** Several properties of a vertex with one key: each value once. */
public class SeveralPropertiesTest {
    @Rule
    public final TemporaryFolder folder = new TemporaryFolder();

    private static Set<Object> values(Vertex vertex, String key) {
        List<Object> all = IteratorUtils.list(vertex.values(key));
        assertEquals("each once: " + all, all.size(), Set.copyOf(all).size());
        return Set.copyOf(all);
    }

    @Test
    public void aSetHasEachValueOnceAndKeepsItsClass() {
        Path place = folder.getRoot().toPath().resolve("graph");
        OffsetDateTime time = OffsetDateTime.parse("2026-01-02T03:04:05+02:00");
        Set<Object> all = Set.of("a", "1", 1, 7L, 0.5f, 0.25, true, 'c', time, (byte) 3);
        try (AnnalsGraph graph = AnnalsGraph.open(place)) {
            Vertex vertex = graph.addVertex(T.id, "v");
            for (Object value : all) {
                vertex.property(Cardinality.set, "k", value);
                vertex.property(Cardinality.set, "k", value);
            }
            assertEquals(all, values(vertex, "k"));
            assertEquals(Set.of("k"), vertex.keys());
            graph.tx().commit();
        }
        try (AnnalsGraph graph = AnnalsGraph.open(place)) {
            Vertex vertex = graph.vertices("v").next();
            assertEquals(all, values(vertex, "k"));
            Set<Object> ids = Set.copyOf(IteratorUtils.list(IteratorUtils.map(vertex.properties("k"), VertexProperty::id)));
            assertEquals(all.size(), ids.size());
            assertThrows(IllegalStateException.class, () -> vertex.property("k"));
            graph.traversal().V("v").properties("k").hasValue(7L, "a").drop().iterate();
            assertEquals(all.size() - 2, values(vertex, "k").size());
            vertex.property(Cardinality.set, "k", 7);
            assertTrue("its class is new", values(vertex, "k").contains(7));
            vertex.property(Cardinality.single, "k", "one");
            assertEquals("one", vertex.value("k"));
        }
    }

    @Test
    public void aSingleValueBecomesOneOfSeveral() {
        try (AnnalsGraph graph = AnnalsGraph.open()) {
            Vertex vertex = graph.addVertex("k", 5L);
            vertex.property(Cardinality.set, "k", 5L);
            assertEquals((Long) 5L, vertex.value("k"));
            VertexProperty<Object> added = vertex.property(Cardinality.set, "k", "x");
            assertEquals(Set.of(5L, "x"), values(vertex, "k"));
            added.remove();
            added.remove();
            assertEquals(Set.of(5L), values(vertex, "k"));
            assertEquals((Long) 5L, vertex.value("k"));
            vertex.property("k").remove();
            assertFalse(vertex.property("k").isPresent());
            assertEquals(Set.of(), vertex.keys());
            assertFalse(vertex.property(Cardinality.set, "k", null).isPresent());
            assertEquals(Set.of(), vertex.keys());
        }
    }

    @Test
    public void searchesFindOneOfSeveral() {
        try (AnnalsGraph graph = AnnalsGraph.open()) {
            GraphTraversalSource g = graph.traversal();
            g.addV("p").property(Cardinality.set, "k", 2).property(Cardinality.set, "k", 9).property("n", "a").iterate();
            g.addV("p").property("k", 4).property("n", "b").iterate();
            assertEquals(List.of("a"), g.V().has("k", 9).values("n").toList());
            assertEquals(Set.of("a", "b"), g.V().has("k", P.gt(3)).values("n").toSet());
            assertEquals(2L, (long) g.V().hasLabel("p").has("k", P.gt(3)).count().next());
            assertEquals(1L, (long) g.V().has("k", P.within(2, 9)).count().next());
            assertEquals(Set.of(2, 9, 4), g.V().values("k").toSet());
            assertEquals(List.of(2, 9), g.V().has("n", "a").valueMap("k").select("k").unfold().unfold().order().toList());
        }
    }

    @Test
    public void setsOfOtherDoorsAreSeveralProperties() {
        try (AnnalsGraph graph = AnnalsGraph.open()) {
            graph.repository().transact(t -> {
                t.create(NewEntity.of("p").id("v").set("k", Set.of(1L, "a")).set("none", Set.of(1L)));
                t.update(Patch.of(InstanceId.entity("v")).set("none", Set.of()));
                t.create(NewRelationship.of("to", "v", "v").set("k", Set.of(1L, "a")));
            });
            Vertex vertex = graph.vertices("v").next();
            assertEquals(Set.of(1, "a"), values(vertex, "k"));
            assertEquals(Set.of("k"), vertex.keys());
            assertEquals(Map.of("k", Set.of(1, "a")), graph.traversal().E().valueMap().next());
        }
    }

    @Test
    public void whatNoSetCanHoldIsRefused() {
        try (AnnalsGraph graph = AnnalsGraph.open()) {
            Vertex vertex = graph.addVertex("list", List.of(1));
            RuntimeException list = assertThrows(
                    UnsupportedOperationException.class, () -> vertex.property(Cardinality.list, "k", 1));
            assertTrue(list.getMessage(), list.getMessage().contains("expected the cardinality single or set, found list"));
            for (Object value : Arrays.asList(List.of(1), Set.of(1), Map.of("a", 1))) {
                assertThrows(IllegalArgumentException.class, () -> vertex.property(Cardinality.set, "k", value));
            }
            assertThrows(IllegalArgumentException.class, () -> vertex.property(Cardinality.set, "list", 1));
            assertThrows(IllegalArgumentException.class, () -> vertex.property(Cardinality.set, "k", new int[] {1}));
            assertThrows(UnsupportedOperationException.class, () -> vertex.property(Cardinality.set, "k", 1, "meta", 2));
            assertEquals(Set.of("list"), vertex.keys());
        }
    }
}
