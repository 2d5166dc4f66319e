package dev.annals;

import com.google.gson.JsonObject;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Groups of what a search finds.
 *
 * @param groups the largest groups, largest first
 * @param count the number of all hits
 * @param restGroups the number of groups that the limit left out
 * @param restCount the number of hits in these groups
 */
public record FoundGroups(List<Group> groups, long count, long restGroups, long restCount) {
    /**
     * The hits with equal values. Each map has the names of fields as keys, in the order in which they were asked for;
     * a value is absent if no hit has one.
     *
     * @param values the values
     * @param count the number of hits
     * @param sums the sums that were asked for
     * @param least the least values that were asked for
     * @param greatest the greatest values that were asked for
     */
    public record Group(
            Map<String, Optional<Object>> values,
            long count,
            Map<String, Optional<Object>> sums,
            Map<String, Optional<Object>> least,
            Map<String, Optional<Object>> greatest) {}

    static FoundGroups of(JsonObject json) {
        JsonObject rest = json.get("rest") instanceof JsonObject object ? object : new JsonObject();
        return new FoundGroups(
                Json.list(json, "groups", FoundGroups::group),
                Json.large(json, "count"),
                Json.large(rest, "groups"),
                Json.large(rest, "count"));
    }

    private static Group group(JsonObject json) {
        return new Group(
                values(json, "values"),
                Json.large(json, "count"),
                values(json, "sum"),
                values(json, "min"),
                values(json, "max"));
    }

    private static Map<String, Optional<Object>> values(JsonObject json, String name) {
        Map<String, Optional<Object>> values = new LinkedHashMap<>();
        if (json.get(name) instanceof JsonObject members) {
            members.entrySet().forEach(member -> values.put(
                    member.getKey(),
                    member.getValue().isJsonNull() ? Optional.empty() : Optional.of(Values.value(member.getValue()))));
        }
        return Collections.unmodifiableMap(values);
    }
}
