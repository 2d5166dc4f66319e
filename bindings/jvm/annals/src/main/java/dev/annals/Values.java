package dev.annals;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.OffsetDateTime;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;

/**
 * The values of properties: which classes they have, and their JSON form of docs/json.md.
 *
 * <p>Boolean, Long, Double, BigDecimal, String, byte[], LocalDate, Instant, Duration, UUID, {@link Iri},
 * {@link Literal}, {@link Content}, List, Map, Set.
 */
final class Values {
    /** Levels of lists and maps in a value, as docs/semantics.md says. */
    static final int DEPTH_MAX = 32;

    private Values() {}

    /**
     * The value as the repository keeps it, independent of the caller's: narrow numbers widened, collections copied,
     * instants in microseconds.
     *
     * <p>Errors: {@code invalid-argument} for another class, {@code too-large} beyond the levels.
     */
    static Object canonical(String name, Object value) {
        return canonical(name, value, 0);
    }

    static Map<String, Object> canonical(Map<String, ?> properties) {
        Map<String, Object> copy = new LinkedHashMap<>();
        properties.forEach((name, value) -> copy.put(name, canonical(name, value)));
        return Collections.unmodifiableMap(copy);
    }

    private static Object canonical(String name, Object value, int depth) {
        if (value instanceof String text) {
            try {
                Utf8.check(text);
            } catch (InvalidArgumentException error) {
                throw AnnalsException.of("invalid-argument", "property " + name + ": " + error.getMessage(), error);
            }
            return text;
        }
        if (value instanceof Long || value instanceof Boolean || value instanceof Double) {
            return value;
        }
        if (value instanceof Integer || value instanceof Short || value instanceof Byte) {
            return ((Number) value).longValue();
        }
        if (value instanceof Float number) {
            return number.doubleValue();
        }
        if (value instanceof Instant instant) {
            return instant.truncatedTo(ChronoUnit.MICROS);
        }
        if (value instanceof byte[] bytes) {
            return bytes.clone();
        }
        if (value instanceof BigDecimal
                || value instanceof LocalDate
                || value instanceof Duration
                || value instanceof UUID
                || value instanceof Iri
                || value instanceof Literal
                || value instanceof Content) {
            return value;
        }
        if (value instanceof Collection || value instanceof Map) {
            if (depth >= DEPTH_MAX) {
                throw AnnalsException.of(
                        "too-large",
                        "property " + name + ": expected at most " + DEPTH_MAX
                                + " levels of lists and maps, found more",
                        (String) null);
            }
            return many(name, value, depth + 1);
        }
        throw unfit(name, value);
    }

    private static Object many(String name, Object value, int depth) {
        if (value instanceof List<?> list) {
            List<Object> copy = new ArrayList<>(list.size());
            list.forEach(item -> copy.add(canonical(name, item, depth)));
            return Collections.unmodifiableList(copy);
        }
        if (value instanceof Set<?> set) {
            Set<Object> copy = new LinkedHashSet<>();
            set.forEach(item -> copy.add(canonical(name, item, depth)));
            return Collections.unmodifiableSet(copy);
        }
        if (value instanceof Map<?, ?> map) {
            Map<String, Object> copy = new LinkedHashMap<>();
            map.forEach((key, item) -> {
                if (!(key instanceof String text)) {
                    throw unfit(name + ", a key of a map", key);
                }
                Utf8.check(text);
                copy.put(text, canonical(name, item, depth));
            });
            return Collections.unmodifiableMap(copy);
        }
        throw unfit(name, value);
    }

    private static AnnalsException unfit(String name, Object value) {
        String found = value == null
                ? "null; leave the property out, or unset it"
                : value.getClass().getName();
        return AnnalsException.invalid("property " + name
                + ": expected a Boolean, Long, Double, BigDecimal, String, byte[], "
                + "LocalDate, Instant, Duration, UUID, Iri, Literal, Content, List, Map or Set, found " + found);
    }

    /** The JSON form of a canonical value. */
    static JsonElement json(Object value) {
        if (value instanceof String text) {
            return new JsonPrimitive(text);
        }
        if (value instanceof Boolean flag) {
            return new JsonPrimitive(flag);
        }
        if (value instanceof Double number) {
            if (number.isNaN() || number.isInfinite()) {
                return form("$float", number.isNaN() ? "NaN" : number > 0 ? "inf" : "-inf");
            }
            return new JsonPrimitive(number);
        }
        if (value instanceof Long number) {
            return new JsonPrimitive(number);
        }
        if (value instanceof List<?> list) {
            return array(list);
        }
        if (value instanceof Set<?> set) {
            JsonObject form = new JsonObject();
            form.add("$set", array(set));
            return form;
        }
        if (value instanceof Map<?, ?> map) {
            JsonObject members = new JsonObject();
            map.forEach((name, item) -> members.add((String) name, json(item)));
            if (members.keySet().stream().noneMatch(name -> name.startsWith("$"))) {
                return members;
            }
            JsonObject form = new JsonObject();
            form.add("$map", members);
            return form;
        }
        return scalar(value);
    }

