package dev.annals;

import com.google.gson.JsonObject;
import java.time.Instant;
import java.util.Optional;

/**
 * A version of an instance in its history.
 *
 * @param version its number, from 1
 * @param contentVersion its number without the versions that changed only classifications
 * @param base the number of the version that it changed; 0 for the first
 * @param position the position of its record
 * @param instant the instant of its record, in microseconds
 * @param author the author; empty if the writer stated none
 * @param message the reason; empty if the writer stated none
 * @param validFrom from when it is true
 * @param status the status
 * @param action the action that made it, such as {@code create}
 * @param isInForce true if a read without times shows it
 * @param formerId the id at that time, if the instance has another one now
 * @param isProxy true if the repository had only a proxy
 * @param home the collection to which the instance belonged, if not to this repository
 * @param content the instance in this version, if {@link History#withContent} asked for it
 */
public record Version(
        int version,
        int contentVersion,
        int base,
        long position,
        Instant instant,
        String author,
        String message,
        Instant validFrom,
        String status,
        String action,
        boolean isInForce,
        Optional<String> formerId,
        boolean isProxy,
        Optional<String> home,
        Optional<Instance> content) {
    static Version of(JsonObject json, Kind kind) {
        return new Version(
                Json.number(json, "version"),
                Json.number(json, Json.has(json, "contentVersion") ? "contentVersion" : "version"),
                Json.number(json, "base"),
                Json.large(json, "position"),
                Json.instant(json, "instant"),
                Json.text(json, "author"),
                Json.text(json, "message"),
                Json.instant(json, "validFrom"),
                Json.text(json, "status"),
                Json.text(json, "action"),
                Json.flag(json, "inForce"),
                Json.optional(json, "formerId"),
                Json.flag(json, "isProxy"),
                Json.optional(json, "home"),
                json.get("content") instanceof JsonObject one ? Optional.of(Instance.of(kind, one)) : Optional.empty());
    }
}
