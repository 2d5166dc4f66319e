package dev.annals.gremlin;

import dev.annals.Patch;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Date;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.apache.tinkerpop.gremlin.structure.Property;

/**
 * The values of properties: as users of TinkerPop give them, and as the repository stores them.
 *
 * <p>The repository has one kind of integer, of float and of timestamp. A property that is not of the class that reading
 * gives has its class in the hidden property {@link #CLASSES}, by its key: {@code b} Byte, {@code s} Short, {@code l}
 * Long within the range of Integer, {@code f} Float, {@code n} BigInteger, {@code c} Character, {@code d} Date,
 * {@code o+02:00} OffsetDateTime of another offset than UTC. For a list it is a list, and for a map a map, of the same;
 * a set is stored as a list, and has a map with the key {@link #SET}; so is an array ({@link ArrayValues}). Several
 * properties with one key are a set of the repository; it has a map with the key {@link #EACH}, to a list of pairs of a value and its class.
 */
final class Values {
    /** The hidden property with the classes of others. */
    static final String CLASSES = "~classes";

    /** The key, in the class of a set, of the classes of its members. */
    static final String SET = "~set";

    /** The key, in the class of several values, of the classes of some of them. */
    static final String EACH = "~each";

    private static final String USUAL = "";

    /** The values of several properties with one key; at least one. */
    record Several(List<Object> values) {}

    private Values() {}

    /** The stored form of properties. */
    static Map<String, Object> stored(Map<String, Object> given) {
        Map<String, Object> stored = new LinkedHashMap<>();
        Map<String, Object> classes = new LinkedHashMap<>();
        given.forEach((key, value) -> {
            stored.put(key, stored(value));
            Object kind = kind(value);
            if (!USUAL.equals(kind)) {
                classes.put(key, kind);
            }
        });
        if (!classes.isEmpty()) {
            stored.put(CLASSES, classes);
        }
        return stored;
    }

    /** The properties as they were given. */
    static Map<String, Object> given(Map<String, Object> stored) {
        Map<?, ?> classes = stored.get(CLASSES) instanceof Map<?, ?> known ? known : Map.of();
        Map<String, Object> given = new LinkedHashMap<>();
        stored.forEach((key, value) -> {
            if (!key.equals(CLASSES)) {
                Object kind = classes.get(key);
                if (value instanceof Set<?> set) {
                    List<List<?>> kinds = eachKind(kind);
                    given.put(key, new Several(set.stream().map(one -> given(one, kindOf(one, kinds))).toList()));
                } else {
                    given.put(key, given(value, kind == null ? USUAL : kind));
                }
            }
        });
        // Other doors may leave a set without values.
        given.values().removeIf(value -> value instanceof Several several && several.values().isEmpty());
        return given;
    }

    private static List<List<?>> eachKind(Object kind) {
        List<List<?>> all = new ArrayList<>();
        if (kind instanceof Map<?, ?> map && map.get(EACH) instanceof List<?> pairs) {
            pairs.forEach(pair -> all.add((List<?>) pair));
        }
        return all;
    }

    private static Object kindOf(Object stored, List<List<?>> kinds) {
        return kinds.stream()
                .filter(pair -> pair.get(0).equals(stored))
                .findFirst()
                .<Object>map(pair -> pair.get(1))
                .orElse(USUAL);
    }

    /** A patch that sets one property, or removes it with {@code null}. */
    static Patch patch(Patch patch, Map<String, Object> before, String key, Object value) {
        Patch changed = value == null ? patch.unset(key) : patch.set(key, stored(value));
        return withKind(changed, before, key, value == null ? USUAL : kind(value));
    }

