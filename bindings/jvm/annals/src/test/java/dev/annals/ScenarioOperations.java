package dev.annals;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;

/** Makes the operations of a scenario with the methods of the API; those without a method as JSON. */
final class ScenarioOperations {
    private ScenarioOperations() {}

    static void add(Transaction transaction, JsonObject operation) {
        boolean isMade;
        try {
            isMade = byMethod(transaction, operation);
        } catch (NewerFormatException error) {
            // A value that no Java value has: the repository refuses it.
            isMade = false;
        }
        if (!isMade) {
            transaction.operation(operation.toString());
        }
    }

    private static boolean byMethod(Transaction t, JsonObject o) {
        String action = Json.text(o, "action");
        switch (action) {
            case "create", "upsert" -> {
                return creates(t, o, action.equals("upsert"));
            }
            case "update" -> {
                if (!only(o, "kind", "id", "patch", "ifVersion") || isTag(o)) {
                    return false;
                }
                Patch patch = patch(Patch.of(id(o)), o.get("patch"));
                if (patch == null) {
                    return false;
                }
                t.update(o.has("ifVersion") ? patch.ifVersion(o.get("ifVersion").getAsInt()) : patch);
            }
            case "reclassify" -> {
                Patch patch = patch(Patch.of(Json.text(o, "id")), o.get("patch"));
                if (!only(o, "id", "classification", "patch") || patch == null) {
                    return false;
                }
                t.reclassify(Json.text(o, "classification"), patch);
            }
            case "classify" -> {
                if (!only(o, "id", "classification", "properties")) {
                    return false;
                }
                t.classify(Json.text(o, "id"), Json.text(o, "classification"), properties(o));
            }
            case "expect" -> {
                if (!only(o, "kind", "id", "ifVersion") || isTag(o) || !o.has("ifVersion")) {
                    return false;
                }
                t.expect(id(o), o.get("ifVersion").getAsInt());
            }
            case "define-type" -> {
                if (!only(o, "type")) {
                    return false;
                }
                t.define(TypeDefinition.json(o.get("type").toString()));
            }
            case "patch-type" -> t.patchType(TypeDefinition.json(o.get("type").toString()));
            default -> {
                return action.endsWith("-tree") ? tree(t, o) : simple(t, o, action);
            }
        }
        return true;
    }

    private static boolean simple(Transaction t, JsonObject o, String action) {
        boolean isPlain = only(o, "kind", "id");
        switch (action) {
            case "delete" -> {
                if (isPlain) {
                    t.delete(id(o));
                }
                return isPlain;
            }
            case "purge" -> {
                if (isPlain) {
                    t.purge(id(o));
                }
                return isPlain;
            }
            case "undo" -> {
                if (isPlain) {
                    t.undo(id(o));
                } else if (only(o, "kind", "id", "of") && Json.text(o, "of").equals("content")) {
                    t.undoContent(id(o));
                    return true;
                }
                return isPlain;
            }
            case "restore" -> {
                if (isPlain) {
                    t.restore(id(o));
                } else if (only(o, "kind", "id", "withRelationships") && !Json.flag(o, "withRelationships")) {
                    t.restoreAlone(Json.text(o, "id"));
                    return true;
                }
                return isPlain;
            }
            case "replace" -> {
                if (!only(o, "kind", "id", "properties")) {
                    return false;
                }
                t.replace(id(o), properties(o));
            }
            case "declassify" -> t.declassify(Json.text(o, "id"), Json.text(o, "classification"));
            case "set-status" -> t.setStatus(id(o), Json.text(o, "status"));
            case "retype" -> t.retype(id(o), Json.text(o, "type"));
            case "reidentify" -> {
                if (!only(o, "kind", "id", "newId")) {
                    return false;
                }
                t.reidentify(id(o), Json.text(o, "newId"));
            }
            case "relink" -> {
                if (!only(o, "kind", "id", "from", "to")) {
                    return false;
                }
                if (o.has("from") && o.has("to")) {
                    t.relink(Json.text(o, "id"), Json.text(o, "from"), Json.text(o, "to"));
                } else if (o.has("from")) {
                    t.relinkFrom(Json.text(o, "id"), Json.text(o, "from"));
                } else {
                    t.relinkTo(Json.text(o, "id"), Json.text(o, "to"));
                }
            }
            default -> {
                return false;
            }
        }
        return true;
    }

