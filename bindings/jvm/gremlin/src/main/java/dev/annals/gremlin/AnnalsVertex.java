package dev.annals.gremlin;

import dev.annals.Entity;
import dev.annals.Find;
import dev.annals.InstanceId;
import dev.annals.Links;
import dev.annals.NewRelationship;
import dev.annals.Patch;
import dev.annals.Relationship;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Stream;
import org.apache.tinkerpop.gremlin.structure.Direction;
import org.apache.tinkerpop.gremlin.structure.Edge;
import org.apache.tinkerpop.gremlin.structure.Graph;
import org.apache.tinkerpop.gremlin.structure.Vertex;
import org.apache.tinkerpop.gremlin.structure.VertexProperty;
import org.apache.tinkerpop.gremlin.structure.util.ElementHelper;
import org.apache.tinkerpop.gremlin.structure.util.StringFactory;

/** An entity as a vertex. */
final class AnnalsVertex extends AnnalsElement<Entity> implements Vertex {
    /** How many neighbours are read together, when one of them is asked for more than its id. */
    private static final int READ_TOGETHER = 256;

    // Vertices that are read together with this one; null as soon as they are.
    private volatile List<AnnalsVertex> together;

    AnnalsVertex(AnnalsGraph graph, Entity entity, Session session, long changes) {
        super(graph, entity, session, changes);
    }

    AnnalsVertex(AnnalsGraph graph, String id, String label) {
        super(graph, id, label);
    }

    /** A vertex that is read with others as soon as one of them is asked for more than its id. */
    private AnnalsVertex(AnnalsGraph graph, String id, List<AnnalsVertex> together) {
        super(graph, id, null);
        this.together = together;
    }

    @Override
    Optional<Entity> read(Session session) {
        List<AnnalsVertex> all = together;
        if (all == null) {
            return session.entity(text());
        }
        long changes = session.changes();
        Map<String, Entity> found = session.entities(all.stream().map(AnnalsVertex::text).toList());
        for (AnnalsVertex vertex : all) {
            vertex.together = null;
            Optional.ofNullable(found.get(vertex.text())).ifPresent(entity -> vertex.learn(entity, session, changes));
        }
        return Optional.ofNullable(found.get(text()));
    }

    @Override
    InstanceId instance() {
        return InstanceId.entity(text());
    }

    @Override
    public Edge addEdge(String label, Vertex inVertex, Object... keyValues) {
        if (inVertex == null) {
            throw Graph.Exceptions.argumentCanNotBeNull("inVertex");
        }
        ElementHelper.validateLabel(label);
        ElementHelper.legalPropertyKeyValueArray(keyValues);
        Optional<String> id = Ids.supplied(
                ElementHelper.getIdValue(keyValues), Edge.Exceptions::userSuppliedIdsOfThisTypeNotSupported);
        Map<String, Object> properties = Values.stored(AnnalsGraph.properties(keyValues));
        now();
        String to = graph.text(inVertex);
        Session session = graph.session();
        synchronized (session) {
            Optional<Relationship> removed = id.flatMap(text -> free(session, text));
            if (removed.isPresent()) {
                return restored(session, removed.get(), label, to, properties);
            }
            NewRelationship relationship = NewRelationship.of(label, text(), to).setAll(properties);
            NewRelationship created = id.map(relationship::id).orElse(relationship);
            return new AnnalsEdge(graph, session.changing(t -> t.create(created)), label, text(), to);
        }
    }

    /** The removed edge that has an id, if any. Errors: the refusal if an edge has it that is there. */
    private Optional<Relationship> free(Session session, String id) {
        if (session.relationship(id).isPresent()) {
            throw Graph.Exceptions.edgeWithIdAlreadyExists(Ids.given(id));
        }
        return graph.removed(session, Find.relationships(), id);
    }

    private Edge restored(
            Session session, Relationship removed, String label, String to, Map<String, Object> properties) {
        String before = removed.type() + " from " + removed.from() + " to " + removed.to();
        String now = label + " from " + text() + " to " + to;
        if (!before.equals(now)) {
            throw AnnalsGraph.isTaken("edge " + removed.id(), before, now);
        }
        session.changing(t -> {
            t.restore(removed.instanceId());
            t.replace(removed.instanceId(), properties);
            return null;
        });
        return new AnnalsEdge(graph, removed.id(), label, text(), to);
    }

