package dev.annals;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Items of trees as maps: docs/trees.md has the JSON. */
final class TreeValues {
    /** Levels of an item, as docs/trees.md says. */
    private static final int DEPTH_MAX = 128;

    private TreeValues() {}

    /** True for a map that stands for the value of a property: {@code {"$map": …}} or {@code {"$list": …}}. */
    static boolean isForm(Map<?, ?> map) {
        return map.size() == 1 && (map.containsKey("$map") || map.containsKey("$list"));
    }

    static JsonElement json(String path, Object content) {
        return json(path, content, 0);
    }

    private static JsonElement json(String path, Object content, int depth) {
        if (depth > DEPTH_MAX) {
            throw AnnalsException.of(
                    "too-large", "item " + path + ": expected at most " + DEPTH_MAX + " levels, found more", (String)
                            null);
        }
        if (content instanceof Map<?, ?> map) {
            return map(path, map, depth);
        }
        if (content instanceof List<?> list) {
            boolean isPlain = list.stream().noneMatch(item -> item instanceof List || isFormItem(item));
            if (!isPlain) {
                JsonObject form = new JsonObject();
                form.add("$list", Values.json(Values.canonical(path, content)));
                return form;
            }
            JsonArray array = new JsonArray(list.size());
            list.forEach(item -> array.add(json(path, item, depth + 1)));
            return array;
        }
        return Values.json(Values.canonical(path, content));
    }

    private static boolean isFormItem(Object item) {
        return item instanceof Map<?, ?> map && isForm(map);
    }

    private static JsonObject map(String path, Map<?, ?> map, int depth) {
        JsonObject object = new JsonObject();
        boolean isForm = isForm(map);
        map.forEach((key, item) -> {
            if (!(key instanceof String name)) {
                throw AnnalsException.invalid("item " + path + ": expected names that are texts, found the key " + key);
            }
            object.add(name, isForm ? inner(path, name, item) : json(path + "/" + name, item, depth + 1));
        });
        return object;
    }

    /** The members of a {@code $map}, or the items of a {@code $list}. */
    private static JsonElement inner(String path, String form, Object content) {
        if (form.equals("$list") || !(content instanceof Map<?, ?> map)) {
            return Values.json(Values.canonical(path, content));
        }
        JsonObject members = new JsonObject();
        map.forEach((name, item) -> members.add((String) name, Values.json(Values.canonical(path, item))));
        return members;
    }

    /** An item, or the value of a property. */
    static Object value(JsonElement json) {
        if (json instanceof JsonArray array) {
            List<Object> items = new ArrayList<>(array.size());
            array.forEach(item -> items.add(value(item)));
            return Collections.unmodifiableList(items);
        }
        if (!(json instanceof JsonObject object)) {
            return Values.value(json);
        }
        boolean isMapOrList = object.size() == 1 && (object.has("$map") || object.has("$list"));
        if (isMapOrList) {
            String form = object.keySet().iterator().next();
            return Map.of(form, Values.value(object));
        }
        boolean isValue = object.keySet().stream().anyMatch(name -> name.startsWith("$"));
        if (isValue) {
            return Values.value(object);
        }
        return members(object);
    }

    private static Map<String, Object> members(JsonObject object) {
        Map<String, Object> members = new LinkedHashMap<>();
        object.entrySet().forEach(member -> {
            // The names below @properties, @children and @lists may start with a dollar sign.
            boolean isHolder = member.getKey().startsWith("@") && member.getValue() instanceof JsonObject;
            Object value = isHolder ? members(member.getValue().getAsJsonObject()) : value(member.getValue());
            members.put(member.getKey(), value);
        });
        return Collections.unmodifiableMap(members);
    }
}
