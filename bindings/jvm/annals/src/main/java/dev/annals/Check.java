package dev.annals;

import com.google.gson.JsonObject;
import java.util.List;

/**
 * What a comparison of the graph with its log found.
 *
 * @param position the position up to which it compared
 * @param records the number of records
 * @param entities the number of entities
 * @param relationships the number of relationships
 * @param differences where graph and log differ; empty if all is well
 * @param warnings what the repository has reported since it was opened
 */
public record Check(
        long position, long records, long entities, long relationships, List<String> differences, List<String> warnings) {
    static Check of(JsonObject json) {
        return new Check(
                Json.large(json, "position"),
                Json.large(json, "records"),
                Json.large(json, "entities"),
                Json.large(json, "relationships"),
                Json.texts(json, "differences"),
                Json.texts(json, "warnings"));
    }
}
