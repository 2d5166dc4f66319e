package dev.annals;

import com.google.gson.JsonObject;
import java.util.Optional;

/**
 * An item of a tree, or one of its properties.
 *
 * @param id the id of the entity
 * @param path the path
 * @param type the type of the entity
 * @param property the name of the property, if the path leads to one
 * @param value the properties of the item as a map, or the value of the property
 */
public record TreeEntry(String id, String path, String type, Optional<String> property, Object value) {
    static TreeEntry of(JsonObject json) {
        return new TreeEntry(
                Json.text(json, "id"),
                Json.text(json, "path"),
                Json.text(json, "type"),
                Json.optional(json, "property"),
                Values.value(json.get("value")));
    }
}