    @Override
    public <V> VertexProperty<V> property(
            VertexProperty.Cardinality cardinality, String key, V value, Object... keyValues) {
        ElementHelper.legalPropertyKeyValueArray(keyValues);
        if (cardinality == VertexProperty.Cardinality.list) {
            throw new UnsupportedOperationException("property " + key + ": expected the cardinality single or set, found list,"
                    + " which may repeat a value; use set, or a list as the value");
        }
        boolean isOneOfSeveral = cardinality == VertexProperty.Cardinality.set;
        AnnalsVertexProperty<V> property = new AnnalsVertexProperty<>(this, key, value, isOneOfSeveral);
        Object given = ElementHelper.getIdValue(keyValues).orElse(null);
        if (given != null && !given.equals(property.id())) {
            throw VertexProperty.Exceptions.userSuppliedIdsNotSupported();
        }
        if (keyValues.length > (given == null ? 0 : 2)) {
            throw VertexProperty.Exceptions.metaPropertiesNotSupported();
        }
        ElementHelper.validateProperty(key, value);
        if (value == null) {
            // No value: nothing is added to a set, and a single value goes.
            if (!isOneOfSeveral) {
                set(key, null);
            }
            return VertexProperty.empty();
        }
        if (isOneOfSeveral) {
            change(before -> Values.adding(Patch.of(instance()), before, key, value));
        } else {
            set(key, value);
        }
        return property;
    }

    @Override
    public <V> Iterator<VertexProperty<V>> properties(String... keys) {
        return values().entrySet().stream()
                .filter(entry -> ElementHelper.keyExists(entry.getKey(), keys))
                .flatMap(entry -> this.<V>properties(entry.getKey(), entry.getValue()))
                .toList()
                .iterator();
    }

    @Override
    public <V> VertexProperty<V> property(String key) {
        List<VertexProperty<V>> found = this.<V>properties(key, values().get(key)).toList();
        if (found.size() > 1) {
            throw Vertex.Exceptions.multiplePropertiesExistForProvidedKey(key);
        }
        return found.isEmpty() ? VertexProperty.empty() : found.get(0);
    }

    @SuppressWarnings("unchecked") // TinkerPop leaves the type of values to the caller.
    private <V> Stream<VertexProperty<V>> properties(String key, Object value) {
        if (value instanceof Values.Several several) {
            return several.values().stream().map(one -> new AnnalsVertexProperty<>(this, key, (V) one, true));
        }
        return value == null ? Stream.empty() : Stream.of(new AnnalsVertexProperty<>(this, key, (V) value, false));
    }

    @Override
    public Iterator<Edge> edges(Direction direction, String... labels) {
        Session session = graph.session();
        Function<Relationship, Edge> edges = graph.edges(session);
        return session.edges(List.of(text()), links(direction, labels)).get(text()).stream().map(edges).iterator();
    }

    @Override
    public Iterator<Vertex> vertices(Direction direction, String... labels) {
        List<String> ids = graph.session().ids(text(), links(direction, labels));
        List<Vertex> vertices = new ArrayList<>(ids.size());
        for (int start = 0; start < ids.size(); start += READ_TOGETHER) {
            List<String> part = ids.subList(start, Math.min(start + READ_TOGETHER, ids.size()));
            List<AnnalsVertex> together = new ArrayList<>(part.size());
            part.forEach(id -> together.add(new AnnalsVertex(graph, id, together)));
            vertices.addAll(together);
        }
        return vertices.iterator();
    }

    /** The links that have one of these labels, or any if there are none. */
    static Links links(Direction direction, String... labels) {
        Links links = switch (direction) {
            case OUT -> Links.out();
            case IN -> Links.in();
            case BOTH -> Links.both();
        };
        // No type has an empty name, as no label is null.
        return links.type(Stream.of(labels).map(label -> label == null ? "" : label).toArray(String[]::new));
    }

    @Override
    public String toString() {
        return StringFactory.vertexString(this);
    }
}
