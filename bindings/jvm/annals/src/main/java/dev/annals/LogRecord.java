package dev.annals;

import com.google.gson.JsonObject;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * A record of the log: the changes of one commit.
 *
 * @param position its position, from 1
 * @param instant its instant, in microseconds
 * @param author the author; empty if the writer stated none
 * @param message the reason; empty if the writer stated none
 * @param changes the changes in order
 */
public record LogRecord(long position, Instant instant, String author, String message, List<Change> changes) {
    /**
     * A change of a record.
     *
     * @param action the action, such as {@code create} or {@code define-type}
     * @param instance the instance, unless the change declares a type or names the collection
     * @param json the change as an operation of docs/json.md
     */
    public record Change(String action, Optional<InstanceId> instance, String json) {}

    static LogRecord of(JsonObject json) {
        return new LogRecord(
                Json.large(json, "position"),
                Json.instant(json, "instant"),
                Json.text(json, "author"),
                Json.text(json, "message"),
                Json.list(json, "changes", LogRecord::change));
    }

    static Change change(JsonObject json) {
        Optional<InstanceId> instance =
                Json.optional(json, "id").map(id -> new InstanceId(Kind.of(Json.text(json, "kind")), id));
        return new Change(Json.text(json, "action"), instance, json.toString());
    }
}
