package dev.annals;

import com.google.gson.JsonObject;
import java.util.List;

/**
 * A path between two entities.
 *
 * @param length the number of steps, or the sum of the weights
 * @param start the entity where it starts
 * @param steps the steps in order, each with the relationship that it follows and the entity that it reaches
 */
public record GraphPath(double length, Entity start, List<Neighbor> steps) {
    static GraphPath of(JsonObject json) {
        return new GraphPath(
                json.get("length").getAsDouble(),
                Entity.of(json.getAsJsonObject("start")),
                Json.list(json, "steps", Neighbor::of));
    }
}
