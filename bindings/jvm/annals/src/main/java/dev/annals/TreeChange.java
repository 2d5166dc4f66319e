package dev.annals;

import com.google.gson.JsonObject;
import java.util.Optional;

/**
 * How an item of a tree changed between two times.
 *
 * @param change {@code created}, {@code deleted}, {@code moved} or {@code modified}
 * @param path the path at the later time; of a deleted item at the earlier time
 * @param id the id of the entity
 * @param from the former path of a moved item
 * @param previous the item before a moved item in a list that users order, then and now
 * @param difference the difference of a modified item
 */
public record TreeChange(
        String change,
        String path,
        String id,
        Optional<String> from,
        Optional<Changed> previous,
        Optional<Difference> difference) {
    static TreeChange of(JsonObject json) {
        return new TreeChange(
                Json.text(json, "change"),
                Json.text(json, "path"),
                Json.text(json, "id"),
                Json.optional(json, "from"),
                json.get("previous") instanceof JsonObject one ? Optional.of(Changed.of(one)) : Optional.empty(),
                json.get("difference") instanceof JsonObject one ? Optional.of(Difference.of(one)) : Optional.empty());
    }
}
