package dev.annals;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import java.util.Collection;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/** Results of the API in the JSON forms in which scenarios expect them. */
final class Forms {
    private Forms() {}

    static JsonObject of(Instance instance) {
        JsonObject json = new JsonObject();
        json.addProperty("id", instance.id());
        json.addProperty("type", instance.type());
        json.addProperty("version", instance.version());
        json.addProperty("latestVersion", instance.latestVersion());
        if (instance.contentVersion() != instance.version()) {
            json.addProperty("contentVersion", instance.contentVersion());
        }
        json.addProperty("position", instance.position());
        json.addProperty("status", instance.status());
        json.addProperty("validFrom", instance.validFrom().toString());
        json.add("created", of(instance.created()));
        json.add("updated", of(instance.updated()));
        json.add("properties", Values.json(instance.properties()));
        if (instance instanceof Entity entity) {
            json.add("classifications", classifications(entity));
        }
        if (instance instanceof Relationship relationship) {
            json.addProperty("from", relationship.from());
            json.addProperty("to", relationship.to());
        }
        add(json, instance.provenance());
        return json;
    }

    private static JsonObject classifications(Entity entity) {
        JsonObject all = new JsonObject();
        entity.classifications().forEach((name, classification) -> {
            JsonObject one = new JsonObject();
            one.addProperty("version", classification.version());
            one.add("created", of(classification.created()));
            one.add("updated", of(classification.updated()));
            one.add("properties", Values.json(classification.properties()));
            add(one, classification.provenance());
            all.add(name, one);
        });
        return all;
    }

    static JsonObject of(Stamp stamp) {
        JsonObject json = new JsonObject();
        json.addProperty("instant", stamp.instant().toString());
        json.addProperty("author", stamp.author());
        return json;
    }

    private static void add(JsonObject json, Provenance provenance) {
        json.addProperty("provenance", provenance.kind());
        provenance.home().ifPresent(text -> json.addProperty("home", text));
        provenance.homeVersion().ifPresent(number -> json.addProperty("homeVersion", number));
        provenance.replicatedBy().ifPresent(text -> json.addProperty("replicatedBy", text));
        provenance.license().ifPresent(text -> json.addProperty("license", text));
        provenance.reidentifiedFrom().ifPresent(text -> json.addProperty("reidentifiedFrom", text));
        provenance.effectiveFrom().ifPresent(time -> json.addProperty("effectiveFrom", time.toString()));
        provenance.effectiveTo().ifPresent(time -> json.addProperty("effectiveTo", time.toString()));
        provenance.propagatedFrom().ifPresent(id -> json.addProperty("propagatedFrom", id));
        json.add("maintainedBy", Json.array(provenance.maintainedBy()));
        JsonObject mappings = new JsonObject();
        provenance.mappings().forEach(mappings::addProperty);
        json.add("mappings", mappings);
        provenance.statusOnDelete().ifPresent(text -> json.addProperty("statusOnDelete", text));
        if (provenance.isProxy()) {
            json.addProperty("isProxy", true);
        }
    }

    static <T> JsonArray items(Collection<T> items, Function<T, JsonObject> form) {
        JsonArray all = new JsonArray();
        items.forEach(item -> all.add(form.apply(item)));
        return all;
    }

    static <T> JsonObject page(Page<T> page, Function<T, JsonObject> form) {
        JsonObject json = new JsonObject();
        json.add("items", items(page.items(), form));
        json.add("next", page.next().<JsonElement>map(JsonPrimitive::new).orElse(JsonNull.INSTANCE));
        page.count().ifPresent(number -> json.addProperty("count", number));
        return json;
    }

    static <T> JsonObject counted(Collection<T> items, Function<T, JsonObject> form) {
        JsonObject json = new JsonObject();
        json.add("items", items(items, form));
        json.addProperty("count", items.size());
        return json;
    }

    static JsonObject of(Neighbor neighbor) {
        JsonObject json = new JsonObject();
        json.addProperty("direction", neighbor.direction().toString());
        json.add("relationship", of(neighbor.relationship()));
        json.add("entity", of(neighbor.entity()));
        return json;
    }

    static JsonObject of(Reached reached) {
        JsonObject json = new JsonObject();
        json.addProperty("distance", reached.distance());
        json.add("entity", of(reached.entity()));
        return json;
    }

    static JsonObject of(Shared shared) {
        JsonObject json = new JsonObject();
        JsonArray distances = new JsonArray();
        distances.add(shared.fromDistance());
        distances.add(shared.toDistance());
        json.add("distances", distances);
        json.add("entity", of(shared.entity()));
        return json;
    }

    static JsonObject of(GraphPath path) {
        JsonObject json = new JsonObject();
        json.addProperty("length", path.length());
        json.add("start", of(path.start()));
        json.add("steps", items(path.steps(), Forms::of));
        return json;
    }

    static JsonObject of(Subgraph found) {
        JsonObject json = new JsonObject();
        json.add("entities", items(found.entities(), Forms::of));
        json.add("relationships", items(found.relationships(), Forms::of));
        json.addProperty("entitiesCount", found.entities().size());
        json.addProperty("relationshipsCount", found.relationships().size());
        return json;
    }

