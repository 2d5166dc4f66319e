package dev.annals.gremlin;

import java.lang.reflect.Array;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Arrays as values of properties, also arrays of arrays: the repository stores lists, and the class of a value says which
 * class the array had. An array of bytes is a value of its own, and may be a member.
 */
final class ArrayValues {
    /** The key, in the class of an array, of its class: {@code int[]}, {@code String[][]}. */
    static final String ARRAY = "~array";

    private static final Map<String, Class<?>> MEMBERS = members(
            boolean.class, short.class, int.class, long.class, float.class, double.class, char.class, byte[].class,
            Boolean.class, Short.class, Integer.class, Long.class, Float.class, Double.class, Character.class, String.class);

    private static final Pattern NAME = Pattern.compile("(byte\\[]|\\w+)((?:\\[])+)");

    private ArrayValues() {}

    private static Map<String, Class<?>> members(Class<?>... all) {
        Map<String, Class<?>> members = new LinkedHashMap<>();
        for (Class<?> one : all) {
            members.put(one.getSimpleName(), one);
        }
        return members;
    }

    /** Says whether a value is an array that becomes a list. */
    static boolean isArray(Object value) {
        Class<?> member = value.getClass().getComponentType();
        while (member != null && !MEMBERS.containsValue(member)) {
            member = member.getComponentType();
        }
        return member != null;
    }

    /** The members as they are stored. Errors: {@code IllegalArgumentException} for null among them. */
    static List<Object> stored(Object array) {
        List<Object> all = new ArrayList<>(Array.getLength(array));
        for (int index = 0; index < Array.getLength(array); index++) {
            Object member = Array.get(array, index);
            if (member == null) {
                throw new IllegalArgumentException("array: expected values, found null at index " + index);
            }
            all.add(Values.stored(member));
        }
        return all;
    }

    static Map<String, Object> kind(Object array) {
        return Map.of(ARRAY, array.getClass().getSimpleName());
    }

    /** The array that a stored list was. If another door has changed the list, it may stay one. */
    static Object given(List<?> stored, Object name) {
        Matcher found = NAME.matcher(String.valueOf(name));
        Class<?> member = found.matches() ? MEMBERS.get(found.group(1)) : null;
        if (member == null) {
            return stored;
        }
        try {
            return array(stored, member, found.group(2).length() / 2);
        } catch (IllegalArgumentException | ClassCastException changed) {
            return stored;
        }
    }

    private static Object array(List<?> stored, Class<?> member, int depth) {
        Class<?> component = member;
        for (int level = 1; level < depth; level++) {
            component = component.arrayType();
        }
        Object array = Array.newInstance(component, stored.size());
        for (int index = 0; index < stored.size(); index++) {
            Object one = stored.get(index);
            Array.set(array, index, depth > 1 ? array((List<?>) one, member, depth - 1) : member(one, member));
        }
        return array;
    }

    /** A member of the class that the repository has no kind for. */
    private static Object member(Object stored, Class<?> member) {
        return switch (member.getSimpleName()) {
            case "short", "Short" -> ((Long) stored).shortValue();
            case "int", "Integer" -> ((Long) stored).intValue();
            case "float", "Float" -> ((Double) stored).floatValue();
            case "char", "Character" -> ((String) stored).isEmpty() ? stored : (Object) ((String) stored).charAt(0);
            default -> stored;
        };
    }
}
