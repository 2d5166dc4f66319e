package dev.annals;

import com.google.gson.JsonObject;
import java.util.Optional;

/** An attribute of a type. Every method that adds something returns a new attribute. */
public final class Attribute {
    private final JsonObject json;

    private Attribute(JsonObject json) {
        this.json = json;
    }

    static Attribute of(JsonObject json) {
        return new Attribute(json);
    }

    /**
     * An attribute.
     *
     * @param name its name
     * @param type the type of its values
     * @return the attribute
     */
    public static Attribute of(String name, ValueType type) {
        JsonObject json = new JsonObject();
        json.addProperty("name", name);
        json.addProperty("type", type.toString());
        return new Attribute(json);
    }

    /**
     * An attribute whose values are names of the elements of an enum.
     *
     * @param name its name
     * @param enumeration the name of the enum
     * @return the attribute
     */
    public static Attribute ofEnum(String name, String enumeration) {
        JsonObject json = new JsonObject();
        json.addProperty("name", name);
        json.addProperty("enum", enumeration);
        return new Attribute(json);
    }

    /**
     * Every instance has a value.
     *
     * @return the new attribute
     */
    public Attribute required() {
        return with("required");
    }

    /**
     * No two live instances have the same value.
     *
     * @return the new attribute
     */
    public Attribute unique() {
        return with("unique");
    }

    /**
     * An instance has a set of values.
     *
     * @return the new attribute
     */
    public Attribute many() {
        return with("many");
    }

    /**
     * The value is part of the name of the item in its container; the attribute is then also required.
     *
     * @return the new attribute
     */
    public Attribute key() {
        return with("key");
    }

    /**
     * The value that a new instance gets.
     *
     * @param value a value as in {@link NewEntity#set}
     * @return the new attribute
     * @throws AnnalsException as {@link NewEntity#set}
     */
    public Attribute defaultValue(Object value) {
        JsonObject copy = json.deepCopy();
        copy.add("default", Values.json(Values.canonical(name(), value)));
        return new Attribute(copy);
    }

    /**
     * The name.
     *
     * @return the name
     */
    public String name() {
        return Json.text(json, "name");
    }

    /**
     * The type of the values; absent for elements of an enum.
     *
     * @return the type
     */
    public Optional<ValueType> type() {
        return Json.optional(json, "type").map(ValueType::of);
    }

    /**
     * Says whether every instance has a value.
     *
     * @return true if it is required
     */
    public boolean isRequired() {
        return Json.flag(json, "required");
    }

    /**
     * Says whether no two live instances have the same value.
     *
     * @return true if it is unique
     */
    public boolean isUnique() {
        return Json.flag(json, "unique");
    }

    /**
     * Says whether an instance has a set of values.
     *
     * @return true if it has
     */
    public boolean isMany() {
        return Json.flag(json, "many");
    }

    JsonObject json() {
        return json.deepCopy();
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Attribute attribute && json.equals(attribute.json);
    }

    @Override
    public int hashCode() {
        return json.hashCode();
    }

    /**
     * The JSON form.
     *
     * @return the JSON
     */
    @Override
    public String toString() {
        return json.toString();
    }

    private Attribute with(String flag) {
        JsonObject copy = json.deepCopy();
        copy.addProperty(flag, true);
        return new Attribute(copy);
    }
}
