package dev.annals.gremlin;

import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.regex.Pattern;

/**
 * The ids of elements. The repository has texts, and TinkerPop also has numbers: the text {@code 7} is the Integer 7, or
 * a Long beyond the range of Integer; {@code ~l7} is the Long 7; {@code ~s7} is the String "7". Every other text is
 * itself.
 */
final class Ids {
    private static final Pattern NUMBER = Pattern.compile("0|-?[1-9][0-9]{0,18}");
    private static final String LONG = "~l";
    private static final String STRING = "~s";

    private Ids() {}

    static boolean areAllowed(Object id) {
        return id instanceof String text && !text.isEmpty() || isWhole(id);
    }

    private static boolean isWhole(Object id) {
        return id instanceof Long || id instanceof Integer || id instanceof Short || id instanceof Byte;
    }

    /**
     * The text of an id that a user supplies for a new element.
     *
     * <p>Errors: the refusal for an id of another class.
     */
    static Optional<String> supplied(Optional<Object> id, Supplier<UnsupportedOperationException> refusal) {
        return id.map(given -> {
            if (!areAllowed(given)) {
                throw refusal.get();
            }
            if (given instanceof String text) {
                return text.startsWith("~") || number(text) != null ? STRING + text : text;
            }
            long number = ((Number) given).longValue();
            return given instanceof Long && (int) number == number ? LONG + number : Long.toString(number);
        });
    }

    /** The texts that an id to look for may have: a number also finds one of another class, and a text that is one. */
    static List<String> sought(Object id) {
        boolean isFraction = id instanceof Double || id instanceof Float;
        if (isWhole(id) || isFraction && ((Number) id).doubleValue() == Math.rint(((Number) id).doubleValue())) {
            long number = ((Number) id).longValue();
            return List.of(Long.toString(number), LONG + number);
        }
        String text = id.toString();
        if (text.isEmpty()) {
            return List.of();
        }
        if (number(text) != null) {
            return List.of(STRING + text, text, LONG + text);
        }
        return text.startsWith("~") ? List.of(STRING + text) : List.of(text);
    }

    /** The id that users see. */
    static Object given(String text) {
        if (text.startsWith(STRING)) {
            return text.substring(STRING.length());
        }
        if (text.startsWith(LONG)) {
            Object number = number(text.substring(LONG.length()));
            return number == null ? text : Long.valueOf(((Number) number).longValue());
        }
        Object number = number(text);
        return number == null ? text : number;
    }

    /** The Integer or Long that a text is; {@code null} if it is none. */
    private static Object number(String text) {
        char first = text.isEmpty() ? ' ' : text.charAt(0);
        boolean mayBeNumber = first == '-' || first >= '0' && first <= '9';
        if (!mayBeNumber || text.length() > 20 || !NUMBER.matcher(text).matches()) {
            return null;
        }
        try {
            long number = Long.parseLong(text);
            return (int) number == number ? (Object) (int) number : number;
        } catch (NumberFormatException tooLarge) {
            return null;
        }
    }
}
