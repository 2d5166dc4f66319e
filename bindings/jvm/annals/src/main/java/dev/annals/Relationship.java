package dev.annals;

import com.google.gson.JsonObject;
import java.util.Map;

/** A relationship between two entities, as one version shows it. */
public final class Relationship extends Instance {
    private final String from;
    private final String to;

    Relationship(String id, String type, String from, String to, Map<String, Object> properties, Header header) {
        super(id, type, properties, header);
        this.from = from;
        this.to = to;
    }

    static Relationship of(JsonObject json) {
        return new Relationship(
                Json.text(json, "id"),
                Json.text(json, "type"),
                Json.text(json, "from"),
                Json.text(json, "to"),
                properties(json),
                Header.Fixed.of(json));
    }

    @Override
    public InstanceId instanceId() {
        return InstanceId.relationship(id());
    }

    /**
     * The entity at its start.
     *
     * @return the id of the entity
     */
    public String from() {
        return from;
    }

    /**
     * The entity at its end.
     *
     * @return the id of the entity
     */
    public String to() {
        return to;
    }

    @Override
    public String toString() {
        return from() + " -> " + to() + ": " + super.toString();
    }
}
