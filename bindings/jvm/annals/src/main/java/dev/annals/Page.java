package dev.annals;

import com.google.gson.JsonObject;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Function;

/**
 * A page of a result. It may have fewer items than its limit although more follow.
 *
 * @param items the items; unmodifiable
 * @param next the cursor of the next page; absent on the last page only
 * @param count the number of items on all pages, where the endpoint counts them
 * @param <T> the class of an item
 */
public record Page<T>(List<T> items, Optional<String> next, OptionalLong count) {
    static <T> Page<T> of(JsonObject json, Function<JsonObject, T> item) {
        OptionalLong count =
                Json.has(json, "count") ? OptionalLong.of(Json.large(json, "count")) : OptionalLong.empty();
        return new Page<>(Json.list(json, "items", item), Json.optional(json, "next"), count);
    }
}
