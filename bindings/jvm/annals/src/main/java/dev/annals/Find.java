package dev.annals;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * A search for entities or relationships: {@code Find.entities("package").atLeast("size", 5).orderBy("-size")}. Every
 * method returns a new search, so a search can be a constant. docs/search.md describes the language.
 *
 * <p>Values have the classes that {@link NewEntity#set} lists. A name that starts with {@code @}, such as
 * {@code @createdBy}, is a header; any other name is a property.
 *
 * @param <T> {@link Entity} or {@link Relationship}
 */
public final class Find<T extends Instance> {
    private final Kind kind;
    private final JsonObject json;

    private Find(Kind kind, JsonObject json) {
        this.kind = kind;
        this.json = json;
    }

    /**
     * Entities.
     *
     * @param types their types, with subtypes; without types, all entities
     * @return the search
     */
    public static Find<Entity> entities(String... types) {
        Find<Entity> find = new Find<>(Kind.ENTITY, new JsonObject());
        return types.length == 0 ? find : find.type(types);
    }

    /**
     * Relationships.
     *
     * @param types their types, with subtypes; without types, all relationships
     * @return the search
     */
    public static Find<Relationship> relationships(String... types) {
        Find<Relationship> find = new Find<>(Kind.RELATIONSHIP, new JsonObject());
        return types.length == 0 ? find : find.type(types);
    }

    /**
     * A search for entities in the text form, such as {@code package where size >= 5 order by size desc}. The other
     * methods extend it.
     *
     * @param search the search; it is read when you ask for its hits
     * @return the search
     */
    public static Find<Entity> text(String search) {
        return entities().read(search);
    }

    /**
     * A search for relationships in the text form, such as {@code knows where since > 1830}. The other methods extend it.
     *
     * @param search the search; it is read when you ask for its hits
     * @return the search
     */
    public static Find<Relationship> textOfRelationships(String search) {
        return relationships().read(search);
    }

    /**
     * A search in its JSON form, which docs/search.md describes. Its member {@code kind} says what it finds.
     *
     * @param json the form
     * @return the search
     * @throws AnnalsException kind {@code invalid-argument}: no JSON object
     */
    public static Find<? extends Instance> json(String json) {
        JsonObject members = Json.object(Json.parse(json));
        Kind kind = Json.optional(members, "kind").map(Kind::of).orElse(Kind.ENTITY);
        return kind == Kind.ENTITY
                ? new Find<Entity>(kind, members)
                : new Find<Relationship>(kind, members);
    }

    /** The search, and what this text says. */
    Find<T> read(String search) {
        return with("q", search);
    }

    Kind kind() {
        return kind;
    }

    /** The fields of docs/search.md, with the kind. */
    JsonObject request() {
        JsonObject request = json.deepCopy();
        request.addProperty("kind", kind.toString());
        return request;
    }

    OptionalLong limit() {
        return json.has("limit") ? OptionalLong.of(json.get("limit").getAsLong()) : OptionalLong.empty();
    }

    Optional<String> after() {
        return Json.optional(json, "after");
    }

    @SuppressWarnings("unchecked") // The kind says which of the two it is.
    T item(JsonObject found) {
        return (T) Instance.of(kind, found);
    }

    /**
     * Only these types and their subtypes.
     *
     * @param types the names
     * @return the new search
     */
    public Find<T> type(String... types) {
        return adding("type", types);
    }

    /**
     * Only exactly these types, without their subtypes.
     *
     * @param types the names
     * @return the new search
     */
    public Find<T> only(String... types) {
        return adding("only", types);
    }

    /**
     * Only entities with all of these classifications.
     *
     * @param names the classifications
     * @return the new search
     */
    public Find<T> classified(String... names) {
        return adding("classified", names);
    }

    /**
     * Only instances that fulfil all of these conditions.
     *
     * @param conditions the conditions
     * @return the new search
     */
    public Find<T> where(Condition... conditions) {
        JsonObject copy = json.deepCopy();
        JsonArray all = copy.has("where") ? copy.getAsJsonArray("where") : new JsonArray();
        for (Condition condition : conditions) {
            all.add(condition.json());
        }
        copy.add("where", all);
        return new Find<>(kind, copy);
    }

    /**
     * Only instances that fulfil a condition in the text form, such as {@code size >= 5}.
     *
     * @param condition the condition
     * @return the new search
     */
    public Find<T> where(String condition) {
        return where(Condition.text(condition));
    }

    /**
     * Only instances that fulfil a condition in the JSON form.
     *
     * @param json the JSON
     * @return the new search
     * @throws AnnalsException kind {@code invalid-argument}: the text is no JSON
     */
    public Find<T> whereJson(String json) {
        return where(Condition.json(json));
    }

    /**
     * Only instances with this value.
     *
     * @param name the property
     * @param value the value
     * @return the new search
     */
    public Find<T> equal(String name, Object value) {
        return where(Condition.equal(name, value));
    }

    /**
     * Only instances with a greater or equal value.
     *
     * @param name the property
     * @param value the bound
     * @return the new search
     */
    public Find<T> atLeast(String name, Object value) {
        return where(Condition.atLeast(name, value));
    }

    /**
     * Only instances with a less or equal value.
     *
     * @param name the property
     * @param value the bound
     * @return the new search
     */
    public Find<T> atMost(String name, Object value) {
        return where(Condition.atMost(name, value));
    }

    /**
     * Only instances with a value between these bounds, both included.
     *
     * @param name the property
     * @param least the lower bound
     * @param most the upper bound
     * @return the new search
     */
    public Find<T> between(String name, Object least, Object most) {
        return where(Condition.between(name, least, most));
    }

    /**
     * Only instances with a text that starts so.
     *
     * @param name the property
     * @param start the start
     * @return the new search
     */
    public Find<T> startsWith(String name, String start) {
        return where(Condition.startsWith(name, start));
    }

    /**
     * Only instances with a text that contains this part.
     *
     * @param name the property
     * @param part the part
     * @return the new search
     */
    public Find<T> contains(String name, String part) {
        return where(Condition.contains(name, part));
    }

    /**
     * Only instances with a text that this regular expression matches as a whole.
     *
     * @param name the property
     * @param expression the regular expression
     * @return the new search
     */
    public Find<T> matches(String name, String expression) {
        return where(Condition.matches(name, expression));
    }

    /**
     * Only instances with one of these statuses.
     *
     * @param statuses the names of statuses
     * @return the new search
     */
    public Find<T> status(String... statuses) {
        return adding("status", statuses);
    }

    /**
     * Also deleted instances.
     *
     * @return the new search
     */
    public Find<T> withDeleted() {
        return with("deleted", "with");
    }

    /**
     * Only deleted instances.
     *
     * @return the new search
     */
    public Find<T> onlyDeleted() {
        return with("deleted", "only");
    }

    /**
     * Also proxies of entities that are not stored here.
     *
     * @return the new search
     */
    public Find<T> withProxies() {
        return with("proxies", "with");
    }

    /**
     * Orders the hits; at most 8 keys. Hits without the property come last. Without an order they come by age.
     *
     * @param keys names of properties or headers, with a minus sign for largest first: {@code -size}
     * @return the new search
     */
    public Find<T> orderBy(String... keys) {
        return adding("orderBy", keys);
    }

    /**
     * At most this many hits. A stream without a limit has all hits; a page has at most 100 unless you say otherwise.
     *
     * @param limit from 1; of a page over HTTP at most 1,000
     * @return the new search
     */
    public Find<T> limit(int limit) {
        JsonObject copy = json.deepCopy();
        copy.addProperty("limit", limit);
        return new Find<>(kind, copy);
    }

    /**
     * Skips hits.
     *
     * @param offset the number of hits to skip, from 0
     * @return the new search
     */
    public Find<T> offset(int offset) {
        JsonObject copy = json.deepCopy();
        copy.addProperty("offset", offset);
        return new Find<>(kind, copy);
    }

    /**
     * Begins behind a page.
     *
     * @param cursor {@link Page#next} of that page
     * @return the new search
     */
    public Find<T> after(String cursor) {
        return with("after", cursor);
    }

    /**
     * The JSON form.
     *
     * @return the JSON
     */
    @Override
    public String toString() {
        return request().toString();
    }

    private Find<T> with(String name, String text) {
        JsonObject copy = json.deepCopy();
        copy.addProperty(name, text);
        return new Find<>(kind, copy);
    }

    private Find<T> adding(String name, String... texts) {
        if (texts.length == 0) {
            return this;
        }
        JsonObject copy = json.deepCopy();
        JsonElement known = copy.get(name);
        JsonArray all = known instanceof JsonArray array ? array : new JsonArray();
        List.of(texts).forEach(all::add);
        copy.add(name, all);
        return new Find<>(kind, copy);
    }
}
