package dev.annals.gremlin;

import java.util.List;
import org.apache.tinkerpop.gremlin.process.traversal.Step;
import org.apache.tinkerpop.gremlin.process.traversal.Traversal;
import org.apache.tinkerpop.gremlin.process.traversal.TraversalStrategy;
import org.apache.tinkerpop.gremlin.process.traversal.step.LambdaHolder;
import org.apache.tinkerpop.gremlin.process.traversal.step.Mutating;
import org.apache.tinkerpop.gremlin.process.traversal.step.SideEffectCapable;
import org.apache.tinkerpop.gremlin.process.traversal.step.map.VertexStep;
import org.apache.tinkerpop.gremlin.process.traversal.step.sideEffect.ProfileSideEffectStep;
import org.apache.tinkerpop.gremlin.process.traversal.step.sideEffect.SackValueStep;
import org.apache.tinkerpop.gremlin.process.traversal.strategy.AbstractTraversalStrategy;
import org.apache.tinkerpop.gremlin.process.traversal.util.TraversalHelper;
import org.apache.tinkerpop.gremlin.structure.Element;

/**
 * Lets the steps to neighbours ask for many vertices at once.
 *
 * <p>Such a step runs the steps before it for several traversers, before the steps behind it run for the first. That
 * shows if one of them changes the graph or a side effect, or is a lambda, which may do both. Traversals with such a step
 * keep the steps of TinkerPop.
 */
final class AnnalsAdjacencyStrategy extends AbstractTraversalStrategy<TraversalStrategy.ProviderOptimizationStrategy>
        implements TraversalStrategy.ProviderOptimizationStrategy {
    private static final long serialVersionUID = 1;
    private static final AnnalsAdjacencyStrategy INSTANCE = new AnnalsAdjacencyStrategy();

    private AnnalsAdjacencyStrategy() {}

    static AnnalsAdjacencyStrategy instance() {
        return INSTANCE;
    }

    @Override
    public void apply(Traversal.Admin<?, ?> traversal) {
        List<VertexStep<?>> steps = links(traversal);
        boolean hasOrder = steps.isEmpty()
                || TraversalHelper.onGraphComputer(traversal)
                || TraversalHelper.anyStepRecursively(
                        AnnalsAdjacencyStrategy::hasEffect, TraversalHelper.getRootTraversal(traversal));
        if (!hasOrder) {
            steps.forEach(step -> replace(step, traversal));
        }
    }

    @SuppressWarnings({"unchecked", "rawtypes"}) // TinkerPop finds steps by their raw classes.
    private static List<VertexStep<?>> links(Traversal.Admin<?, ?> traversal) {
        return (List) TraversalHelper.getStepsOfClass(VertexStep.class, traversal);
    }

    private static <E extends Element> void replace(VertexStep<E> step, Traversal.Admin<?, ?> traversal) {
        TraversalHelper.replaceStep(step, new AnnalsVertexStep<>(step), traversal);
    }

    private static boolean hasEffect(Step<?, ?> step) {
        return step instanceof Mutating
                || step instanceof SideEffectCapable && !(step instanceof ProfileSideEffectStep)
                || step instanceof LambdaHolder && !(step instanceof SackValueStep);
    }
}