    /**
     * A patch that adds a value to those of a key; none if the key has it.
     *
     * <p>Errors: {@code IllegalArgumentException} if the value, or the one of the key, is a list, a set or a map.
     */
    static Optional<Patch> adding(Patch patch, Map<String, Object> before, String key, Object value) {
        Object stored = single(key, stored(value));
        Object known = before.get(key);
        Set<Object> values = new LinkedHashSet<>();
        List<List<?>> kinds = new ArrayList<>();
        if (known instanceof Set<?> set) {
            values.addAll(set);
            kinds.addAll(eachKind(kind(before, key)));
        } else if (known != null) {
            values.add(single(key, known));
            kinds.add(List.of(known, kind(before, key)));
        }
        if (!values.add(stored)) {
            return Optional.empty();
        }
        kinds.add(List.of(stored, kind(value)));
        Patch changed = known instanceof Set<?> ? patch.add(key, stored) : patch.set(key, values);
        return Optional.of(withKind(changed, before, key, eachKind(kinds)));
    }

    /** A patch that removes a value from those of a key; the last one removes the property. None if it is not there. */
    static Optional<Patch> removing(Patch patch, Map<String, Object> before, String key, Object value) {
        Object stored = stored(value);
        Object known = before.get(key);
        boolean isOnly = known instanceof Set<?> one ? one.equals(Set.of(stored)) : stored.equals(known);
        if (isOnly) {
            return Optional.of(patch(patch, before, key, null));
        }
        if (!(known instanceof Set<?>)) {
            return Optional.empty();
        }
        List<List<?>> kinds = eachKind(kind(before, key));
        kinds.removeIf(pair -> pair.get(0).equals(stored));
        return Optional.of(withKind(patch.remove(key, stored), before, key, eachKind(kinds)));
    }

    /** A value that may be one of several. */
    private static Object single(String key, Object stored) {
        if (stored instanceof Collection<?> || stored instanceof Map<?, ?>) {
            throw new IllegalArgumentException("property " + key
                    + ": with the cardinality set, expected values that are no list, set or map, found " + stored);
        }
        return stored;
    }

    private static Object kind(Map<String, Object> properties, String key) {
        Object kind = properties.get(CLASSES) instanceof Map<?, ?> classes ? classes.get(key) : null;
        return kind == null ? USUAL : kind;
    }

    /** The class of several values, of pairs of a value and its class. */
    private static Object eachKind(List<List<?>> kinds) {
        List<List<?>> unusual = kinds.stream().filter(pair -> !USUAL.equals(pair.get(1))).toList();
        return unusual.isEmpty() ? USUAL : Map.of(EACH, unusual);
    }

    private static Patch withKind(Patch changed, Map<String, Object> before, String key, Object kind) {
        Map<String, Object> classes = new LinkedHashMap<>();
        if (before.get(CLASSES) instanceof Map<?, ?> known) {
            known.forEach((name, other) -> classes.put((String) name, other));
        }
        Map<String, Object> former = new LinkedHashMap<>(classes);
        classes.remove(key);
        if (!USUAL.equals(kind)) {
            classes.put(key, kind);
        }
        if (Objects.equals(classes, former)) {
            return changed;
        }
        return classes.isEmpty() ? changed.unset(CLASSES) : changed.set(CLASSES, classes);
    }

    /** The stored form of a value. */
    static Object stored(Object value) {
        if (value instanceof Boolean
                || value instanceof String
                || value instanceof Long
                || value instanceof Double
                || value instanceof BigDecimal
                || value instanceof byte[]
                || value instanceof UUID
                || value instanceof Instant
                || value instanceof Duration
                || value instanceof LocalDate) {
            return value;
        }
        if (value instanceof Integer || value instanceof Short || value instanceof Byte) {
            return ((Number) value).longValue();
        }
        if (value instanceof Float number) {
            return number.doubleValue();
        }
        if (value instanceof BigInteger number) {
            return new BigDecimal(number);
        }
        if (value instanceof Character character) {
            return character.toString();
        }
        if (value instanceof Date date) {
            return date.toInstant();
        }
        if (value instanceof OffsetDateTime time) {
            return time.toInstant();
        }
        if (value instanceof List<?> || value instanceof Set<?>) {
            List<Object> all = new ArrayList<>();
            ((Collection<?>) value).forEach(item -> all.add(stored(item)));
            return all;
        }
        if (value instanceof Map<?, ?> map && map.keySet().stream().allMatch(String.class::isInstance)) {
            Map<String, Object> all = new LinkedHashMap<>();
            map.forEach((key, item) -> all.put((String) key, stored(item)));
            return all;
        }
        if (value != null && ArrayValues.isArray(value)) {
            return ArrayValues.stored(value);
        }
        throw Property.Exceptions.dataTypeOfPropertyValueNotSupported(value);
    }

