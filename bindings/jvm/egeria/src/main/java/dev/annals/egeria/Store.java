package dev.annals.egeria;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import dev.annals.AnnalsException;
import dev.annals.Answer;
import dev.annals.DeletedException;
import dev.annals.InstanceId;
import dev.annals.Kind;
import dev.annals.LogRecord;
import dev.annals.NotFoundException;
import dev.annals.Repository;
import dev.annals.Snapshot;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/** Sends the requests of the connector. Shape: instances in their JSON form of docs/json.md. */
final class Store implements AutoCloseable {
    private static final int PAGE_MAX = 1_000;
    private static final int ATTEMPTS_MAX = 100;
    private static final int PAUSE_MAX_MS = 200;

    private final Repository repository;

    Store(Repository repository) {
        this.repository = repository;
    }

    /** Instances, and the time at which all further reads show the same state. */
    record Found(List<JsonObject> items, Moment moment) {}

    /** A part of the graph. */
    record Graph(List<JsonObject> entities, List<JsonObject> relationships, Moment moment) {}

    /** Names the collection; a repository keeps its first name. */
    void name(String collection) {
        JsonObject body = new JsonObject();
        body.addProperty("collection", collection);
        repository.exchange("PUT", "/v1/collection", body.toString());
    }

    /** One instance, also a deleted one and a proxy, as the only item; none if it is not known. */
    Found one(Kind kind, String id, Moment moment) {
        String part = kind == Kind.ENTITY ? "/summary" : "";
        try {
            return found(repository.exchange("GET", moment.on(path(kind, id) + part), ""), moment);
        } catch (DeletedException error) {
            return find(byId(kind, List.of(id)), moment, 0, 1);
        } catch (NotFoundException error) {
            return new Found(List.of(), moment);
        }
    }

    private static Found found(Answer answer, Moment moment) {
        return new Found(List.of(object(answer)), shown(answer, moment));
    }

    private static Moment shown(Answer answer, Moment moment) {
        return answer.position().isPresent() ? Moment.position(answer.position().getAsLong()) : moment;
    }

    private static JsonObject byId(Kind kind, Collection<String> ids) {
        JsonObject condition = Conditions.header("id", "in");
        JsonArray values = new JsonArray();
        ids.forEach(values::add);
        condition.add("values", values);
        JsonObject request = new JsonObject();
        request.addProperty("kind", kind.toString());
        request.addProperty("deleted", "with");
        request.add("where", condition);
        return request;
    }

    /** Many entities, also deleted ones and proxies, by id. */
    Map<String, JsonObject> entities(Collection<String> ids, Moment moment) {
        Map<String, JsonObject> found = new LinkedHashMap<>();
        List<String> all = List.copyOf(ids);
        for (int start = 0; start < all.size(); start += PAGE_MAX) {
            List<String> some = all.subList(start, Math.min(all.size(), start + PAGE_MAX));
            find(byId(Kind.ENTITY, some), moment, 0, 0)
                    .items()
                    .forEach(one -> found.put(one.get("id").getAsString(), one));
        }
        // Proxies are in no index.
        for (String id : all) {
            if (!found.containsKey(id)) {
                one(Kind.ENTITY, id, moment).items().forEach(proxy -> found.put(id, proxy));
            }
        }
        return found;
    }

    /** The hits of a search behind the first `offset`; a limit of 0 is none. */
    Found find(JsonObject search, Moment moment, int offset, int limit) {
        JsonObject request = search.deepCopy();
        moment.addTo(request);
        List<JsonObject> items = new ArrayList<>();
        if (offset > 0) {
            request.addProperty("offset", offset);
        }
        Moment shown = moment;
        while (true) {
            request.addProperty("limit", limit == 0 ? PAGE_MAX : Math.min(PAGE_MAX, limit - items.size()));
            Answer answer = repository.exchange("POST", "/v1/find", request.toString());
            JsonObject page = object(answer);
            shown = shown(answer, shown);
            page.getAsJsonArray("items").forEach(item -> items.add(item.getAsJsonObject()));
            Optional<String> next = next(page);
            if (next.isEmpty() || limit > 0 && items.size() >= limit) {
                return new Found(items, shown);
            }
            // All pages show one position.
            request.remove("offset");
            request.remove(moment.name());
            shown.addTo(request);
            request.addProperty("after", next.get());
        }
    }

