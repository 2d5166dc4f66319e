package dev.annals.gremlin;

import dev.annals.InstanceId;
import dev.annals.Relationship;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Optional;
import org.apache.tinkerpop.gremlin.structure.Direction;
import org.apache.tinkerpop.gremlin.structure.Edge;
import org.apache.tinkerpop.gremlin.structure.Property;
import org.apache.tinkerpop.gremlin.structure.Vertex;
import org.apache.tinkerpop.gremlin.structure.util.ElementHelper;
import org.apache.tinkerpop.gremlin.structure.util.StringFactory;
import org.apache.tinkerpop.gremlin.util.iterator.IteratorUtils;

/** A relationship as an edge. */
final class AnnalsEdge extends AnnalsElement<Relationship> implements Edge {
    private final String from;
    private final String to;

    AnnalsEdge(AnnalsGraph graph, Relationship relationship, Session session, long changes) {
        super(graph, relationship, session, changes);
        from = relationship.from();
        to = relationship.to();
    }

    AnnalsEdge(AnnalsGraph graph, String id, String label, String from, String to) {
        super(graph, id, label);
        this.from = from;
        this.to = to;
    }

    @Override
    Optional<Relationship> read(Session session) {
        return session.relationship(text());
    }

    @Override
    InstanceId instance() {
        return InstanceId.relationship(text());
    }

    @Override
    public Vertex outVertex() {
        return new AnnalsVertex(graph, from, null);
    }

    @Override
    public Vertex inVertex() {
        return new AnnalsVertex(graph, to, null);
    }

    @Override
    public Iterator<Vertex> vertices(Direction direction) {
        return switch (direction) {
            case OUT -> IteratorUtils.of(outVertex());
            case IN -> IteratorUtils.of(inVertex());
            case BOTH -> IteratorUtils.of(outVertex(), inVertex());
        };
    }

    /** The properties as users gave them. An edge has one property with a key; several values of other doors are a set. */
    @Override
    Map<String, Object> values() {
        Map<String, Object> values = super.values();
        values.replaceAll((key, value) ->
                value instanceof Values.Several several ? new LinkedHashSet<>(several.values()) : value);
        return values;
    }

    @Override
    public <V> Property<V> property(String key, V value) {
        set(key, value);
        return value == null ? Property.empty() : new AnnalsProperty<>(this, key, value);
    }

    @Override
    @SuppressWarnings("unchecked") // TinkerPop leaves the type of values to the caller.
    public <V> Iterator<Property<V>> properties(String... keys) {
        return values().entrySet().stream()
                .filter(entry -> ElementHelper.keyExists(entry.getKey(), keys))
                .map(entry -> (Property<V>) new AnnalsProperty<>(this, entry.getKey(), (V) entry.getValue()))
                .toList()
                .iterator();
    }

    @Override
    @SuppressWarnings("unchecked") // As above.
    public <V> Property<V> property(String key) {
        Object value = values().get(key);
        return value == null ? Property.empty() : new AnnalsProperty<>(this, key, (V) value);
    }

    @Override
    public String toString() {
        return StringFactory.edgeString(this);
    }
}
