package dev.annals;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.Stream;

/** Does the steps of scenarios with the methods of the API. */
final class ScenarioDoor {
    private final Repository repository;

    ScenarioDoor(Repository repository) {
        this.repository = repository;
    }

    JsonElement perform(JsonObject step) {
        String verb = Json.text(step, "do");
        boolean isTreeRead = List.of("get-tree", "list-tree", "find-tree", "explain-tree", "diff-tree")
                .contains(verb);
        if (verb.equals("commit")) {
            return commit(step);
        }
        if (verb.endsWith("-tree") && !isTreeRead) {
            return changeTree(step, verb);
        }
        try (Snapshot snapshot = repository.asOf(time(step))) {
            return isTreeRead ? readTree(snapshot, step, verb) : read(snapshot, step, verb);
        }
    }

    private JsonElement commit(JsonObject step) {
        if (Json.flag(step, "dryRun")) {
            return Forms.of(repository.dryRun(transaction -> fill(transaction, step)));
        }
        try (Transaction transaction = repository.begin()) {
            fill(transaction, step);
            return Forms.of(transaction.commit());
        }
    }

    private static void fill(Transaction transaction, JsonObject step) {
        Json.optional(step, "author").ifPresent(transaction::author);
        Json.optional(step, "message").ifPresent(transaction::message);
        Json.optional(step, "validFrom").map(ScenarioDoor::instant).ifPresent(transaction::validFrom);
        step.getAsJsonArray("operations").forEach(one -> ScenarioOperations.add(transaction, one.getAsJsonObject()));
    }

    private JsonElement changeTree(JsonObject step, String verb) {
        JsonObject operation = step.deepCopy();
        operation.addProperty("action", verb);
        Receipt receipt = repository.transact(transaction -> {
            if (!ScenarioOperations.tree(transaction, operation)) {
                throw new IllegalArgumentException("unknown step " + step);
            }
        });
        JsonObject json = Forms.of(receipt);
        json.add(
                "id",
                receipt.ids().isEmpty()
                        ? JsonNull.INSTANCE
                        : new JsonPrimitive(receipt.ids().get(0)));
        return json;
    }

    private JsonElement read(Snapshot snapshot, JsonObject step, String verb) {
        String id = Json.text(step, "id");
        return switch (verb) {
            case "get" -> get(snapshot, instance(step));
            case "version" -> Forms.of(snapshot.version(instance(step), Json.number(step, "number")));
            case "history" -> history(snapshot, step);
            case "difference" -> Forms.of(
                    snapshot.difference(instance(step), Json.number(step, "from"), Json.number(step, "to")));
            case "changes" -> Forms.counted(
                    snapshot.changes(Json.large(step, "from"), Json.large(step, "to"))
                            .toList(),
                    Forms::of);
            case "neighbors" -> Forms.page(
                    snapshot.neighborsPage(id, links(step)), Forms::of);
            case "degree" -> number("degree", snapshot.degree(id, links(step)));
            case "relationships" -> Forms.page(snapshot.relationshipsPage(id, links(step)), Forms::of);
            case "reach" -> Forms.page(snapshot.reachPage(id, walk(step)), Forms::of);
            case "related" -> Forms.page(snapshot.relatedPage(id, walk(step)), Forms::of);
            case "groups" -> Forms.of(snapshot.groups(id, Json.text(step, "groupBy"), walk(step)));
            case "neighborhood" -> Forms.of(snapshot.neighborhood(id, walk(step)));
            case "types" -> types(snapshot, step);
            case "verify-type" -> Forms.of(
                    snapshot.verify(TypeDefinition.json(step.get("definition").toString())));
            case "find", "count", "explain", "group" -> "relationship".equals(Json.text(step, "kind"))
                    ? find(snapshot, step, find(Find.relationships(), step))
                    : find(snapshot, step, find(Find.entities(), step));
            default -> between(snapshot, step, verb);
        };
    }

    private static JsonElement between(Snapshot snapshot, JsonObject step, String verb) {
        String from = Json.text(step, "from");
        String to = Json.text(step, "to");
        Walk walk = walk(step);
        switch (verb) {
            case "path" -> {
                Optional<JsonObject> found = snapshot.path(from, to, walk).map(Forms::of);
                found.ifPresent(json -> json.addProperty("found", true));
                JsonObject none = new JsonObject();
                none.addProperty("found", false);
                none.add("start", JsonNull.INSTANCE);
                none.add("steps", new JsonArray());
                return found.orElse(none);
            }
            case "paths" -> {
                List<GraphPath> paths = step.has("weight")
                        ? snapshot.paths(from, to, Json.text(step, "weight"), walk)
                        : snapshot.paths(from, to, walk);
                return Forms.counted(paths, Forms::of);
            }
            case "linking" -> {
                return Forms.of(snapshot.linking(from, to, walk));
            }
            case "shared" -> {
                return Forms.counted(snapshot.shared(from, to, walk).toList(), Forms::of);
            }
            default -> throw new IllegalArgumentException("unknown step " + step);
        }
    }

