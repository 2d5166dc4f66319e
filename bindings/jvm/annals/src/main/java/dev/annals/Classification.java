package dev.annals;

import com.google.gson.JsonObject;
import java.util.Map;

/**
 * A name with properties of its own, attached to an entity.
 *
 * @param name the name
 * @param version the number of its version, from 1
 * @param created when and by whom it was attached
 * @param updated when and by whom this version was written
 * @param properties the values by name; unmodifiable
 * @param provenance how it came here
 */
public record Classification(
        String name,
        int version,
        Stamp created,
        Stamp updated,
        Map<String, Object> properties,
        Provenance provenance) {
    static Classification of(String name, JsonObject json) {
        return new Classification(
                name,
                Json.number(json, "version"),
                Stamp.of(json.get("created")),
                Stamp.of(json.get("updated")),
                Values.map(json.getAsJsonObject("properties")),
                Provenance.of(json));
    }

    static Classification of(PackReader reader) {
        return new Classification(
                reader.name(),
                reader.u32(),
                reader.stamp(),
                reader.stamp(),
                reader.properties(),
                reader.provenance());
    }
}
