package dev.annals.gremlin;

import dev.annals.Instance;
import dev.annals.InstanceId;
import dev.annals.Patch;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.tinkerpop.gremlin.structure.Element;
import org.apache.tinkerpop.gremlin.structure.Graph;
import org.apache.tinkerpop.gremlin.structure.util.ElementHelper;

/** An element: its id, and what it had when it was read last. */
abstract class AnnalsElement<I extends Instance> implements Element {
    final AnnalsGraph graph;
    private final String text;
    private String label;
    private I known;
    private Session readIn;
    private long readAfter;
    private boolean isRemoved;

    /** An element that was read in the session of this thread. */
    AnnalsElement(AnnalsGraph graph, I known) {
        this(graph, known.id(), known.type());
        this.known = known;
        readIn = graph.session();
        readAfter = readIn.changes();
    }

    /** An element that is not read yet; the label is {@code null} if it is not known. */
    AnnalsElement(AnnalsGraph graph, String id, String label) {
        this.graph = graph;
        text = id;
        this.label = label;
    }

    abstract Optional<I> read(Session session);

    abstract InstanceId instance();

    /** What it has now, with the changes of this transaction. */
    I now() {
        Session session = graph.session();
        if (known != null && readIn == session && readAfter == session.changes()) {
            return known;
        }
        known = read(session).orElseThrow(this::removed);
        readIn = session;
        readAfter = session.changes();
        label = known.type();
        return known;
    }

    IllegalStateException removed() {
        isRemoved = true;
        return new IllegalStateException(
                (this instanceof AnnalsVertex ? "vertex " : "edge ") + text + ": it was removed, by this or another transaction");
    }

    /** The properties as users gave them. */
    Map<String, Object> values() {
        return Values.given(now().properties());
    }

    /** Sets a property, or removes it with {@code null}. */
    void set(String key, Object value) {
        ElementHelper.validateProperty(key, value);
        Map<String, Object> before = now().properties();
        Patch patch = Values.patch(Patch.of(instance()), before, key, value);
        graph.session().changing(t -> {
            t.update(patch);
            return null;
        });
    }

    @Override
    public Object id() {
        return Ids.given(text);
    }

    /** The id in the repository. */
    String text() {
        return text;
    }

    @Override
    public String label() {
        return label == null ? now().type() : label;
    }

    @Override
    public Graph graph() {
        return graph;
    }

    @Override
    public Set<String> keys() {
        return values().keySet();
    }

    @Override
    public void remove() {
        if (isRemoved) {
            throw removed();
        }
        now();
        graph.remove(instance());
        isRemoved = true;
    }

    @Override
    public boolean equals(Object other) {
        return ElementHelper.areEqual(this, other);
    }

    @Override
    public int hashCode() {
        return ElementHelper.hashCode((Element) this);
    }
}
