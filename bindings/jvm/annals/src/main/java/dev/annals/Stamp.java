package dev.annals;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.time.Instant;

/**
 * When and by whom something was written.
 *
 * @param instant the instant, in microseconds
 * @param author the author; empty if the writer stated none
 */
public record Stamp(Instant instant, String author) {
    static Stamp of(JsonElement json) {
        JsonObject stamp = json instanceof JsonObject object ? object : new JsonObject();
        return new Stamp(Json.instant(stamp, "instant"), Json.text(stamp, "author"));
    }
}
