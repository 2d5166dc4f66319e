package dev.annals;

import com.google.gson.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A part of the graph.
 *
 * @param entities the entities, nearest first, each once
 * @param relationships the relationships between them, each once
 */
public record Subgraph(List<Reached> entities, List<Relationship> relationships) {
    /** Reads all pages: first the entities, then the relationships. */
    static Subgraph of(Pages.Read<JsonObject> read) {
        List<Reached> entities = new ArrayList<>();
        List<Relationship> relationships = new ArrayList<>();
        Optional<String> after = Optional.empty();
        do {
            Page<JsonObject> page = read.page(Pages.SIZE, after);
            JsonObject json = page.items().get(0);
            entities.addAll(Json.list(json, "entities", Reached::of));
            relationships.addAll(Json.list(json, "relationships", Relationship::of));
            after = page.next();
        } while (after.isPresent());
        return new Subgraph(List.copyOf(entities), List.copyOf(relationships));
    }
}
