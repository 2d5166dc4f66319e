package dev.annals;

import com.google.gson.JsonObject;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A content that is stored, and that a version of an entity names.
 *
 * @param entityId the id of the entity
 * @param property the property that names it
 * @param content the content
 * @param receipt the commit
 */
public record StoredContent(String entityId, String property, Content content, Receipt receipt) {
    static StoredContent of(JsonObject json) {
        Map<String, String> digests = new LinkedHashMap<>();
        if (json.get("digests") instanceof JsonObject members) {
            members.keySet().forEach(name -> digests.put(name, Json.text(members, name)));
        }
        Content content = new Content(
                Json.text(json, "sha256"),
                Json.large(json, "size"),
                Json.text(json, "mediaType"),
                Json.optional(json, "name"),
                digests);
        return new StoredContent(Json.text(json, "id"), Json.text(json, "property"), content, Receipt.of(json));
    }
}
