package dev.annals.gremlin;

import dev.annals.Entity;
import dev.annals.Find;
import dev.annals.Instance;
import dev.annals.Relationship;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Function;
import org.apache.tinkerpop.gremlin.process.traversal.P;
import org.apache.tinkerpop.gremlin.process.traversal.step.HasContainerHolder;
import org.apache.tinkerpop.gremlin.process.traversal.step.Mutating;
import org.apache.tinkerpop.gremlin.process.traversal.step.map.GraphStep;
import org.apache.tinkerpop.gremlin.process.traversal.step.map.GraphStepContract;
import org.apache.tinkerpop.gremlin.process.traversal.step.util.HasContainer;
import org.apache.tinkerpop.gremlin.process.traversal.util.AndP;
import org.apache.tinkerpop.gremlin.process.traversal.util.TraversalHelper;
import org.apache.tinkerpop.gremlin.structure.Edge;
import org.apache.tinkerpop.gremlin.structure.Element;
import org.apache.tinkerpop.gremlin.structure.Vertex;
import org.apache.tinkerpop.gremlin.structure.util.StringFactory;
import org.apache.tinkerpop.gremlin.util.iterator.IteratorUtils;

/**
 * Vertices or edges that the repository finds by their labels and properties. It streams them page by page; each is
 * tested again, so that the answer is that of TinkerPop.
 */
final class AnnalsGraphStep<S, E extends Element> extends GraphStep<S, E> implements HasContainerHolder<S, E> {
    private static final long serialVersionUID = 1;

    // Steps are serializable in name only: a traversal is sent as bytecode.
    private final transient List<HasContainer> conditions = new ArrayList<>();
    private transient OptionalInt limit = OptionalInt.empty();
    private transient Optional<TopValues> order = Optional.empty();

    AnnalsGraphStep(GraphStepContract<S, E> step) {
        super(step.getTraversal(), step.getReturnClass(), step.isStartStep(), step.getIds());
        step.getLabels().forEach(this::addLabel);
        setIteratorSupplier(this::elements);
    }

    /** Says whether the repository finds exactly what the conditions want, once for the traversal. */
    boolean isExact() {
        return isStartStep() && ids != null && ids.length == 0 && Pushed.isExact(conditions, isOfVertices());
    }

    /** Lets the repository stop after so many elements. Only if the search is exact. */
    void limit(int most) {
        limit = OptionalInt.of(most);
    }

    /** Leaves out, where the repository can tell them, elements behind the first ones in an order. Only if exact. */
    void order(TopValues first) {
        order = Optional.of(first);
    }

    boolean isOfVertices() {
        return Vertex.class.isAssignableFrom(returnClass);
    }

    @SuppressWarnings("unchecked") // The class of the results says which of the two they are.
    private Iterator<E> elements() {
        if (ids == null) {
            return Collections.emptyIterator();
        }
        AnnalsGraph graph = Options.graphOf(getTraversal());
        Iterator<? extends Element> found;
        if (ids.length > 0) {
            found = isOfVertices() ? graph.vertices(ids) : graph.edges(ids);
        } else if (isOfVertices()) {
            Session session = graph.session();
            Function<Entity, Vertex> vertices = graph.vertices(session);
            found = IteratorUtils.map(hits(session, Find.entities()), vertices);
        } else {
            Session session = graph.session();
            Function<Relationship, Edge> edges = graph.edges(session);
            found = IteratorUtils.map(hits(session, Find.relationships()), edges);
        }
        Iterator<E> wanted = IteratorUtils.filter((Iterator<E>) found, e -> HasContainer.testAll(e, conditions));
        // A traversal that adds elements must not find them.
        boolean isMutating = TraversalHelper.anyStepRecursively(
                Mutating.class::isInstance, TraversalHelper.getRootTraversal(getTraversal()));
        return isMutating ? IteratorUtils.list(wanted).iterator() : wanted;
    }

    private <I extends Instance> Iterator<I> hits(Session session, Find<I> all) {
        Find<I> find = Pushed.narrowed(session, all, conditions);
        Optional<List<I>> first = order.flatMap(top -> top.of(session, find));
        if (first.isPresent()) {
            return first.get().iterator();
        }
        return session.find(limit.isPresent() ? find.limit(limit.getAsInt()) : find);
    }

    @Override
    public List<HasContainer> getHasContainers() {
        return Collections.unmodifiableList(conditions);
    }

    @Override
    public void addHasContainer(HasContainer condition) {
        if (condition.getPredicate() instanceof AndP<?> all) {
            for (P<?> predicate : all.getPredicates()) {
                addHasContainer(new HasContainer(condition.getKey(), predicate));
            }
        } else {
            conditions.add(condition);
        }
    }

    @Override
    public String toString() {
        List<Object> parts = new ArrayList<>();
        parts.add(returnClass.getSimpleName().toLowerCase(Locale.ROOT));
        if (ids != null && ids.length > 0 || conditions.isEmpty()) {
            parts.add(Arrays.toString(ids));
        }
        if (!conditions.isEmpty()) {
            parts.add(conditions);
        }
        order.ifPresent(parts::add);
        limit.ifPresent(most -> parts.add("limit " + most));
        return StringFactory.stepString(this, parts.toArray());
    }

    @Override
    public boolean equals(Object other) {
        return super.equals(other)
                && other instanceof AnnalsGraphStep<?, ?> step
                && conditions.equals(step.conditions)
                && limit.equals(step.limit)
                && order.equals(step.order);
    }

    @Override
    public int hashCode() {
        return super.hashCode() ^ conditions.hashCode() ^ limit.hashCode() ^ order.hashCode();
    }
}