    private static JsonElement get(Snapshot snapshot, InstanceId id) {
        Optional<? extends Instance> found =
                id.kind() == Kind.ENTITY ? snapshot.entity(id.id()) : snapshot.relationship(id.id());
        return found.<JsonElement>map(Forms::of).orElse(JsonNull.INSTANCE);
    }

    private static JsonElement history(Snapshot snapshot, JsonObject step) {
        History history = History.all();
        if (step.has("from")) {
            history = history.from(instant(Json.text(step, "from")));
        }
        if (step.has("to")) {
            history = history.to(instant(Json.text(step, "to")));
        }
        if (Json.flag(step, "oldestFirst")) {
            history = history.oldestFirst();
        }
        if (Json.flag(step, "content")) {
            history = history.withContent();
        }
        if (step.has("limit")) {
            history = history.limit(Json.number(step, "limit"));
        }
        return Forms.counted(snapshot.history(instance(step), history).toList(), Forms::of);
    }

    private static JsonElement types(Snapshot snapshot, JsonObject step) {
        List<TypeDefinition> types = step.has("externalId")
                ? snapshot.typesByExternalId(Json.text(step, "externalId"))
                : step.has("typeKind") ? snapshot.types(TypeKind.of(Json.text(step, "typeKind"))) : snapshot.types();
        return Forms.counted(types, TypeDefinition::json);
    }

    private static <T extends Instance> JsonElement find(Snapshot snapshot, JsonObject step, Find<T> find) {
        String verb = Json.text(step, "do");
        if (verb.equals("group")) {
            return Forms.of(snapshot.groups(find, List.of(texts(step, "groupBy")), List.of(texts(step, "aggregate"))));
        }
        if (verb.equals("count")) {
            return number("count", snapshot.count(find));
        }
        if (verb.equals("explain")) {
            return Json.parse(snapshot.explain(find).json());
        }
        return Forms.page(snapshot.findPage(find), Forms::of);
    }

    private static <T extends Instance> Find<T> find(Find<T> empty, JsonObject step) {
        Find<T> find = empty.type(texts(step, "type"))
                .only(texts(step, "only"))
                .classified(texts(step, "classified"))
                .status(texts(step, "status"))
                .orderBy(texts(step, "orderBy"));
        for (JsonElement condition : array(step, "where")) {
            find = condition.isJsonPrimitive()
                    ? find.where(condition.getAsString())
                    : find.whereJson(condition.toString());
        }
        if (step.has("q")) {
            find = find.read(Json.text(step, "q"));
        }
        if (step.has("deleted")) {
            find = Json.text(step, "deleted").equals("only") ? find.onlyDeleted() : find.withDeleted();
        }
        if (step.has("limit")) {
            find = find.limit(Json.number(step, "limit"));
        }
        if (step.has("offset")) {
            find = find.offset(Json.number(step, "offset"));
        }
        return step.has("after") ? find.after(Json.text(step, "after")) : find;
    }

    private static Links links(JsonObject step) {
        Links links = Links.all();
        if (step.has("direction")) {
            links = links.direction(Direction.of(Json.text(step, "direction")));
        }
        String[] types = step.has("types") ? texts(step, "types") : texts(step, "type");
        links = types.length == 0 ? links : links.type(types);
        links = step.has("statuses") ? links.status(texts(step, "statuses")) : links;
        links = step.has("orderBy") ? links.orderBy(texts(step, "orderBy")) : links;
        links = step.has("skip") ? links.skip(Json.number(step, "skip")) : links;
        links = step.has("limit") ? links.limit(Json.number(step, "limit")) : links;
        links = Json.flag(step, "count") ? links.counted() : links;
        return step.has("after") ? links.after(Json.text(step, "after")) : links;
    }

