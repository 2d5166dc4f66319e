package dev.annals.gremlin;

import dev.annals.Condition;
import dev.annals.Find;
import dev.annals.Instance;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import org.apache.tinkerpop.gremlin.util.iterator.IteratorUtils;

/**
 * The first elements in the order of one property. TinkerPop orders them again; so it is enough that they are the right
 * ones.
 *
 * <p>Elements without the property are none of them, as in TinkerPop. The repository and TinkerPop have different orders
 * of values of different kinds, so all values must be numbers, or all texts. Texts they compare differently beyond 120
 * bytes, and from the code point U+D800 on: the last text of the first ones must have neither.
 */
record TopValues(String key, boolean isDescending, int count) {
    private static final int TEXT_BYTES = 120;
    private static final char FIRST_SURROGATE = 0xd800;

    /** The first hits of a search; empty if the order of the repository may not be that of TinkerPop. */
    <I extends Instance> Optional<List<I>> of(Session session, Find<I> find) {
        Find<I> present = find.where(Condition.exists(key));
        long all = session.count(present);
        boolean areNumbers = all == session.count(find.where(Condition.atLeast(key, Double.NEGATIVE_INFINITY)));
        // A Character is stored as a text. Only the hidden property tells.
        boolean areTexts = !areNumbers
                && all == session.count(find.where(Condition.atLeast(key, "")))
                && session.count(present.where(Condition.exists(Values.CLASSES))) == 0;
        if (!areNumbers && !areTexts) {
            return Optional.empty();
        }
        Find<I> ordered = present.orderBy(isDescending ? "-" + key : key).limit(count);
        List<I> first = IteratorUtils.list(session.find(ordered));
        boolean isWhole = first.size() < count || areNumbers;
        return isWhole || isBound(first.get(count - 1).properties().get(key)) ? Optional.of(first) : Optional.empty();
    }

    /** Says whether both orders put the same texts before this one. */
    private static boolean isBound(Object last) {
        return last instanceof String text
                && text.getBytes(StandardCharsets.UTF_8).length < TEXT_BYTES
                && text.chars().allMatch(unit -> unit < FIRST_SURROGATE);
    }

    @Override
    public String toString() {
        return "first " + count + " by " + key + (isDescending ? " desc" : " asc");
    }
}
