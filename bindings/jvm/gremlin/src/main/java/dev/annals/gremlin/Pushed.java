package dev.annals.gremlin;

import dev.annals.Condition;
import dev.annals.Find;
import dev.annals.Instance;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.apache.tinkerpop.gremlin.process.traversal.Compare;
import org.apache.tinkerpop.gremlin.process.traversal.Contains;
import org.apache.tinkerpop.gremlin.process.traversal.P;
import org.apache.tinkerpop.gremlin.process.traversal.PBiPredicate;
import org.apache.tinkerpop.gremlin.process.traversal.Text;
import org.apache.tinkerpop.gremlin.process.traversal.step.util.HasContainer;
import org.apache.tinkerpop.gremlin.structure.T;

/** Conditions of a traversal as conditions of a search: the search finds all that the traversal wants, or more. */
final class Pushed {
    private Pushed() {}

    /** The search with one more condition, if the repository can tell it. */
    static <I extends Instance> Find<I> narrowed(Find<I> find, HasContainer condition) {
        String key = condition.getKey();
        if (T.label.getAccessor().equals(key)) {
            List<String> labels = labels(condition.getPredicate());
            return labels.isEmpty() ? find : find.only(labels.toArray(String[]::new));
        }
        if (T.id.getAccessor().equals(key) || key == null) {
            return find;
        }
        return condition(key, condition.getPredicate()).map(find::where).orElse(find);
    }

    /** The labels that a condition names; empty if it names none. */
    static List<String> labels(P<?> predicate) {
        Object value = predicate.getValue();
        if (predicate.getBiPredicate() == Compare.eq && value instanceof String label) {
            return List.of(label);
        }
        if (predicate.getBiPredicate() == Contains.within && value instanceof Collection<?> all) {
            boolean areTexts = !all.isEmpty() && all.stream().allMatch(String.class::isInstance);
            return areTexts ? all.stream().map(String.class::cast).toList() : List.of();
        }
        return List.of();
    }

    private static Optional<Condition> condition(String key, P<?> predicate) {
        PBiPredicate<?, ?> test = predicate.getBiPredicate();
        Object value = predicate.getValue();
        if (test == Compare.eq) {
            return isComparable(value) ? Optional.of(Condition.equal(key, Values.stored(value))) : Optional.empty();
        }
        if (test == Contains.within && value instanceof Collection<?> all) {
            boolean areAll = !all.isEmpty() && all.stream().allMatch(Pushed::isComparable);
            List<Object> stored = new ArrayList<>();
            if (areAll) {
                all.forEach(item -> stored.add(Values.stored(item)));
            }
            return areAll ? Optional.of(Condition.in(key, stored)) : Optional.empty();
        }
        if (test instanceof Compare compare && isOrdered(value)) {
            Object stored = Values.stored(value);
            return switch (compare) {
                case gt -> Optional.of(Condition.greaterThan(key, stored));
                case gte -> Optional.of(Condition.atLeast(key, stored));
                case lt -> Optional.of(Condition.lessThan(key, stored));
                case lte -> Optional.of(Condition.atMost(key, stored));
                default -> Optional.empty();
            };
        }
        if (test instanceof Text text && value instanceof String part && !part.isEmpty() && isUnicode(part)) {
            return switch (text) {
                case startingWith -> Optional.of(Condition.startsWith(key, part));
                case endingWith -> Optional.of(Condition.endsWith(key, part));
                case containing -> Optional.of(Condition.contains(key, part));
                default -> Optional.empty();
            };
        }
        return Optional.empty();
    }

    private static boolean isComparable(Object value) {
        return value instanceof Boolean
                || value instanceof String text && isUnicode(text)
                || value instanceof UUID
                || isNumber(value);
    }

    /** Both sides order numbers by value, and texts by code points where one side is ASCII. */
    private static boolean isOrdered(Object value) {
        return isNumber(value) || value instanceof String text && text.chars().allMatch(unit -> unit < 128);
    }

    private static boolean isNumber(Object value) {
        return value instanceof Long
                || value instanceof Integer
                || value instanceof Short
                || value instanceof Byte
                || value instanceof Double number && !number.isNaN() && !number.isInfinite()
                || value instanceof Float other && !other.isNaN() && !other.isInfinite()
                || value instanceof BigDecimal decimal && decimal.precision() <= 28 && Math.abs(decimal.scale()) <= 28;
    }

    private static boolean isUnicode(String text) {
        return java.nio.charset.StandardCharsets.UTF_8.newEncoder().canEncode(text);
    }
}
