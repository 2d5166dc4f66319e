package dev.annals.gremlin;

import java.util.Collections;
import java.util.Iterator;
import java.util.Set;
import org.apache.tinkerpop.gremlin.structure.Element;
import org.apache.tinkerpop.gremlin.structure.Property;
import org.apache.tinkerpop.gremlin.structure.Vertex;
import org.apache.tinkerpop.gremlin.structure.VertexProperty;
import org.apache.tinkerpop.gremlin.structure.util.ElementHelper;
import org.apache.tinkerpop.gremlin.structure.util.StringFactory;

/** A property of a vertex. Its id is made of the id of the vertex and its key. */
final class AnnalsVertexProperty<V> implements VertexProperty<V> {
    private final AnnalsVertex vertex;
    private final String key;
    private final V value;

    AnnalsVertexProperty(AnnalsVertex vertex, String key, V value) {
        this.vertex = vertex;
        this.key = key;
        this.value = value;
    }

    @Override
    public Object id() {
        return id(vertex, key);
    }

    static String id(AnnalsVertex vertex, String key) {
        return vertex.text() + "/" + key;
    }

    @Override
    public String key() {
        return key;
    }

    @Override
    public V value() {
        return value;
    }

    @Override
    public boolean isPresent() {
        return true;
    }

    @Override
    public Vertex element() {
        return vertex;
    }

    @Override
    public Set<String> keys() {
        return Set.of();
    }

    @Override
    public <U> Property<U> property(String key, U value) {
        throw VertexProperty.Exceptions.metaPropertiesNotSupported();
    }

    @Override
    public <U> Iterator<Property<U>> properties(String... keys) {
        return Collections.emptyIterator();
    }

    @Override
    public void remove() {
        vertex.set(key, null);
    }

    @Override
    public boolean equals(Object other) {
        return ElementHelper.areEqual(this, other);
    }

    @Override
    public int hashCode() {
        return ElementHelper.hashCode((Element) this);
    }

    @Override
    public String toString() {
        return StringFactory.propertyString(this);
    }
}
