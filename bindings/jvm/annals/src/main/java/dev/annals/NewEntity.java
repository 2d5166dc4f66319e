package dev.annals;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import java.time.Instant;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/** An entity to create: {@code NewEntity.of("person").set("name", "Ada")}. Not for several threads at once. */
public final class NewEntity {
    private final String type;
    private final Map<String, Object> properties = new LinkedHashMap<>();
    private final JsonObject more = new JsonObject();
    private String id = "";

    private NewEntity(String type) {
        this.type = type;
    }

    /**
     * An entity of a type.
     *
     * @param type the name of the type; it need not be declared
     * @return the entity
     */
    public static NewEntity of(String type) {
        return new NewEntity(type);
    }

    /**
     * Gives the id. Without it, Annals makes a UUID.
     *
     * @param id a UUID or a text of 1 to 255 bytes
     * @return this
     * @throws AnnalsException kind {@code invalid-argument}: empty, too long, or no Unicode
     */
    public NewEntity id(String id) {
        this.id = InstanceId.check(id);
        return this;
    }

    /**
     * Sets a property.
     *
     * @param name its name
     * @param value a Boolean, Long (or Integer, Short, Byte), Double (or Float), BigDecimal, String, byte[], LocalDate,
     *     Instant (cut to microseconds), Duration, UUID, {@link Iri}, {@link Literal}, {@link Content}, List, Map with
     *     String keys, or Set of scalars (a multi-valued property)
     * @return this
     * @throws AnnalsException kind {@code invalid-argument}: null or another class, also within a collection; kind
     *     {@code too-large}: more than 32 levels of lists and maps
     */
    public NewEntity set(String name, Object value) {
        properties.put(name, Values.canonical(name, value));
        return this;
    }

    /**
     * Sets properties.
     *
     * @param properties values by name, as in {@link #set}
     * @return this
     * @throws AnnalsException as {@link #set}
     */
    public NewEntity setAll(Map<String, ?> properties) {
        properties.forEach(this::set);
        return this;
    }

    /**
     * Attaches a classification without properties.
     *
     * @param name its name
     * @return this
     */
    public NewEntity classified(String name) {
        return classified(name, Map.of());
    }

    /**
     * Attaches a classification.
     *
     * @param name its name
     * @param properties values by name, as in {@link #set}
     * @return this
     * @throws AnnalsException as {@link #set}
     */
    public NewEntity classified(String name, Map<String, ?> properties) {
        if (!more.has("classifications")) {
            more.add("classifications", new JsonArray());
        }
        JsonObject one = new JsonObject();
        one.addProperty("name", name);
        one.add("properties", Values.json(Values.canonical(properties)));
        more.getAsJsonArray("classifications").add(one);
        return this;
    }

    /**
     * Gives the status.
     *
     * @param status the name of a status
     * @return this
     */
    public NewEntity status(String status) {
        more.addProperty("status", status);
        return this;
    }

    /**
     * Says from when on the entity is true; the commit instant otherwise.
     *
     * @param instant an instant of the past
     * @return this
     */
    public NewEntity validFrom(Instant instant) {
        more.addProperty("validFrom", instant.toString());
        return this;
    }

    /**
     * Creates it only if no such entity exists, not even a deleted one, at the moment of the commit; otherwise the
     * commit is {@code precondition-failed}.
     *
     * @return this
     */
    public NewEntity ifNew() {
        more.addProperty("ifVersion", 0);
        return this;
    }

    String type() {
        return type;
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
        operation.addProperty("kind", "entity");
        operation.addProperty("type", type);
        operation.add("properties", Values.json(properties));
        if (!id.isEmpty()) {
            operation.addProperty("id", id);
        }
        return operation;
    }
}
