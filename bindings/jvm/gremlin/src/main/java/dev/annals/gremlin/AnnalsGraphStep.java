package dev.annals.gremlin;

import dev.annals.Find;
import dev.annals.Instance;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import org.apache.tinkerpop.gremlin.process.traversal.P;
import org.apache.tinkerpop.gremlin.process.traversal.step.HasContainerHolder;
import org.apache.tinkerpop.gremlin.process.traversal.step.Mutating;
import org.apache.tinkerpop.gremlin.process.traversal.step.map.GraphStep;
import org.apache.tinkerpop.gremlin.process.traversal.step.map.GraphStepContract;
import org.apache.tinkerpop.gremlin.process.traversal.step.util.HasContainer;
import org.apache.tinkerpop.gremlin.process.traversal.util.AndP;
import org.apache.tinkerpop.gremlin.process.traversal.util.TraversalHelper;
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

    AnnalsGraphStep(GraphStepContract<S, E> step) {
        super(step.getTraversal(), step.getReturnClass(), step.isStartStep(), step.getIds());
        step.getLabels().forEach(this::addLabel);
        setIteratorSupplier(this::elements);
    }

    @SuppressWarnings("unchecked") // The class of the results says which of the two they are.
    private Iterator<E> elements() {
        if (ids == null) {
            return Collections.emptyIterator();
        }
        AnnalsGraph graph = AnnalsStrategy.graphOf(getTraversal());
        boolean isOfVertices = Vertex.class.isAssignableFrom(returnClass);
        Iterator<? extends Element> found;
        if (ids.length > 0) {
            found = isOfVertices ? graph.vertices(ids) : graph.edges(ids);
        } else if (isOfVertices) {
            found = IteratorUtils.map(pages(graph, Find.entities()), graph::vertex);
        } else {
            found = IteratorUtils.map(pages(graph, Find.relationships()), graph::edge);
        }
        Iterator<E> wanted = IteratorUtils.filter((Iterator<E>) found, e -> HasContainer.testAll(e, conditions));
        // A traversal that adds elements must not find them.
        boolean isMutating = TraversalHelper.anyStepRecursively(
                Mutating.class::isInstance, TraversalHelper.getRootTraversal(getTraversal()));
        return isMutating ? IteratorUtils.list(wanted).iterator() : wanted;
    }

    private <I extends Instance> Iterator<I> pages(AnnalsGraph graph, Find<I> find) {
        Find<I> narrowed = find;
        for (HasContainer condition : conditions) {
            narrowed = Pushed.narrowed(narrowed, condition);
        }
        return graph.pages(graph.session(), narrowed);
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
        String kind = returnClass.getSimpleName().toLowerCase(java.util.Locale.ROOT);
        if (conditions.isEmpty()) {
            return super.toString();
        }
        return ids == null || ids.length == 0
                ? StringFactory.stepString(this, kind, conditions)
                : StringFactory.stepString(this, kind, Arrays.toString(ids), conditions);
    }

    @Override
    public boolean equals(Object other) {
        return super.equals(other)
                && other instanceof AnnalsGraphStep<?, ?> step
                && conditions.equals(step.conditions);
    }

    @Override
    public int hashCode() {
        return super.hashCode() ^ conditions.hashCode();
    }
}
