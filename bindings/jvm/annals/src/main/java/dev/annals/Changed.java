package dev.annals;

import com.google.gson.JsonObject;
import java.util.Optional;

/**
 * A value before and after a change.
 *
 * @param before the value before, if there was one
 * @param after the value after, if there is one
 */
public record Changed(Optional<Object> before, Optional<Object> after) {
    static Changed of(JsonObject json) {
        return new Changed(side(json, "before"), side(json, "after"));
    }

    private static Optional<Object> side(JsonObject json, String name) {
        return Json.has(json, name) ? Optional.of(Values.value(json.get(name))) : Optional.empty();
    }
}