    private static JsonObject scalar(Object value) {
        if (value instanceof LocalDate) {
            return form("$date", value.toString());
        }
        if (value instanceof Instant) {
            return form("$timestamp", value.toString());
        }
        if (value instanceof Duration duration) {
            return form("$duration", Durations.text(duration));
        }
        if (value instanceof BigDecimal decimal) {
            return form("$decimal", decimal.toPlainString());
        }
        if (value instanceof byte[] bytes) {
            return form("$bytes", Base64.getEncoder().encodeToString(bytes));
        }
        if (value instanceof UUID) {
            return form("$uuid", value.toString());
        }
        if (value instanceof Iri) {
            return form("$iri", value.toString());
        }
        if (value instanceof Literal literal) {
            JsonObject form = form("$literal", literal.text());
            literal.language().ifPresent(tag -> form.addProperty("language", tag));
            literal.datatype().ifPresent(iri -> form.addProperty("datatype", iri.text()));
            return form;
        }
        if (value instanceof Content content) {
            return json(content);
        }
        throw unfit("", value);
    }

    private static JsonObject json(Content content) {
        JsonObject form = form("$content", content.sha256());
        form.addProperty("size", content.size());
        form.addProperty("mediaType", content.mediaType());
        content.name().ifPresent(name -> form.addProperty("name", name));
        if (!content.digests().isEmpty()) {
            JsonObject digests = new JsonObject();
            content.digests().forEach(digests::addProperty);
            form.add("digests", digests);
        }
        return form;
    }

    static JsonObject json(Map<String, Object> properties) {
        JsonObject members = new JsonObject();
        properties.forEach((name, value) -> members.add(name, json(value)));
        return members;
    }

    private static JsonArray array(Collection<?> items) {
        JsonArray array = new JsonArray(items.size());
        items.forEach(item -> array.add(json(item)));
        return array;
    }

    private static JsonObject form(String key, String text) {
        JsonObject form = new JsonObject();
        form.addProperty(key, text);
        return form;
    }

    /** The value that a JSON form stands for. No value of docs/json.md is null. */
    static Object value(JsonElement json) {
        if (json instanceof JsonPrimitive primitive) {
            if (primitive.isString()) {
                return primitive.getAsString();
            }
            return primitive.isBoolean() ? primitive.getAsBoolean() : number(primitive.getAsString());
        }
        if (json instanceof JsonArray array) {
            return list(array);
        }
        if (json instanceof JsonObject object) {
            String key = object.size() == 0 ? "" : object.keySet().iterator().next();
            for (String name : object.keySet()) {
                key = name.startsWith("$") ? name : key;
            }
            return key.startsWith("$") ? form(key, object) : map(object);
        }
        throw AnnalsException.invalid("value: expected a form of docs/json.md, found null");
    }

    private static Object number(String text) {
        boolean isWhole = text.indexOf('.') < 0 && text.indexOf('e') < 0 && text.indexOf('E') < 0;
        try {
            if (isWhole) {
                return Long.parseLong(text);
            }
            return Double.parseDouble(text);
        } catch (NumberFormatException error) {
            throw AnnalsException.of("newer-format", "value: expected an integer of 64 bits, found " + text, error);
        }
    }

    private static Object form(String key, JsonObject object) {
        int members = key.equals("$content") ? object.size() : key.equals("$literal") ? 2 : 1;
        if (object.size() != members) {
            throw AnnalsException.of(
                    "newer-format", "value: expected a form of docs/json.md, found " + object, (String) null);
        }
        JsonElement content = object.get(key);
        return switch (key) {
            case "$date" -> LocalDate.parse(content.getAsString());
            case "$timestamp" -> OffsetDateTime.parse(content.getAsString()).toInstant();
            case "$duration" -> Durations.parse(content.getAsString());
            case "$decimal" -> new BigDecimal(content.getAsString());
            case "$bytes" -> Base64.getDecoder().decode(content.getAsString());
            case "$uuid" -> UUID.fromString(content.getAsString());
            case "$iri" -> new Iri(content.getAsString());
            case "$literal" -> new Literal(
                    content.getAsString(),
                    Json.optional(object, "language"),
                    Json.optional(object, "datatype").map(Iri::new));
            case "$content" -> content(object);
            case "$set" -> Collections.unmodifiableSet(new LinkedHashSet<>(list(content.getAsJsonArray())));
            case "$list" -> list(content.getAsJsonArray());
            case "$map" -> map(content.getAsJsonObject());
            case "$float" -> Double.valueOf(
                    switch (content.getAsString()) {
                        case "inf" -> Double.POSITIVE_INFINITY;
                        case "-inf" -> Double.NEGATIVE_INFINITY;
                        default -> Double.NaN;
                    });
            default -> throw AnnalsException.of(
                    "newer-format", "value: expected a form of docs/json.md, found " + key, (String) null);
        };
    }

    private static Content content(JsonObject object) {
        Map<String, String> digests = new LinkedHashMap<>();
        if (object.get("digests") instanceof JsonObject members) {
            members.keySet().forEach(name -> digests.put(name, members.get(name).getAsString()));
        }
        String mediaType = Json.optional(object, "mediaType").orElse("application/octet-stream");
        return new Content(
                Json.text(object, "$content"),
                Json.large(object, "size"),
                mediaType,
                Json.optional(object, "name"),
                digests);
    }

    private static List<Object> list(JsonArray array) {
        List<Object> items = new ArrayList<>(array.size());
        array.forEach(item -> items.add(value(item)));
        return Collections.unmodifiableList(items);
    }

    static Map<String, Object> map(JsonObject object) {
        Map<String, Object> members = new LinkedHashMap<>();
        object.entrySet().forEach(member -> {
            if (!member.getValue().isJsonNull()) {
                members.put(member.getKey(), value(member.getValue()));
            }
        });
        return Collections.unmodifiableMap(members);
    }
}
