package dev.annals;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import java.math.BigDecimal;
import java.util.Map;
import java.util.Optional;

/** Compares a result with what a scenario expects: members that are not mentioned do not matter. */
final class Matching {
    private Matching() {}

    /** The first difference, if there is one. */
    static Optional<String> difference(JsonElement expected, JsonElement found) {
        if (expected instanceof JsonObject wanted && found instanceof JsonObject members) {
            for (Map.Entry<String, JsonElement> member : wanted.entrySet()) {
                String name = member.getKey();
                JsonElement other = members.has(name) ? members.get(name) : JsonNull.INSTANCE;
                boolean isWhole = name.equals("properties") || name.equals("classifications");
                Optional<String> difference = name.equals("tree")
                        ? same(member.getValue(), other)
                        : isWhole ? whole(member.getValue(), other) : difference(member.getValue(), other);
                if (difference.isPresent()) {
                    return difference.map(text -> name + "." + text);
                }
            }
            return Optional.empty();
        }
        if (expected instanceof JsonArray wanted && found instanceof JsonArray items) {
            if (wanted.size() != items.size()) {
                return Optional.of(": expected " + wanted.size() + " items, found " + items.size());
            }
            for (int index = 0; index < wanted.size(); index++) {
                Optional<String> difference = difference(wanted.get(index), items.get(index));
                if (difference.isPresent()) {
                    return Optional.of(index + "." + difference.get());
                }
            }
            return Optional.empty();
        }
        return same(expected, found);
    }

    private static Optional<String> whole(JsonElement expected, JsonElement found) {
        if (expected instanceof JsonObject wanted
                && found instanceof JsonObject members
                && !wanted.keySet().equals(members.keySet())) {
            return Optional.of(": expected " + expected + ", found " + found);
        }
        return difference(expected, found);
    }

    private static Optional<String> same(JsonElement expected, JsonElement found) {
        return isSame(expected, found) ? Optional.empty() : Optional.of(": expected " + expected + ", found " + found);
    }

    /** Numbers are the same if kind and value are. */
    private static boolean isSame(JsonElement expected, JsonElement found) {
        if (expected instanceof JsonObject wanted && found instanceof JsonObject members) {
            return wanted.keySet().equals(members.keySet())
                    && wanted.keySet().stream().allMatch(name -> isSame(wanted.get(name), members.get(name)));
        }
        if (expected instanceof JsonArray wanted && found instanceof JsonArray items) {
            if (wanted.size() != items.size()) {
                return false;
            }
            for (int index = 0; index < wanted.size(); index++) {
                if (!isSame(wanted.get(index), items.get(index))) {
                    return false;
                }
            }
            return true;
        }
        if (expected instanceof JsonPrimitive wanted
                && found instanceof JsonPrimitive other
                && wanted.getAsString().matches("-?P.*[0-9].*[WDHMS]")
                && !wanted.equals(other)) {
            return Durations.parse(wanted.getAsString()).equals(Durations.parse(other.getAsString()));
        }
        boolean areNumbers = expected instanceof JsonPrimitive wanted
                && wanted.isNumber()
                && found instanceof JsonPrimitive other
                && other.isNumber();
        if (areNumbers) {
            boolean isWhole = expected.getAsString().matches("-?\\d+");
            return isWhole == found.getAsString().matches("-?\\d+")
                    && new BigDecimal(expected.getAsString()).compareTo(new BigDecimal(found.getAsString())) == 0;
        }
        return expected.equals(found);
    }
}
