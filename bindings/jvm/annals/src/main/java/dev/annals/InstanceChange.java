package dev.annals;

import com.google.gson.JsonObject;
import java.util.Optional;

/**
 * How an instance changed between two positions, or how a record changed the hits of a watched search.
 *
 * @param change {@code appeared}, {@code disappeared} or {@code changed}
 * @param instance the instance: its id at the later position; if it disappeared, at the earlier one
 * @param difference the difference, if it changed
 */
public record InstanceChange(String change, InstanceId instance, Optional<Difference> difference) {
    static InstanceChange of(JsonObject json) {
        Optional<Difference> difference =
                json.get("difference") instanceof JsonObject one ? Optional.of(Difference.of(one)) : Optional.empty();
        InstanceId instance = new InstanceId(Kind.of(Json.text(json, "kind")), Json.text(json, "id"));
        return new InstanceChange(Json.text(json, "change"), instance, difference);
    }
}
