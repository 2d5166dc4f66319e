package dev.annals;

import com.google.gson.JsonObject;
import java.time.Instant;
import java.util.List;

/**
 * A record that takes back others.
 *
 * @param position the position of the record; if nothing changed, the last one that it saw
 * @param instant the instant of the record, in microseconds
 * @param stays the first 1,000 instances that stay, or of which a part stays, because later records built on them: only
 *     with {@link Keep#THEIRS}
 * @param staysCount the number of all of these
 * @param undone the first 1,000 instances whose later changes are undone, too: only with {@link Keep#MINE}
 * @param undoneCount the number of all of these
 */
public record TakenBack(
        long position, Instant instant, List<Stays> stays, long staysCount, List<Stays> undone, long undoneCount) {
    /**
     * An instance on which later records built.
     *
     * @param instance the instance
     * @param detail how a later record built on it
     */
    public record Stays(InstanceId instance, String detail) {
        static Stays of(JsonObject json) {
            return new Stays(
                    new InstanceId(Kind.of(Json.text(json, "kind")), Json.text(json, "id")), Json.text(json, "detail"));
        }
    }

    static TakenBack of(JsonObject json) {
        return new TakenBack(
                Json.large(json, "position"),
                Json.instant(json, "instant"),
                Json.list(json, "stays", Stays::of),
                Json.large(json, "staysCount"),
                Json.list(json, "undone", Stays::of),
                Json.large(json, "undoneCount"));
    }
}
