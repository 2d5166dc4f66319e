package dev.annals;

import com.google.gson.JsonObject;
import java.util.Map;

/** An entity, as one version shows it. */
public final class Entity extends Instance {
    Entity(String id, String type, Map<String, Object> properties, Header header) {
        super(id, type, properties, header);
    }

    static Entity of(JsonObject json) {
        return new Entity(Json.text(json, "id"), Json.text(json, "type"), properties(json), Header.Fixed.of(json));
    }

    @Override
    public InstanceId instanceId() {
        return InstanceId.entity(id());
    }

    /**
     * The classifications.
     *
     * @return the classifications by name, unmodifiable
     */
    public Map<String, Classification> classifications() {
        return header().classifications();
    }
}
