package dev.annals;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import java.util.List;
import java.util.Optional;

/**
 * The declaration of a type: {@code TypeDefinition.entity("person").attribute(Attribute.of("name",
 * ValueType.STRING).required())}. Every method that adds something returns a new declaration. docs/json.md describes
 * each field.
 */
public final class TypeDefinition {
    private final JsonObject json;

    private TypeDefinition(JsonObject json) {
        this.json = json;
    }

    private static TypeDefinition of(TypeKind kind, String name) {
        JsonObject json = new JsonObject();
        json.addProperty("kind", kind.toString());
        json.addProperty("name", name);
        return new TypeDefinition(json);
    }

    static TypeDefinition of(JsonObject json) {
        return new TypeDefinition(json);
    }

    /**
     * A type of entities.
     *
     * @param name its name
     * @return the declaration
     */
    public static TypeDefinition entity(String name) {
        return of(TypeKind.ENTITY, name);
    }

    /**
     * A type of relationships.
     *
     * @param name its name
     * @return the declaration
     */
    public static TypeDefinition relationship(String name) {
        return of(TypeKind.RELATIONSHIP, name);
    }

    /**
     * A classification.
     *
     * @param name its name
     * @return the declaration
     */
    public static TypeDefinition classification(String name) {
        return of(TypeKind.CLASSIFICATION, name);
    }

    /**
     * A set of named elements.
     *
     * @param name its name
     * @return the declaration
     */
    public static TypeDefinition enumeration(String name) {
        return of(TypeKind.ENUM, name);
    }

    /**
     * A declaration in the JSON form of docs/json.md, for the fields that no method sets.
     *
     * @param json the JSON
     * @return the declaration
     * @throws AnnalsException kind {@code invalid-argument}: the text is no JSON object
     */
    public static TypeDefinition json(String json) {
        return new TypeDefinition(Json.object(Json.parse(json)));
    }

    /**
     * Adds an attribute.
     *
     * @param attribute the attribute
     * @return the new declaration
     */
    public TypeDefinition attribute(Attribute attribute) {
        return adding("attributes", attribute.json());
    }

    /**
     * Adds supertypes.
     *
     * @param names their names
     * @return the new declaration
     */
    public TypeDefinition supertype(String... names) {
        return adding("supertypes", names);
    }

    /**
     * Refuses properties that the type does not declare.
     *
     * @return the new declaration
     */
    public TypeDefinition closed() {
        return with("closed", true);
    }

    /**
     * Describes the type for people.
     *
     * @param text the description
     * @return the new declaration
     */
    public TypeDefinition description(String text) {
        JsonObject copy = json.deepCopy();
        copy.addProperty("description", text);
        return new TypeDefinition(copy);
    }

    /**
     * Lists the allowed statuses.
     *
     * @param names the statuses; the first is the initial one
     * @return the new declaration
     */
    public TypeDefinition statuses(String... names) {
        TypeDefinition copy = adding("statuses", names);
        copy.json.addProperty("initialStatus", names[0]);
        return copy;
    }

    /**
     * Says which entities may be at the start of a relationship.
     *
     * @param type the type of these entities
     * @param many true if an entity may have several such relationships at this end
     * @return the new declaration
     */
    public TypeDefinition from(String type, boolean many) {
        return end("from", type, many);
    }

    /**
     * Says which entities may be at the end of a relationship.
     *
     * @param type the type of these entities
     * @param many true if an entity may have several such relationships at this end
     * @return the new declaration
     */
    public TypeDefinition to(String type, boolean many) {
        return end("to", type, many);
    }

    /**
     * Makes the relationships containments: they lead from a container to its children.
     *
     * @param isOrdered true if users order the children
     * @return the new declaration
     */
    public TypeDefinition containment(boolean isOrdered) {
        JsonObject containment = new JsonObject();
        containment.addProperty("ordered", isOrdered);
        JsonObject copy = json.deepCopy();
        copy.add("containment", containment);
        return new TypeDefinition(copy);
    }

    /**
     * Says to which types of entities a classification applies.
     *
     * @param types the names
     * @return the new declaration
     */
    public TypeDefinition appliesTo(String... types) {
        return adding("appliesTo", types);
    }

    /**
     * Adds an element to an enum.
     *
     * @param ordinal its number, from 0
     * @param name its name
     * @return the new declaration
     */
    public TypeDefinition element(int ordinal, String name) {
        JsonObject element = new JsonObject();
        element.addProperty("ordinal", ordinal);
        element.addProperty("name", name);
        return adding("elements", element);
    }

    /**
     * The kind.
     *
     * @return the kind
     */
    public TypeKind kind() {
        return TypeKind.of(Json.text(json, "kind"));
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
     * The description for people.
     *
     * @return the text; empty if there is none
     */
    public String description() {
        return Json.text(json, "description");
    }

    /**
     * The id that other systems have for the type.
     *
     * @return the id, if there is one
     */
    public Optional<String> externalId() {
        return Json.optional(json, "externalId");
    }

    /**
     * Says whether the type refuses properties that it does not declare.
     *
     * @return true if it is closed
     */
    public boolean isClosed() {
        return Json.flag(json, "closed");
    }

    /**
     * The attributes that the type itself declares.
     *
     * @return the attributes
     */
    public List<Attribute> attributes() {
        return Json.list(json, "attributes", Attribute::of);
    }

    /**
     * The supertypes.
     *
     * @return their names
     */
    public List<String> supertypes() {
        return Json.texts(json, "supertypes");
    }

    /**
     * The allowed statuses.
     *
     * @return their names; empty if any name is allowed
     */
    public List<String> statuses() {
        return Json.texts(json, "statuses");
    }

    JsonObject json() {
        return json.deepCopy();
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof TypeDefinition type && json.equals(type.json);
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

    private TypeDefinition end(String name, String type, boolean many) {
        JsonObject end = new JsonObject();
        end.addProperty("type", type);
        end.addProperty("many", many);
        JsonObject copy = json.deepCopy();
        copy.add(name, end);
        return new TypeDefinition(copy);
    }

    private TypeDefinition with(String name, boolean flag) {
        JsonObject copy = json.deepCopy();
        copy.addProperty(name, flag);
        return new TypeDefinition(copy);
    }

    private TypeDefinition adding(String name, String... texts) {
        JsonObject copy = json.deepCopy();
        JsonArray all = copy.has(name) ? copy.getAsJsonArray(name) : new JsonArray();
        List.of(texts).forEach(all::add);
        copy.add(name, all);
        return new TypeDefinition(copy);
    }

    private TypeDefinition adding(String name, JsonObject item) {
        JsonObject copy = json.deepCopy();
        JsonArray all = copy.has(name) ? copy.getAsJsonArray(name) : new JsonArray();
        all.add(item);
        copy.add(name, all);
        return new TypeDefinition(copy);
    }
}
