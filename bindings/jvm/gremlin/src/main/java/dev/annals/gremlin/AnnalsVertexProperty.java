package dev.annals.gremlin;

import dev.annals.Patch;
import java.util.Arrays;
import java.util.Collections;
import java.util.Iterator;
import java.util.Set;
import org.apache.tinkerpop.gremlin.structure.Element;
import org.apache.tinkerpop.gremlin.structure.Property;
import org.apache.tinkerpop.gremlin.structure.Vertex;
import org.apache.tinkerpop.gremlin.structure.VertexProperty;
import org.apache.tinkerpop.gremlin.structure.util.ElementHelper;
import org.apache.tinkerpop.gremlin.structure.util.StringFactory;

/**
 * A property of a vertex, alone or one of several with its key. Its id is made of the id of the vertex and its key; one of
 * several also has its value.
 */
final class AnnalsVertexProperty<V> implements VertexProperty<V> {
    private final AnnalsVertex vertex;
    private final String key;
    private final V value;
    private final boolean isOneOfSeveral;

    AnnalsVertexProperty(AnnalsVertex vertex, String key, V value, boolean isOneOfSeveral) {
        this.vertex = vertex;
        this.key = key;
        this.value = value;
        this.isOneOfSeveral = isOneOfSeveral;
    }

    @Override
    public Object id() {
        String id = vertex.text() + "/" + key;
        if (!isOneOfSeveral) {
            return id;
        }
        // The number 1 and the text "1" are two values.
        String text = value instanceof byte[] bytes ? Arrays.toString(bytes) : String.valueOf(value);
        return id + "/" + (value == null ? "" : value.getClass().getSimpleName()) + "/" + text;
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
        if (isOneOfSeveral) {
            vertex.change(before -> Values.removing(Patch.of(vertex.instance()), before, key, value));
        } else {
            vertex.set(key, null);
        }
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