    static JsonObject of(Groups groups) {
        JsonObject json = new JsonObject();
        json.add("groups", items(groups.groups(), group -> {
            JsonObject one = new JsonObject();
            one.add("value", group.value().map(Values::json).orElse(JsonNull.INSTANCE));
            one.addProperty("count", group.count());
            return one;
        }));
        json.addProperty("count", groups.count());
        JsonObject rest = new JsonObject();
        rest.addProperty("groups", groups.restGroups());
        rest.addProperty("count", groups.restCount());
        json.add("rest", rest);
        return json;
    }

    static JsonObject of(FoundGroups groups) {
        JsonObject json = new JsonObject();
        json.add("groups", items(groups.groups(), group -> {
            JsonObject one = new JsonObject();
            one.add("values", values(group.values()));
            one.addProperty("count", group.count());
            one.add("sum", values(group.sums()));
            one.add("min", values(group.least()));
            one.add("max", values(group.greatest()));
            return one;
        }));
        json.addProperty("count", groups.count());
        JsonObject rest = new JsonObject();
        rest.addProperty("groups", groups.restGroups());
        rest.addProperty("count", groups.restCount());
        json.add("rest", rest);
        return json;
    }

    private static JsonObject values(Map<String, Optional<Object>> values) {
        JsonObject json = new JsonObject();
        values.forEach((name, value) -> json.add(name, value.map(Values::json).orElse(JsonNull.INSTANCE)));
        return json;
    }

    static JsonObject of(Version version) {
        JsonObject json = new JsonObject();
        json.addProperty("version", version.version());
        json.addProperty("base", version.base());
        json.addProperty("position", version.position());
        json.addProperty("instant", version.instant().toString());
        json.addProperty("author", version.author());
        json.addProperty("message", version.message());
        json.addProperty("validFrom", version.validFrom().toString());
        json.addProperty("status", version.status());
        json.addProperty("action", version.action());
        json.addProperty("inForce", version.isInForce());
        version.formerId().ifPresent(id -> json.addProperty("formerId", id));
        if (version.isProxy()) {
            json.addProperty("isProxy", true);
        }
        version.home().ifPresent(home -> json.addProperty("home", home));
        version.content().ifPresent(instance -> json.add("content", of(instance)));
        return json;
    }

    static JsonObject of(Changed changed) {
        JsonObject json = new JsonObject();
        json.add("before", changed.before().map(Values::json).orElse(JsonNull.INSTANCE));
        json.add("after", changed.after().map(Values::json).orElse(JsonNull.INSTANCE));
        return json;
    }

    private static void addAll(JsonObject json, Map<String, Changed> changed) {
        changed.forEach((name, one) -> json.add(name, of(one)));
    }

    static JsonObject of(Difference difference) {
        JsonObject json = new JsonObject();
        addAll(json, difference.headers());
        json.add("status", difference.status().<JsonElement>map(Forms::of).orElse(JsonNull.INSTANCE));
        JsonObject properties = new JsonObject();
        addAll(properties, difference.properties());
        json.add("properties", properties);
        json.add("classifications", items(difference.classifications(), one -> {
            JsonObject form = new JsonObject();
            addAll(form, one.headers());
            form.addProperty("name", one.name());
            form.addProperty("wasThere", one.wasThere());
            form.addProperty("isThere", one.isThere());
            JsonObject inner = new JsonObject();
            addAll(inner, one.properties());
            form.add("properties", inner);
            return form;
        }));
        return json;
    }

    static JsonObject of(InstanceChange change) {
        JsonObject json = new JsonObject();
        json.addProperty("change", change.change());
        json.addProperty("kind", change.instance().kind().toString());
        json.addProperty("id", change.instance().id());
        change.difference().ifPresent(one -> json.add("difference", of(one)));
        return json;
    }

    static JsonObject of(TreeChange change) {
        JsonObject json = new JsonObject();
        json.addProperty("change", change.change());
        json.addProperty("path", change.path());
        json.addProperty("id", change.id());
        change.from().ifPresent(path -> json.addProperty("from", path));
        change.previous().ifPresent(one -> json.add("previous", of(one)));
        change.difference().ifPresent(one -> json.add("difference", of(one)));
        return json;
    }

    static JsonObject of(TreeEntry entry) {
        JsonObject json = new JsonObject();
        json.addProperty("id", entry.id());
        json.addProperty("path", entry.path());
        json.addProperty("type", entry.type());
        entry.property().ifPresent(name -> json.addProperty("property", name));
        json.add("value", Values.json(entry.value()));
        return json;
    }

    static JsonObject of(Receipt receipt) {
        JsonObject json = new JsonObject();
        json.addProperty("position", receipt.position());
        json.addProperty("instant", receipt.instant().toString());
        json.add("ids", Json.array(receipt.ids()));
        return json;
    }

    static JsonObject of(DryRun run) {
        JsonObject json = new JsonObject();
        json.add("ids", Json.array(run.ids()));
        json.addProperty("entities", run.entities());
        json.addProperty("relationships", run.relationships());
        return json;
    }

    static JsonObject of(Verification verification) {
        JsonObject json = new JsonObject();
        json.addProperty("outcome", verification.outcome());
        json.add("differences", items(verification.differences(), one -> {
            JsonObject form = new JsonObject();
            form.addProperty("place", one.place());
            form.addProperty("declared", one.declared());
            form.addProperty("given", one.given());
            form.addProperty("conflict", one.isConflict());
            return form;
        }));
        return json;
    }

    static JsonObject optional(Optional<JsonObject> found) {
        return found.orElse(null);
    }
}
