package dev.annals;

import com.google.gson.JsonObject;
import java.util.List;

/**
 * The outcome of a transaction that was checked and not written.
 *
 * @param ids the ids of the instances that it would create
 * @param entities the number of entities after it
 * @param relationships the number of relationships after it
 */
public record DryRun(List<String> ids, long entities, long relationships) {
    static DryRun of(JsonObject json) {
        return new DryRun(Json.texts(json, "ids"), Json.large(json, "entities"), Json.large(json, "relationships"));
    }
}
