package dev.annals;

import com.google.gson.JsonObject;

/**
 * An entity within reach of another one.
 *
 * @param distance the number of steps from the start
 * @param entity the entity
 */
public record Reached(int distance, Entity entity) {
    static Reached of(JsonObject json) {
        return new Reached(Json.number(json, "distance"), Entity.of(json.getAsJsonObject("entity")));
    }
}