    private static Walk walk(JsonObject step) {
        Walk walk = Walk.all();
        if (step.has("direction")) {
            walk = walk.direction(Direction.of(Json.text(step, "direction")));
        }
        walk = walk.type(texts(step, "types"))
                .entityType(texts(step, "entityTypes"))
                .classified(texts(step, "classified"))
                .entityWhere(texts(step, "entityWhere"))
                .relationshipWhere(texts(step, "relationshipWhere"))
                .status(texts(step, "statuses"));
        walk = step.has("orderBy") ? walk.orderBy(texts(step, "orderBy")) : walk;
        walk = step.has("depthMin") ? walk.depthMin(Json.number(step, "depthMin")) : walk;
        walk = step.has("depthMax") ? walk.depthMax(Json.number(step, "depthMax")) : walk;
        walk = step.has("visitedMax") ? walk.visitedMax(Json.number(step, "visitedMax")) : walk;
        walk = step.has("limit") ? walk.limit(Json.number(step, "limit")) : walk;
        walk = Json.flag(step, "count") ? walk.counted() : walk;
        return step.has("after") ? walk.after(Json.text(step, "after")) : walk;
    }

    private static JsonElement readTree(Snapshot snapshot, JsonObject step, String verb) {
        Tree tree = step.has("root") ? snapshot.tree(Json.text(step, "root")) : snapshot.tree();
        String path = Json.text(step, "path");
        switch (verb) {
            case "get-tree" -> {
                Optional<Object> found = Json.flag(step, "ids")
                        ? tree.getWithIds(path)
                        : step.has("depth") ? tree.get(path, Json.number(step, "depth")) : tree.get(path);
                JsonObject json = new JsonObject();
                found.ifPresent(item -> json.add("tree", TreeValues.json(path, item)));
                return found.isPresent() ? json : JsonNull.INSTANCE;
            }
            case "list-tree" -> {
                TreeList list = TreeList.all().counted();
                list = Json.flag(step, "back") ? list.back() : list;
                list = step.has("limit") ? list.limit(Json.number(step, "limit")) : list;
                list = step.has("after") ? list.after(Json.text(step, "after")) : list;
                return Forms.page(tree.listPage(path, list), Forms::of);
            }
            case "find-tree" -> {
                int limit = step.has("limit") ? Json.number(step, "limit") : 100;
                return Forms.counted(tree.find(path, limit), Forms::of);
            }
            case "explain-tree" -> {
                JsonObject json = new JsonObject();
                json.addProperty("isLookUp", tree.isLookUp(path));
                return json;
            }
            default -> {
                Stream<TreeChange> changes = tree.differences(path, time(step, "from"), time(step, "to"));
                return Forms.counted(changes.toList(), Forms::of);
            }
        }
    }

    private static JsonObject number(String name, long number) {
        JsonObject json = new JsonObject();
        json.addProperty(name, number);
        return json;
    }

    static AsOf time(JsonObject step) {
        return new AsOf(
                step.has("atPosition") ? OptionalLong.of(Json.large(step, "atPosition")) : OptionalLong.empty(),
                Json.optional(step, "at").map(ScenarioDoor::instant),
                Json.optional(step, "validAt").map(ScenarioDoor::instant));
    }

    private static AsOf time(JsonObject step, String prefix) {
        String position = prefix + "Position";
        return new AsOf(
                step.has(position) ? OptionalLong.of(Json.large(step, position)) : OptionalLong.empty(),
                Json.optional(step, prefix).map(ScenarioDoor::instant),
                Json.optional(step, prefix + "ValidAt").map(ScenarioDoor::instant));
    }

    static Instant instant(String text) {
        String day = text.length() == 4 ? text + "-01-01" : text.length() == 7 ? text + "-01" : text;
        return day.length() == 10
                ? LocalDate.parse(day).atStartOfDay(ZoneOffset.UTC).toInstant()
                : Instant.parse(day);
    }

    private static InstanceId instance(JsonObject step) {
        return new InstanceId(Kind.of(Json.text(step, "kind")), Json.text(step, "id"));
    }

    private static List<JsonElement> array(JsonObject step, String name) {
        JsonElement member = step.get(name);
        if (member == null) {
            return List.of();
        }
        List<JsonElement> items = new ArrayList<>();
        if (member instanceof JsonArray array) {
            array.forEach(items::add);
        } else {
            items.add(member);
        }
        return items;
    }

    /** One text or several; an order as JSON in its text form. */
    private static String[] texts(JsonObject step, String name) {
        return array(step, name).stream().map(ScenarioDoor::text).toArray(String[]::new);
    }

    private static String text(JsonElement one) {
        if (!(one instanceof JsonObject key)) {
            return one.getAsString();
        }
        String field = key.has("header") ? "@" + Json.text(key, "header") : Json.text(key, "property");
        return (Json.flag(key, "descending") ? "-" : "") + field;
    }
}
