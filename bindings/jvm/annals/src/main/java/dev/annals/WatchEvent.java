package dev.annals;

import com.google.gson.JsonObject;
import java.util.List;
import java.util.function.Function;

/**
 * How one record, or several that a slow reader missed, changed a watched part of the graph.
 *
 * @param from the position before the first record
 * @param position the position of the last record; watch again behind it after an interruption
 * @param records the number of records
 * @param changes the changes
 * @param readAgain true if the changes may not be all, for example after a purge in a tree: read the watched part again, and
 *     go on behind {@code position}
 * @param <C> {@link TreeChange} or {@link InstanceChange}
 */
public record WatchEvent<C>(long from, long position, int records, List<C> changes, boolean readAgain) {
    static <C> WatchEvent<C> of(JsonObject json, Function<JsonObject, C> change) {
        return new WatchEvent<>(
                Json.large(json, "from"),
                Json.large(json, "position"),
                Json.number(json, "records"),
                Json.list(json, "changes", change),
                Json.flag(json, "readAgain"));
    }
}
