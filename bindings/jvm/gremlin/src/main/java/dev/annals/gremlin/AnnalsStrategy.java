package dev.annals.gremlin;

import org.apache.tinkerpop.gremlin.process.traversal.Step;
import org.apache.tinkerpop.gremlin.process.traversal.Traversal;
import org.apache.tinkerpop.gremlin.process.traversal.TraversalStrategy;
import org.apache.tinkerpop.gremlin.process.traversal.step.HasContainerHolder;
import org.apache.tinkerpop.gremlin.process.traversal.step.filter.HasStep;
import org.apache.tinkerpop.gremlin.process.traversal.step.map.GraphStep;
import org.apache.tinkerpop.gremlin.process.traversal.step.map.GraphStepContract;
import org.apache.tinkerpop.gremlin.process.traversal.step.map.NoOpBarrierStep;
import org.apache.tinkerpop.gremlin.process.traversal.step.util.HasContainer;
import org.apache.tinkerpop.gremlin.process.traversal.strategy.AbstractTraversalStrategy;
import org.apache.tinkerpop.gremlin.process.traversal.util.TraversalHelper;
import org.apache.tinkerpop.gremlin.structure.Element;

/**
 * Lets the repository search: conditions on labels and properties after {@code g.V()} and {@code g.E()} become part of the
 * step. With {@code g.with("at", instant)} or {@code g.with("position", number)} the traversal reads the past.
 */
final class AnnalsStrategy extends AbstractTraversalStrategy<TraversalStrategy.ProviderOptimizationStrategy>
        implements TraversalStrategy.ProviderOptimizationStrategy {
    private static final long serialVersionUID = 1;
    private static final AnnalsStrategy INSTANCE = new AnnalsStrategy();

    private AnnalsStrategy() {}

    static AnnalsStrategy instance() {
        return INSTANCE;
    }

    @Override
    public void apply(Traversal.Admin<?, ?> traversal) {
        for (GraphStepContract<?, ?> found : TraversalHelper.getStepsOfClass(GraphStepContract.class, traversal)) {
            AnnalsGraphStep<?, ?> step = replaced(found, traversal);
            Step<?, ?> next = step.getNextStep();
            while (next instanceof HasStep || next instanceof NoOpBarrierStep) {
                Step<?, ?> after = next.getNextStep();
                if (next instanceof HasStep) {
                    for (HasContainer condition : ((HasContainerHolder<?, ?>) next).getHasContainers()) {
                        if (!GraphStep.processHasContainerIds(step, condition)) {
                            step.addHasContainer(condition);
                        }
                    }
                    TraversalHelper.copyLabels(next, next.getPreviousStep(), false);
                    traversal.removeStep(next);
                }
                next = after;
            }
        }
    }

    private static <S, E extends Element> AnnalsGraphStep<S, E> replaced(
            GraphStepContract<S, E> found, Traversal.Admin<?, ?> traversal) {
        AnnalsGraphStep<S, E> step = new AnnalsGraphStep<>(found);
        TraversalHelper.replaceStep(found, step, traversal);
        return step;
    }
}
