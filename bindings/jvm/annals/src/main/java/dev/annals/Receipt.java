package dev.annals;

import com.google.gson.JsonObject;
import java.time.Instant;
import java.util.List;

/**
 * A commit that is durable.
 *
 * @param position the position of the record; if nothing changed, the last one that the transaction saw
 * @param instant the instant of the record, in microseconds
 * @param ids the ids of the instances that operations created or put, in the order of the operations
 */
public record Receipt(long position, Instant instant, List<String> ids) {
    static Receipt of(JsonObject json) {
        return new Receipt(Json.large(json, "position"), Json.instant(json, "instant"), Json.texts(json, "ids"));
    }
}