    /** The class of a value, where it is not the usual one; {@link #USUAL} otherwise. */
    private static Object kind(Object value) {
        if (value instanceof Byte) {
            return "b";
        }
        if (value instanceof Short) {
            return "s";
        }
        if (value instanceof Long number) {
            return number.intValue() == number ? "l" : USUAL;
        }
        if (value instanceof Float) {
            return "f";
        }
        if (value instanceof BigInteger) {
            return "n";
        }
        if (value instanceof Character) {
            return "c";
        }
        if (value instanceof Date) {
            return "d";
        }
        if (value instanceof Instant) {
            return "i";
        }
        if (value instanceof OffsetDateTime time && !time.getOffset().equals(ZoneOffset.UTC)) {
            return "o" + time.getOffset();
        }
        if (value instanceof Set<?> set) {
            return Map.of(SET, kinds(set));
        }
        if (value instanceof List<?> list) {
            List<Object> kinds = kinds(list);
            return kinds.stream().allMatch(USUAL::equals) ? USUAL : kinds;
        }
        if (value instanceof Map<?, ?> map) {
            Map<String, Object> kinds = new LinkedHashMap<>();
            map.forEach((key, item) -> {
                Object kind = kind(item);
                if (!USUAL.equals(kind)) {
                    kinds.put((String) key, kind);
                }
            });
            return kinds.isEmpty() ? USUAL : kinds;
        }
        return ArrayValues.isArray(value) ? ArrayValues.kind(value) : USUAL;
    }

    private static List<Object> kinds(Collection<?> items) {
        List<Object> kinds = new ArrayList<>();
        items.forEach(item -> kinds.add(kind(item)));
        return kinds;
    }

    private static Object given(Object value, Object kind) {
        if (value instanceof List<?> list && kind instanceof Map<?, ?> set && set.containsKey(SET)) {
            return new LinkedHashSet<>((List<?>) given(list, set.get(SET)));
        }
        if (value instanceof List<?> list && kind instanceof Map<?, ?> array && array.containsKey(ArrayValues.ARRAY)) {
            return ArrayValues.given(list, array.get(ArrayValues.ARRAY));
        }
        if (value instanceof List<?> list) {
            List<?> kinds = kind instanceof List<?> known ? known : List.of();
            List<Object> all = new ArrayList<>(list.size());
            for (int index = 0; index < list.size(); index++) {
                all.add(given(list.get(index), index < kinds.size() ? kinds.get(index) : USUAL));
            }
            return all;
        }
        if (value instanceof Map<?, ?> map) {
            Map<?, ?> kinds = kind instanceof Map<?, ?> known ? known : Map.of();
            Map<Object, Object> all = new LinkedHashMap<>();
            map.forEach((key, item) -> all.put(key, given(item, kinds.containsKey(key) ? kinds.get(key) : USUAL)));
            return all;
        }
        String name = kind instanceof String text ? text : USUAL;
        if (value instanceof Long number) {
            return switch (name) {
                case "b" -> number.byteValue();
                case "s" -> number.shortValue();
                case "l" -> number;
                default -> number.intValue() == number ? (Object) number.intValue() : number;
            };
        }
        if (value instanceof Double number) {
            return name.equals("f") ? (Object) number.floatValue() : number;
        }
        if (value instanceof BigDecimal number) {
            return name.equals("n") ? (Object) number.toBigInteger() : number;
        }
        if (value instanceof String text) {
            return name.equals("c") && text.length() == 1 ? (Object) text.charAt(0) : text;
        }
        if (value instanceof Instant instant) {
            if (name.equals("d")) {
                return Date.from(instant);
            }
            if (name.equals("i")) {
                return instant;
            }
            ZoneOffset offset = name.startsWith("o") ? ZoneOffset.of(name.substring(1)) : ZoneOffset.UTC;
            return instant.atOffset(offset);
        }
        return value;
    }
}
