package dev.annals.gremlin;

import dev.annals.Links;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.function.Function;
import org.apache.tinkerpop.gremlin.process.traversal.Traverser;
import org.apache.tinkerpop.gremlin.process.traversal.step.map.VertexStep;
import org.apache.tinkerpop.gremlin.structure.Element;
import org.apache.tinkerpop.gremlin.structure.Vertex;
import org.apache.tinkerpop.gremlin.util.iterator.EmptyIterator;

/**
 * Edges or vertices next to vertices. The step takes several traversers at a time, and asks the repository once for all
 * of them. The results come in the order of the traversers, as those of {@link VertexStep} do.
 *
 * <p>The first batch is one traverser, so that {@code limit(1)} reads little; each later one may have four times as many,
 * up to {@link #BATCH_MAX}.
 */
final class AnnalsVertexStep<E extends Element> extends VertexStep<E> {
    static final int BATCH_MAX = 256;

    /** Links of one batch of several vertices: each vertex has an equal share. One with more is asked alone. */
    static final int LINKS_MAX = 16_384;

    private static final int GROWTH = 4;
    private static final long serialVersionUID = 1;

    /** Links by the id of a vertex, as they were after so many changes of a session. */
    private record Answer<E>(Session session, long changes, Map<String, List<E>> links, int share) {
        boolean isFresh(Session now) {
            return session == now && changes == now.changes();
        }
    }

    // Steps are serializable in name only: a traversal is sent as bytecode. A clone gets its own by reset().
    private transient Queue<Traverser.Admin<Vertex>> batch = new ArrayDeque<>();
    private transient Map<AnnalsGraph, Answer<E>> answers = new HashMap<>();
    private transient Iterator<E> results = EmptyIterator.instance();
    private transient Traverser.Admin<Vertex> head;
    private int size = 1;
    private int questions;

    AnnalsVertexStep(VertexStep<E> step) {
        super(step.getTraversal(), step.getReturnClass(), step.getDirection(), step.getEdgeLabels());
        step.getLabels().forEach(this::addLabel);
        step.getParameters().getRaw().forEach((key, values) -> values.forEach(value -> configure(key, value)));
    }

    /** How often it asked the repository. */
    int questions() {
        return questions;
    }

    @Override
    protected Traverser.Admin<E> processNextStart() {
        while (!results.hasNext()) {
            if (batch.isEmpty()) {
                take();
            }
            head = batch.remove();
            results = results(head);
        }
        return head.split(results.next(), this);
    }

    /** Takes traversers. Errors: {@code NoSuchElementException} if none is left. */
    private void take() {
        answers.clear();
        batch.add(starts.next());
        while (batch.size() < size && starts.hasNext()) {
            batch.add(starts.next());
        }
        size = Math.min(size * GROWTH, BATCH_MAX);
    }

    private Iterator<E> results(Traverser.Admin<Vertex> traverser) {
        // A vertex that is not of Annals answers itself, and what is no vertex is an error when its turn comes.
        if (!((Object) traverser.get() instanceof AnnalsVertex vertex)) {
            return flatMap(traverser);
        }
        Session session = vertex.graph.session();
        Answer<E> answer = answers.get(vertex.graph);
        // The program that iterates may have changed the graph since.
        if (answer == null || !answer.isFresh(session)) {
            answer = ask(session, vertex);
            answers.put(vertex.graph, answer);
        }
        List<E> links = answer.links().get(vertex.text());
        if (links.size() == answer.share()) {
            questions += 1;
            return flatMap(traverser);
        }
        return links.iterator();
    }

    /** Asks for the links of a vertex, and of all in the batch that are of the same graph. */
    private Answer<E> ask(Session session, AnnalsVertex first) {
        Set<String> ids = new LinkedHashSet<>();
        ids.add(first.text());
        for (Traverser.Admin<Vertex> other : batch) {
            if ((Object) other.get() instanceof AnnalsVertex vertex && vertex.graph == first.graph) {
                ids.add(vertex.text());
            }
        }
        Links all = AnnalsVertex.links(getDirection(), getEdgeLabels());
        int share = ids.size() == 1 ? 0 : LINKS_MAX / ids.size();
        Links wanted = share == 0 ? all : all.limit(share);
        questions += 1;
        // Order: what another thread changes while this one reads makes the answer old.
        long changes = session.changes();
        Map<String, List<E>> links = returnsVertex()
                ? elements(first.graph.vertices(session), session.vertices(ids, wanted))
                : elements(first.graph.edges(session), session.edges(ids, wanted));
        return new Answer<>(session, changes, links, share == 0 ? -1 : share);
    }

    @SuppressWarnings("unchecked") // The class of the results says which of the two they are.
    private static <I, E> Map<String, List<E>> elements(Function<I, ?> element, Map<String, List<I>> found) {
        Map<String, List<E>> links = new HashMap<>();
        found.forEach((id, all) -> links.put(id, all.stream().map(one -> (E) element.apply(one)).toList()));
        return links;
    }

    @Override
    public void reset() {
        super.reset();
        batch = new ArrayDeque<>();
        answers = new HashMap<>();
        results = EmptyIterator.instance();
        head = null;
        size = 1;
    }

    /** Frees what it has read. */
    @Override
    public void close() {
        closeIterator();
        answers = new HashMap<>();
    }
}
