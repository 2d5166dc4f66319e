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

/**
 * Conditions of a traversal as conditions of a search: the search finds all that the traversal wants, or more.
 *
 * <p>One exception: an integer beyond 2^24 equals, to TinkerPop, the Float that is nearest. The search compares exactly.
 */
final class Pushed {
    // Below these a Float and a Double have all whole numbers. Beyond, one equals several of them to TinkerPop.
    private static final double FLOAT_MAX = 1 << 24;
    private static final double DOUBLE_MAX = 1L << 53;

    private Pushed() {}

    /** The search of a session for what fulfils all conditions, or more. */
    static <I extends Instance> Find<I> narrowed(Session session, Find<I> find, List<HasContainer> conditions) {
        List<String> labels = conditions.stream()
                .filter(Pushed::isOfLabel)
                .flatMap(condition -> labels(condition.getPredicate()).stream())
                .toList();
        Find<I> narrowed = find.only(known(session, find, labels).toArray(String[]::new));
        for (HasContainer condition : conditions) {
            if (isProperty(condition.getKey())) {
                narrowed = condition(condition.getKey(), condition.getPredicate()).map(narrowed::where).orElse(narrowed);
            }
        }
        return narrowed;
    }

    /** Of several labels those that something has: with an unknown one the repository refuses the whole search. */
    private static List<String> known(Session session, Find<?> find, List<String> labels) {
        if (labels.size() < 2) {
            return labels;
        }
        List<String> known = labels.stream()
                .filter(label -> session.find(find.only(label).limit(1)).hasNext())
                .toList();
        return known.isEmpty() ? labels.subList(0, 1) : known;
    }

    /**
     * Says whether the search finds exactly what the traversal wants.
     *
     * <p>It may find more: numbers of other classes that are nearly equal, texts of one letter that are a Character here,
     * and edges of which one of several values fulfils a condition. Two conditions on labels find either.
     */
    static boolean isExact(List<HasContainer> conditions, boolean isOfVertices) {
        long labels = conditions.stream().filter(Pushed::isOfLabel).count();
        return labels < 2 && conditions.stream().allMatch(condition -> isOfLabel(condition)
                ? !labels(condition.getPredicate()).isEmpty()
                : isOfVertices && isExact(condition));
    }

    private static boolean isOfLabel(HasContainer condition) {
        return T.label.getAccessor().equals(condition.getKey());
    }

    /** In searches a name with an @ is a header. */
    static boolean isProperty(String key) {
        return key != null
                && !T.id.getAccessor().equals(key)
                && !T.label.getAccessor().equals(key)
                && !key.startsWith("@");
    }

    private static boolean isExact(HasContainer condition) {
        String key = condition.getKey();
        P<?> predicate = condition.getPredicate();
        if (!isProperty(key) || condition(key, predicate).isEmpty()) {
            return false;
        }
        Object value = predicate.getValue();
        PBiPredicate<?, ?> test = predicate.getBiPredicate();
        if (test == Compare.eq || test == Contains.within) {
            Collection<?> all = test == Compare.eq ? List.of(value) : (Collection<?>) value;
            return all.stream().allMatch(one -> isExact(one) && !isZero(one));
        }
        boolean isSafe = test == Compare.gt || test == Compare.lte;
        return test instanceof Compare && value instanceof Number && isExact(value)
                && (isSafe ? !isNegativeZero(value) : !isZero(value));
    }

    /** To the repository the zeros are one number; to TinkerPop -0.0 is less. */
    private static boolean isZero(Object value) {
        return value instanceof Number number && number.doubleValue() == 0;
    }

    private static boolean isNegativeZero(Object value) {
        return isZero(value) && Double.compare(((Number) value).doubleValue(), 0.0) < 0;
    }

    private static boolean isExact(Object value) {
        return value instanceof Boolean
                || value instanceof UUID
                || value instanceof String text && text.length() != 1
                || value instanceof Number number
                        && !(number instanceof BigDecimal)
                        && Math.abs(number.doubleValue()) < FLOAT_MAX
                        && number.doubleValue() == Math.rint(number.doubleValue());
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
                // To the repository NaN is the greatest number; to TinkerPop it is neither less nor greater.
                case gt -> Optional.of(withoutNan(
                        key,
                        value,
                        isNegativeZero(value) ? Condition.atLeast(key, stored) : Condition.greaterThan(key, stored)));
                case gte -> Optional.of(withoutNan(key, value, Condition.atLeast(key, stored)));
                case lt -> Optional.of(
                        isZero(value) ? Condition.atMost(key, stored) : Condition.lessThan(key, stored));
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

    private static Condition withoutNan(String key, Object bound, Condition condition) {
        return bound instanceof Number
                ? Condition.all(condition, Condition.atMost(key, Double.POSITIVE_INFINITY))
                : condition;
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
                || value instanceof Double number && Math.abs(number) < DOUBLE_MAX
                || value instanceof Float other && Math.abs(other) < FLOAT_MAX
                || value instanceof BigDecimal decimal && decimal.precision() <= 28 && Math.abs(decimal.scale()) <= 28;
    }

    private static boolean isUnicode(String text) {
        return java.nio.charset.StandardCharsets.UTF_8.newEncoder().canEncode(text);
    }
}
