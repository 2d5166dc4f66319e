package dev.annals;

import com.google.gson.JsonObject;
import java.util.List;
import java.util.Optional;

/**
 * How many entities within reach have each value.
 *
 * @param groups the largest groups, largest first
 * @param count the number of all entities within reach
 * @param restGroups the number of groups that the limit left out
 * @param restCount the number of entities in these groups
 */
public record Groups(List<Group> groups, long count, long restGroups, long restCount) {
    /**
     * The entities with one value.
     *
     * @param value the value; absent for entities without one
     * @param count the number of entities
     */
    public record Group(Optional<Object> value, long count) {}

    static Groups of(JsonObject json) {
        JsonObject rest = json.get("rest") instanceof JsonObject object ? object : new JsonObject();
        return new Groups(
                Json.list(json, "groups", Groups::group),
                Json.large(json, "count"),
                Json.large(rest, "groups"),
                Json.large(rest, "count"));
    }

    private static Group group(JsonObject json) {
        Optional<Object> value =
                Json.has(json, "value") ? Optional.of(Values.value(json.get("value"))) : Optional.empty();
        return new Group(value, Json.large(json, "count"));
    }
}