    /** The items of a list behind the first `skip`; a limit of 0 is none. The endpoint skips if it can, `canSkip`. */
    Found list(String target, Moment moment, int skip, int limit, boolean canSkip) {
        String from = target + (target.contains("?") ? "&" : "?") + "limit=";
        List<JsonObject> items = new ArrayList<>();
        int most = limit == 0 ? Integer.MAX_VALUE : canSkip ? limit : skip + limit;
        String further = canSkip && skip > 0 ? "&skip=" + skip : "";
        Moment shown = moment;
        while (true) {
            int size = Math.min(PAGE_MAX, most - items.size());
            Answer answer = repository.exchange("GET", shown.on(from + size + further), "");
            JsonObject page = object(answer);
            shown = shown(answer, shown);
            page.getAsJsonArray("items").forEach(item -> items.add(item.getAsJsonObject()));
            Optional<String> next = next(page);
            if (next.isEmpty() || items.size() >= most) {
                int first = canSkip ? 0 : Math.min(skip, items.size());
                return new Found(items.subList(first, items.size()), shown);
            }
            further = "&after=" + encode(next.get());
        }
    }

    /** A neighbourhood, or what links two entities. */
    Graph graph(String target, Moment moment) {
        String from = target + "&limit=" + PAGE_MAX;
        List<JsonObject> entities = new ArrayList<>();
        List<JsonObject> relationships = new ArrayList<>();
        String further = "";
        Moment shown = moment;
        while (true) {
            Answer answer = repository.exchange("GET", shown.on(from + further), "");
            JsonObject page = object(answer);
            shown = shown(answer, shown);
            page.getAsJsonArray("entities")
                    .forEach(one -> entities.add(one.getAsJsonObject().getAsJsonObject("entity")));
            page.getAsJsonArray("relationships").forEach(one -> relationships.add(one.getAsJsonObject()));
            Optional<String> next = next(page);
            if (next.isEmpty()) {
                return new Graph(entities, relationships, shown);
            }
            further = "&after=" + encode(next.get());
        }
    }

    private static Optional<String> next(JsonObject page) {
        JsonElement next = page.get("next");
        return next == null || next.isJsonNull() ? Optional.empty() : Optional.of(next.getAsString());
    }

    /** Commits operations as one record, and says at which time its effect shows. */
    Moment commit(String author, String message, List<JsonObject> operations) {
        JsonObject body = new JsonObject();
        body.addProperty("author", author);
        if (!message.isEmpty()) {
            body.addProperty("message", message);
        }
        JsonArray all = new JsonArray();
        operations.forEach(all::add);
        body.add("operations", all);
        String text = body.toString();
        for (int attempt = 1; ; attempt++) {
            try {
                // Egeria counts a version for each update, also for one that changes nothing.
                Answer answer = repository.exchange("POST", "/v1/transactions?always=true", text);
                return Moment.position(object(answer).get("position").getAsLong());
            } catch (AnnalsException error) {
                if (!error.isRetryable() || attempt == ATTEMPTS_MAX || !pause(Math.min(attempt * 10, PAUSE_MAX_MS))) {
                    throw error;
                }
            }
        }
    }

    /** The position of the last record. */
    long position() {
        try (Snapshot now = repository.snapshot()) {
            return now.position().orElse(0);
        }
    }

    /** Every record behind a position. Close the stream; closing it from another thread ends it. */
    Stream<LogRecord> follow(long after) {
        return repository.follow(after);
    }

    /** Declares or extends types, all or none. */
    void define(JsonArray types) {
        JsonObject body = new JsonObject();
        body.add("types", types);
        repository.exchange("POST", "/v1/types", body.toString());
    }

    /** False if the thread was interrupted. */
    private static boolean pause(int milliseconds) {
        try {
            Thread.sleep(milliseconds);
            return true;
        } catch (InterruptedException error) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    static String path(Kind kind, String id) {
        // The API checks the id: it is not empty, not too long, and Unicode.
        String checked = (kind == Kind.ENTITY ? InstanceId.entity(id) : InstanceId.relationship(id)).id();
        return (kind == Kind.ENTITY ? "/v1/entities/" : "/v1/relationships/") + encode(checked);
    }

    static String encode(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
    }

    private static JsonObject object(Answer answer) {
        return JsonParser.parseString(answer.json()).getAsJsonObject();
    }

    @Override
    public void close() {
        repository.close();
    }
}
