package dev.annals.gremlin;

import java.util.List;
import java.util.Set;
import org.apache.tinkerpop.gremlin.process.traversal.Order;
import org.apache.tinkerpop.gremlin.process.traversal.Step;
import org.apache.tinkerpop.gremlin.process.traversal.Traversal;
import org.apache.tinkerpop.gremlin.process.traversal.TraversalStrategy;
import org.apache.tinkerpop.gremlin.process.traversal.lambda.ValueTraversal;
import org.apache.tinkerpop.gremlin.process.traversal.step.filter.RangeGlobalStep;
import org.apache.tinkerpop.gremlin.process.traversal.step.map.CountGlobalStep;
import org.apache.tinkerpop.gremlin.process.traversal.step.map.OrderGlobalStep;
import org.apache.tinkerpop.gremlin.process.traversal.strategy.AbstractTraversalStrategy;
import org.apache.tinkerpop.gremlin.process.traversal.util.TraversalHelper;
import org.javatuples.Pair;

/**
 * Lets the repository count, and stop where a limit is: {@code count()}, {@code limit()} and {@code order().by(key).limit()}
 * after {@code g.V()} and {@code g.E()} with conditions that the repository tells exactly.
 */
final class AnnalsReductionStrategy extends AbstractTraversalStrategy<TraversalStrategy.ProviderOptimizationStrategy>
        implements TraversalStrategy.ProviderOptimizationStrategy {
    private static final long serialVersionUID = 1;
    private static final AnnalsReductionStrategy INSTANCE = new AnnalsReductionStrategy();

    private AnnalsReductionStrategy() {}

    static AnnalsReductionStrategy instance() {
        return INSTANCE;
    }

    @Override
    public Set<Class<? extends TraversalStrategy.ProviderOptimizationStrategy>> applyPrior() {
        return Set.of(AnnalsStrategy.class);
    }

    @Override
    public void apply(Traversal.Admin<?, ?> traversal) {
        boolean isPlain = traversal.isRoot() && !TraversalHelper.onGraphComputer(traversal);
        if (!isPlain || !(traversal.getStartStep() instanceof AnnalsGraphStep<?, ?> found) || !found.isExact()) {
            return;
        }
        Step<?, ?> next = found.getNextStep();
        if (next instanceof CountGlobalStep<?> count) {
            TraversalHelper.replaceStep(count, new AnnalsCountStep<>(found, count), traversal);
            traversal.removeStep(found);
        } else if (next instanceof RangeGlobalStep<?> range && most(range) > 0) {
            found.limit(most(range));
        } else if (next instanceof OrderGlobalStep<?, ?> order
                && order.getNextStep() instanceof RangeGlobalStep<?> range
                && most(range) > 0) {
            order(found, order, most(range));
        }
    }

    /** How many elements a range reads; 0 if that is no bound. */
    private static int most(RangeGlobalStep<?> range) {
        long high = range.getHighRange();
        return high > 0 && high <= Integer.MAX_VALUE ? (int) high : 0;
    }

    private static void order(AnnalsGraphStep<?, ?> found, OrderGlobalStep<?, ?> order, int most) {
        List<? extends Pair<? extends Traversal.Admin<?, ?>, ?>> comparators = order.getComparators();
        Pair<? extends Traversal.Admin<?, ?>, ?> only = comparators.get(0);
        boolean isAscending = only.getValue1() == Order.asc;
        boolean isDescending = only.getValue1() == Order.desc;
        boolean isOfOneKey = comparators.size() == 1 && (isAscending || isDescending);
        // In orders a name with a minus sign descends.
        if (isOfOneKey
                && only.getValue0() instanceof ValueTraversal<?, ?> value
                && value.getBypassTraversal() == null
                && Pushed.isProperty(value.getPropertyKey())
                && !value.getPropertyKey().startsWith("-")) {
            found.order(new TopValues(value.getPropertyKey(), isDescending, most));
        }
    }
}
