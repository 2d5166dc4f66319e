package dev.annals.gremlin;

import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.Date;
import java.util.Map;
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
import org.apache.tinkerpop.gremlin.process.traversal.strategy.decoration.OptionsStrategy;
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

    /** The graph that a traversal reads: of the past, if its options name a time. */
    static AnnalsGraph graphOf(Traversal.Admin<?, ?> traversal) {
        AnnalsGraph graph = (AnnalsGraph) traversal.getGraph().orElseThrow();
        Map<String, Object> options = TraversalHelper.getRootTraversal(traversal)
                .getStrategies()
                .getStrategy(OptionsStrategy.class)
                .map(OptionsStrategy::getOptions)
                .orElse(Map.of());
        Object at = options.get("at");
        Object position = options.get("position");
        if (at != null && position != null) {
            throw new IllegalArgumentException("with: expected at or position, found both; give one");
        }
        // The cleaner of the Java API frees the snapshot once no element of it is left.
        if (position != null) {
            if (position instanceof Number number) {
                return graph.asOf(number.longValue());
            }
            throw new IllegalArgumentException("with position: expected a number, found " + position);
        }
        return at == null ? graph : graph.asOf(instant(at));
    }

    private static Instant instant(Object at) {
        if (at instanceof Instant instant) {
            return instant;
        }
        if (at instanceof OffsetDateTime time) {
            return time.toInstant();
        }
        if (at instanceof Date date) {
            return date.toInstant();
        }
        if (at instanceof String text) {
            return Instant.parse(text);
        }
        throw new IllegalArgumentException(
                "with at: expected an Instant, an OffsetDateTime, a Date or a text such as 2026-11-27T00:00:00Z, found " + at);
    }
}