    private static boolean creates(Transaction t, JsonObject o, boolean isUpsert) {
        if (!only(o, "kind", "id", "type", "properties", "status", "from", "to", "validFrom")) {
            return false;
        }
        if (Json.text(o, "kind").equals("relationship")) {
            NewRelationship made = NewRelationship.of(Json.text(o, "type"), Json.text(o, "from"), Json.text(o, "to"))
                    .setAll(properties(o));
            Json.optional(o, "id").ifPresent(made::id);
            Json.optional(o, "status").ifPresent(made::status);
            Json.optional(o, "validFrom").map(ScenarioDoor::instant).ifPresent(made::validFrom);
            if (isUpsert) {
                t.upsert(made);
            } else {
                t.create(made);
            }
            return true;
        }
        NewEntity made = NewEntity.of(Json.text(o, "type")).setAll(properties(o));
        Json.optional(o, "id").ifPresent(made::id);
        Json.optional(o, "status").ifPresent(made::status);
        Json.optional(o, "validFrom").map(ScenarioDoor::instant).ifPresent(made::validFrom);
        if (isUpsert) {
            t.upsert(made);
        } else {
            t.create(made);
        }
        return true;
    }

    /** Also the steps that change a tree, which are called as their operation. */
    static boolean tree(Transaction t, JsonObject o) {
        TreeChanges tree = o.has("root") ? t.tree(Json.text(o, "root")) : t.tree();
        String path = Json.text(o, "path");
        JsonElement content = o.has("item") ? o.get("item") : o.get("value");
        boolean hasTime =
                !o.has("atPosition") || o.getAsJsonPrimitive("atPosition").isNumber();
        if (!hasTime
                || content != null
                        && !TreeValues.json(path, TreeValues.value(content)).equals(content)) {
            // A form that no Java item has: the repository refuses it.
            JsonObject operation = o.deepCopy();
            operation.keySet().removeAll(Set.of("do", "error", "save", "expect"));
            t.operation(operation.toString());
            return true;
        }
        switch (Json.text(o, "action")) {
            case "put-tree" -> tree.put(path, content(o));
            case "replace-tree" -> tree.replace(path, content(o));
            case "merge-tree" -> tree.merge(path, content(o));
            case "create-tree" -> tree.create(path, content(o));
            case "insert-tree" -> {
                Object item = content(o);
                @SuppressWarnings("unchecked")
                Map<String, Object> members = (Map<String, Object>) item;
                tree.insert(path, members, new Place(Json.text(o, "insert"), Json.optional(o, "sibling")));
            }
            case "delete-tree" -> tree.delete(path);
            case "remove-tree" -> tree.remove(path);
            case "copy-tree" -> tree.copy(Json.text(o, "from"), Json.text(o, "to"));
            case "move-tree" -> {
                if (o.has("insert")) {
                    Place place = new Place(Json.text(o, "insert"), Json.optional(o, "sibling"));
                    tree.move(Json.text(o, "from"), Json.text(o, "to"), place);
                } else {
                    tree.move(Json.text(o, "from"), Json.text(o, "to"));
                }
            }
            case "revert-tree" -> {
                if (o.has("to")) {
                    return false;
                }
                tree.revert(path, ScenarioDoor.time(o));
            }
            case "restore-tree" -> tree.restore(path, ScenarioDoor.time(o));
            default -> {
                return false;
            }
        }
        return true;
    }

    private static Object content(JsonObject o) {
        JsonElement content = o.has("item") ? o.get("item") : o.has("value") ? o.get("value") : new JsonObject();
        return TreeValues.value(content);
    }

    private static boolean only(JsonObject o, String... names) {
        Set<String> known = Set.of(names);
        return o.keySet().stream().allMatch(name -> name.equals("action") || known.contains(name));
    }

    private static boolean isTag(JsonObject o) {
        return o.has("ifVersion") && o.getAsJsonPrimitive("ifVersion").isString();
    }

    private static InstanceId id(JsonObject o) {
        return new InstanceId(Kind.of(Json.text(o, "kind")), Json.text(o, "id"));
    }

    private static Map<String, Object> properties(JsonObject o) {
        Map<String, Object> properties = new HashMap<>();
        if (o.has("properties")) {
            o.getAsJsonObject("properties")
                    .entrySet()
                    .forEach(member -> properties.put(
                            member.getKey(), member.getValue().isJsonNull() ? null : Values.value(member.getValue())));
        }
        return properties;
    }

    private static Patch patch(Patch patch, JsonElement json) {
        if (json instanceof JsonObject members) {
            // The object form refuses an object under properties; only JSON can ask for it.
            if (members.get("properties") instanceof JsonObject) {
                return null;
            }
            members.entrySet().forEach(member -> {
                if (member.getValue().isJsonNull()) {
                    patch.unset(member.getKey());
                } else {
                    patch.set(member.getKey(), Values.value(member.getValue()));
                }
            });
            return patch;
        }
        for (JsonElement one : json.getAsJsonArray()) {
            JsonObject step = one.getAsJsonObject();
            if (step.has("set")) {
                patch.set(Json.text(step, "set"), Values.value(step.get("value")));
            } else if (step.has("unset")) {
                patch.unset(Json.text(step, "unset"));
            } else if (step.has("add")) {
                patch.add(Json.text(step, "add"), Values.value(step.get("value")));
            } else if (step.has("remove")) {
                patch.remove(Json.text(step, "remove"), Values.value(step.get("value")));
            } else {
                patch.clear();
            }
        }
        return patch;
    }
}
