package dev.annals;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Steps that change some properties: {@code Patch.of("ada").set("city", "London").unset("age")}. Not for several
 * threads at once.
 */
public final class Patch {
    private final InstanceId instance;
    private final List<Step> steps = new ArrayList<>();
    private Optional<JsonPrimitive> ifVersion = Optional.empty();

    private Patch(InstanceId instance) {
        this.instance = instance;
    }

    /** What a step does. The order is that of the packed form. */
    enum Verb {
        SET,
        UNSET,
        ADD,
        REMOVE,
        CLEAR
    }

    /** A step. Only set, add and remove have a value; clear has no name. */
    record Step(Verb verb, String name, Object value) {
        JsonObject json() {
            JsonObject json = new JsonObject();
            String key = verb.name().toLowerCase(java.util.Locale.ROOT);
            if (verb == Verb.CLEAR) {
                json.addProperty(key, true);
            } else {
                json.addProperty(key, name);
            }
            if (value != null) {
                json.add("value", Values.json(value));
            }
            return json;
        }
    }

    /**
     * A patch of an entity.
     *
     * @param entityId its id
     * @return the patch
     */
    public static Patch of(String entityId) {
        return new Patch(InstanceId.entity(entityId));
    }

    /**
     * A patch of an instance.
     *
     * @param instance the instance
     * @return the patch
     */
    public static Patch of(InstanceId instance) {
        return new Patch(instance);
    }

    /**
     * Sets a property.
     *
     * @param name its name
     * @param value a value as in {@link NewEntity#set}
     * @return this
     * @throws AnnalsException as {@link NewEntity#set}
     */
    public Patch set(String name, Object value) {
        return step(Verb.SET, name, Values.canonical(name, value));
    }

    /**
     * Removes a property.
     *
     * @param name its name
     * @return this
     */
    public Patch unset(String name) {
        return step(Verb.UNSET, name, null);
    }

    /**
     * Adds a value to a multi-valued property.
     *
     * @param name its name
     * @param value a scalar as in {@link NewEntity#set}
     * @return this
     * @throws AnnalsException as {@link NewEntity#set}
     */
    public Patch add(String name, Object value) {
        return step(Verb.ADD, name, Values.canonical(name, value));
    }

    /**
     * Removes a value from a multi-valued property; the property goes with its last value.
     *
     * @param name its name
     * @param value the value
     * @return this
     * @throws AnnalsException as {@link NewEntity#set}
     */
    public Patch remove(String name, Object value) {
        return step(Verb.REMOVE, name, Values.canonical(name, value));
    }

    /**
     * Removes all properties.
     *
     * @return this
     */
    public Patch clear() {
        return step(Verb.CLEAR, "", null);
    }

    /**
     * Changes it only if this is the number of its last written version at the moment of the commit, before the
     * transaction; otherwise the commit is {@code precondition-failed}.
     *
     * @param version {@link Instance#latestVersion}
     * @return this
     */
    public Patch ifVersion(int version) {
        ifVersion = Optional.of(new JsonPrimitive(version));
        return this;
    }

    /**
     * Changes it only if this is the instance, and its last written version, at the moment of the commit, before the
     * transaction; otherwise the commit is {@code precondition-failed}. Unlike {@link #ifVersion} it tells an instance
     * from a later one with the same id.
     *
     * @param revision {@link Instance#revision}
     * @return this
     */
    public Patch ifRevision(String revision) {
        ifVersion = Optional.of(new JsonPrimitive(revision));
        return this;
    }

    private Patch step(Verb verb, String name, Object value) {
        steps.add(new Step(verb, name, value));
        return this;
    }

    InstanceId instance() {
        return instance;
    }

    List<Step> steps() {
        return List.copyOf(steps);
    }

    boolean isPlain() {
        return ifVersion.isEmpty();
    }

    JsonArray json() {
        JsonArray json = new JsonArray();
        steps.forEach(step -> json.add(step.json()));
        return json;
    }

    JsonObject operation() {
        JsonObject operation = Operations.on("update", instance);
        operation.add("patch", json());
        ifVersion.ifPresent(version -> operation.add("ifVersion", version));
        return operation;
    }
}
