package annals.lab;

import clojure.lang.IPersistentMap;
import clojure.lang.Keyword;
import clojure.lang.PersistentHashMap;
import clojure.lang.PersistentVector;
import com.eclipsesource.json.Json;
import com.eclipsesource.json.JsonArray;
import com.eclipsesource.json.JsonObject;
import com.eclipsesource.json.JsonValue;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Date;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import xtdb.api.XtdbDocument;

/**
 * The document of an instance while it is changed. Its attributes:
 * <ul>
 * <li>{@code kind}, {@code type}, {@code types} (the type and its supertypes), {@code status}, {@code home} ({@code own}
 * or the name of a collection), {@code version}, {@code createTime}, {@code createdBy}, {@code updateTime},
 * {@code updatedBy};
 * <li>{@code state}: {@code live}, {@code deleted}, or {@code proxy} for an entity that only relationships name;
 * <li>{@code from}, {@code to} and {@code ends} of a relationship;
 * <li>{@code property/NAME} for each property, and all texts among their values in {@code texts};
 * <li>{@code classifications}, and for each {@code classification.NAME/home}, {@code classification.NAME/version} and
 * {@code property.NAME/PROPERTY}.
 * </ul>
 */
final class XtdbInstance {
    static final String LIVE = "live";
    static final String DELETED = "deleted";
    static final String PROXY = "proxy";
    static final String OWN = "own";

    private static final String PROPERTY = "property";

    final String id;
    private final Map<Keyword, Object> fields = new HashMap<>();

    /** A type: its name, that name with those of all supertypes, and the status of new instances. */
    record Type(String name, PersistentVector names, String status) {
        static Type of(JsonObject type) {
            List<String> names = type.get("types").asArray().values().stream().map(JsonValue::asString).toList();
            return new Type(type.getString("name", ""), PersistentVector.create(names), type.getString("status", ""));
        }
    }

    XtdbInstance(String id) {
        this.id = id;
    }

    XtdbInstance(XtdbDocument document) {
        this((String) document.getId());
        for (Object entry : document.toMap()) {
            Map.Entry<?, ?> field = (Map.Entry<?, ?>) entry;
            fields.put((Keyword) field.getKey(), field.getValue());
        }
    }

    /** Takes over everything but the id. */
    void copyFrom(XtdbInstance other) {
        fields.putAll(other.fields);
    }

    XtdbDocument document() {
        fields.put(Keyword.intern("xt", "id"), id);
        return XtdbDocument.factory((IPersistentMap) PersistentHashMap.create(fields));
    }

    Object get(String name) {
        return fields.get(Keyword.intern(null, name));
    }

    String text(String name) {
        return (String) get(name);
    }

    void set(String name, Object value) {
        fields.put(Keyword.intern(null, name), value);
    }

    boolean is(String state) {
        return state.equals(get("state"));
    }

    long version() {
        return get("version") == null ? 0 : (Long) get("version");
    }

    void setType(Type type) {
        set("type", type.name());
        set("types", type.names());
    }

    /** Replaces all properties. */
    void setProperties(JsonObject properties) {
        removeNamespace(PROPERTY);
        set("texts", PersistentVector.create(putProperties(PROPERTY, properties)));
    }

    /** Attaches a classification, or replaces one of the same name. */
    void classify(String name, String home, JsonObject properties) {
        declassify(name);
        set("classifications", classifications().cons(name));
        Keyword version = Keyword.intern("classification." + name, "version");
        fields.put(version, 1L);
        fields.put(Keyword.intern("classification." + name, "home"), home);
        putProperties(PROPERTY + "." + name, properties);
    }

    /** Changes properties of a classification that it has. */
    void reclassify(String name, JsonObject patch) {
        fields.computeIfPresent(Keyword.intern("classification." + name, "version"), (key, version) -> (Long) version + 1);
        putProperties(PROPERTY + "." + name, patch);
    }

    void declassify(String name) {
        set("classifications", PersistentVector.create(names().stream().filter(one -> !one.equals(name)).toList()));
        removeNamespace("classification." + name);
        removeNamespace(PROPERTY + "." + name);
    }

    boolean hasClassification(String name) {
        return names().contains(name);
    }

    /** The home of a classification that it has. */
    Object homeOf(String name) {
        return fields.get(Keyword.intern("classification." + name, "home"));
    }

    private PersistentVector classifications() {
        Object found = get("classifications");
        return found == null ? PersistentVector.EMPTY : (PersistentVector) found;
    }

    @SuppressWarnings("unchecked")
    private List<String> names() {
        return (List<String>) classifications();
    }

    private void removeNamespace(String namespace) {
        fields.keySet().removeIf(key -> namespace.equals(key.getNamespace()));
    }

    /** Returns the texts among the values. */
    private List<String> putProperties(String namespace, JsonObject properties) {
        List<String> texts = new ArrayList<>();
        for (JsonObject.Member member : properties) {
            Object value = value(member.getValue());
            fields.put(Keyword.intern(namespace, member.getName()), value);
            if (value instanceof String text) {
                texts.add(text);
            }
        }
        return texts;
    }

    /** A value as the lab sends it: a text, a boolean, a number, or `{"$timestamp": TEXT}`. */
    static Object value(JsonValue json) {
        if (json.isString()) {
            return json.asString();
        }
        if (json.isBoolean()) {
            return json.asBoolean();
        }
        if (json.isObject()) {
            return Date.from(Instant.parse(json.asObject().getString("$timestamp", "")));
        }
        String text = json.toString();
        boolean isWhole = text.chars().allMatch(letter -> letter == '-' || Character.isDigit(letter));
        return isWhole ? (Object) Long.parseLong(text) : (Object) json.asDouble();
    }

    static Object[] values(JsonArray json) {
        return json.values().stream().map(XtdbInstance::value).toArray();
    }

    /** The document in the form that the lab checks. */
    static JsonObject describe(XtdbDocument document) {
        XtdbInstance one = new XtdbInstance(document);
        JsonObject properties = new JsonObject();
        Map<String, Object> sorted = new TreeMap<>();
        one.fields.forEach((key, value) -> {
            if (PROPERTY.equals(key.getNamespace())) {
                sorted.put(key.getName(), value);
            }
        });
        sorted.forEach((name, value) -> properties.add(name, json(value)));
        JsonArray classifications = new JsonArray();
        one.names().forEach(classifications::add);
        String home = one.text("home");
        return new JsonObject()
            .add("type", one.text("type"))
            .add("version", one.version())
            .add("status", one.text("status"))
            .add("home", home.equals(OWN) ? Json.NULL : Json.value(home))
            .add("properties", properties)
            .add("classifications", classifications);
    }

    private static JsonValue json(Object value) {
        if (value instanceof String text) {
            return Json.value(text);
        }
        if (value instanceof Boolean flag) {
            return Json.value(flag);
        }
        if (value instanceof Long number) {
            return Json.value(number);
        }
        if (value instanceof Date date) {
            return new JsonObject().add("$timestamp", date.toInstant().toString());
        }
        // Json.value would write 23.0 as 23.
        return Json.parse(value.toString());
    }
}
