package dev.annals.gremlin;

import org.apache.tinkerpop.gremlin.process.traversal.Step;
import org.apache.tinkerpop.gremlin.process.traversal.Traversal;
import org.apache.tinkerpop.gremlin.process.traversal.TraversalStrategy;
import org.apache.tinkerpop.gremlin.process.traversal.step.Mutating;
import org.apache.tinkerpop.gremlin.process.traversal.step.sideEffect.IoStep;
import org.apache.tinkerpop.gremlin.process.traversal.strategy.AbstractTraversalStrategy;
import org.apache.tinkerpop.gremlin.process.traversal.util.TraversalHelper;

/**
 * Lets traversals that change the graph sign their transaction, by {@code g.with("author", name)} and
 * {@code g.with("message", text)}, and refuses those that read the past: they would change the present.
 */
final class AnnalsSignStrategy extends AbstractTraversalStrategy<TraversalStrategy.FinalizationStrategy>
        implements TraversalStrategy.FinalizationStrategy {
    private static final long serialVersionUID = 1;
    private static final AnnalsSignStrategy INSTANCE = new AnnalsSignStrategy();

    private AnnalsSignStrategy() {}

    static AnnalsSignStrategy instance() {
        return INSTANCE;
    }

    @Override
    public void apply(Traversal.Admin<?, ?> traversal) {
        if (!traversal.isRoot()) {
            return;
        }
        Options options = Options.of(traversal);
        boolean isWithout = !options.isOfPast() && !options.isSigning();
        if (isWithout || !TraversalHelper.anyStepRecursively(AnnalsSignStrategy::isChange, traversal)) {
            return;
        }
        if (options.isOfPast()) {
            throw new UnsupportedOperationException("with " + (options.at().isPresent() ? "at" : "position")
                    + ": expected steps that read, because the past cannot be changed; found one that changes the graph");
        }
        // Behind the first step: all that comes passes there, and a profile stays last.
        traversal.addStep(1, new AnnalsSignStep<>(traversal, options));
    }

    private static boolean isChange(Step<?, ?> step) {
        return step instanceof Mutating || step instanceof IoStep;
    }
}
