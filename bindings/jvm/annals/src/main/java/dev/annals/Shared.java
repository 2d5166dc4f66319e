package dev.annals;

import com.google.gson.JsonObject;

/**
 * An entity that walks from two entities reach.
 *
 * @param fromDistance the number of steps from the first entity
 * @param toDistance the number of steps from the second entity
 * @param entity the entity
 */
public record Shared(int fromDistance, int toDistance, Entity entity) {
    static Shared of(JsonObject json) {
        return new Shared(
                json.getAsJsonArray("distances").get(0).getAsInt(),
                json.getAsJsonArray("distances").get(1).getAsInt(),
                Entity.of(json.getAsJsonObject("entity")));
    }
}
