package dev.annals.gremlin;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.apache.tinkerpop.gremlin.process.traversal.P;
import org.apache.tinkerpop.gremlin.process.traversal.Traversal;
import org.apache.tinkerpop.gremlin.process.traversal.TraversalStrategy;
import org.apache.tinkerpop.gremlin.process.traversal.step.filter.HasStep;
import org.apache.tinkerpop.gremlin.process.traversal.step.map.VertexStepContract;
import org.apache.tinkerpop.gremlin.process.traversal.step.util.HasContainer;
import org.apache.tinkerpop.gremlin.process.traversal.strategy.AbstractTraversalStrategy;
import org.apache.tinkerpop.gremlin.process.traversal.strategy.optimization.InlineFilterStrategy;
import org.apache.tinkerpop.gremlin.process.traversal.util.TraversalHelper;
import org.apache.tinkerpop.gremlin.structure.T;

/**
 * Makes several conditions on the label of an edge one condition: {@code outE().hasLabel("a").hasLabel("a", "b")} finds
 * edges with the label {@code a}.
 *
 * <p>{@link InlineFilterStrategy} of TinkerPop would make them labels of the step before, and these mean any of them:
 * {@code outE("a", "a", "b")}.
 */
final class AnnalsLabelStrategy extends AbstractTraversalStrategy<TraversalStrategy.OptimizationStrategy>
        implements TraversalStrategy.OptimizationStrategy {
    private static final long serialVersionUID = 1;
    private static final AnnalsLabelStrategy INSTANCE = new AnnalsLabelStrategy();

    private AnnalsLabelStrategy() {}

    static AnnalsLabelStrategy instance() {
        return INSTANCE;
    }

    @Override
    public Set<Class<? extends TraversalStrategy.OptimizationStrategy>> applyPost() {
        return Set.of(InlineFilterStrategy.class);
    }

    @Override
    public void apply(Traversal.Admin<?, ?> traversal) {
        for (HasStep<?> step : TraversalHelper.getStepsOfClass(HasStep.class, traversal)) {
            if (step.getPreviousStep() instanceof VertexStepContract<?> links && links.returnsEdge()) {
                unite(step);
            }
        }
    }

    private static void unite(HasStep<?> step) {
        List<HasContainer> named = step.getHasContainers().stream()
                .filter(condition -> T.label.getAccessor().equals(condition.getKey())
                        && !condition.getPredicate().isParameterized()
                        && !Pushed.labels(condition.getPredicate()).isEmpty())
                .toList();
        if (named.size() < 2) {
            return;
        }
        List<String> common = new ArrayList<>(Pushed.labels(named.get(0).getPredicate()));
        named.forEach(condition -> common.retainAll(Pushed.labels(condition.getPredicate())));
        // Conditions that no label fulfils stay: TinkerPop keeps one that does not contain those before it.
        if (!common.isEmpty()) {
            named.forEach(step::removeHasContainer);
            step.addHasContainer(new HasContainer(T.label.getAccessor(), P.within(common)));
        }
    }
}
