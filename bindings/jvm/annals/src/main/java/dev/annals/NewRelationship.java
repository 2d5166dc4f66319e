package dev.annals;

import com.google.gson.JsonObject;
import java.time.Instant;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/** A relationship to create: {@code NewRelationship.of("knows", "ada", "charles")}. Not for several threads at once. */
public final class NewRelationship {
    private final String type;
    private final String from;
    private final String to;
    private final Map<String, Object> properties = new LinkedHashMap<>();
    private final JsonObject more = new JsonObject();
    private String id = "";

    private NewRelationship(String type, String from, String to) {
        this.type = type;
        this.from = from;
        this.to = to;
    }

    /**
     * A relationship between two entities.
     *
     * @param type the name of the type; it need not be declared
     * @param from the id of the entity at its start
     * @param to the id of the entity at its end
     * @return the relationship
     * @throws AnnalsException kind {@code invalid-argument}: an id is empty, too long, or no Unicode
     */
    public static NewRelationship of(String type, String from, String to) {
        return new NewRelationship(type, InstanceId.check(from), InstanceId.check(to));
    }

    /**
     * Gives the id. Without it, Annals makes a UUID.
     *
     * @param id a UUID or a text of 1 to 255 bytes
     * @return this
     * @throws AnnalsException kind {@code invalid-argument}: empty, too long, or no Unicode
     */
    public NewRelationship id(String id) {
        this.id = InstanceId.check(id);
        return this;
    }

    /**
     * Sets a property.
     *
     * @param name its name
     * @param value a value as in {@link NewEntity#set}
     * @return this
     * @throws AnnalsException as {@link NewEntity#set}
     */
    public NewRelationship set(String name, Object value) {
        properties.put(name, Values.canonical(name, value));
        return this;
    }

    /**
     * Sets properties.
     *
     * @param properties values by name, as in {@link NewEntity#set}
     * @return this
     * @throws AnnalsException as {@link NewEntity#set}
     */
    public NewRelationship setAll(Map<String, ?> properties) {
        properties.forEach(this::set);
        return this;
    }

    /**
     * Gives the status.
     *
     * @param status the name of a status
     * @return this
     */
    public NewRelationship status(String status) {
        more.addProperty("status", status);
        return this;
    }

    /**
     * Says from when on the relationship is true; the commit instant otherwise.
     *
     * @param instant an instant of the past
     * @return this
     */
    public NewRelationship validFrom(Instant instant) {
        more.addProperty("validFrom", instant.toString());
        return this;
    }

    /**
     * Creates it only if no such relationship exists, not even a deleted one, at the moment of the commit; otherwise
     * the commit is {@code precondition-failed}.
     *
     * @return this
     */
    public NewRelationship ifNew() {
        more.addProperty("ifVersion", 0);
        return this;
    }

    String type() {
        return type;
    }

    String from() {
        return from;
    }

    String to() {
        return to;
    }

    String id() {
        return id;
    }

    Map<String, Object> properties() {
        return Collections.unmodifiableMap(properties);
    }

    boolean isPlain() {
        return more.size() == 0;
    }

    JsonObject operation(String action, String id) {
        JsonObject operation = more.deepCopy();
        operation.addProperty("action", action);
        operation.addProperty("kind", "relationship");
        operation.addProperty("type", type);
        operation.addProperty("from", from);
        operation.addProperty("to", to);
        operation.add("properties", Values.json(properties));
        if (!id.isEmpty()) {
            operation.addProperty("id", id);
        }
        return operation;
    }
}
