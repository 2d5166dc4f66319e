package dev.annals;

import com.google.gson.JsonObject;

/**
 * A relationship of an entity with the entity at its other end.
 *
 * @param direction {@code OUT} if the relationship leads to the neighbour, otherwise {@code IN}
 * @param relationship the relationship
 * @param entity the neighbour
 */
public record Neighbor(Direction direction, Relationship relationship, Entity entity) {
    static Neighbor of(JsonObject json, Direction asked) {
        Direction direction =
                Json.optional(json, "direction").map(Direction::of).orElse(asked);
        return new Neighbor(
                direction,
                Relationship.of(json.getAsJsonObject("relationship")),
                Entity.of(json.getAsJsonObject("entity")));
    }

    static Neighbor of(JsonObject json) {
        return of(json, Direction.OUT);
    }
}
