package dev.annals.gremlin;

import dev.annals.Instance;
import dev.annals.InstanceId;
import dev.annals.Patch;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import org.apache.tinkerpop.gremlin.structure.Element;
import org.apache.tinkerpop.gremlin.structure.Graph;
import org.apache.tinkerpop.gremlin.structure.util.ElementHelper;

/** An element: its id, and what it had when it was read last. */
abstract class AnnalsElement<I extends Instance> implements Element {
    final AnnalsGraph graph;
    private final String text;
    private String label;
    private Read<I> known;
    private boolean isRemoved;

    /** What was read in a session after so many changes. One reference, so that threads see it whole. */
    private record Read<I>(I instance, Session session, long changes) {
        boolean isFresh(Session now) {
            return session == now && changes == now.changes();
        }
    }

    /** An element that was read in a session after so many changes. */
    AnnalsElement(AnnalsGraph graph, I known, Session session, long changes) {
        this(graph, known.id(), known.type());
        this.known = new Read<>(known, session, changes);
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
        Read<I> last = known;
        if (last != null && last.isFresh(session)) {
            return last.instance();
        }
        // Order: another thread may change it while it is read. Then it is read again.
        long changes = session.changes();
        I now = read(session).orElseThrow(this::removed);
        known = new Read<>(now, session, changes);
        label = now.type();
        return now;
    }

    /** Takes what another element's read found of this one. */
    void learn(I found, Session session, long changes) {
        known = new Read<>(found, session, changes);
        label = found.type();
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
        change(before -> Optional.of(Values.patch(Patch.of(instance()), before, key, value)));
    }

    /** Changes the element by what it has; nothing without a patch. */
    void change(Function<Map<String, Object>, Optional<Patch>> change) {
        Session session = graph.session();
        synchronized (session) {
            change.apply(now().properties()).ifPresent(patch -> session.changing(t -> {
                t.update(patch);
                return null;
            }));
        }
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
