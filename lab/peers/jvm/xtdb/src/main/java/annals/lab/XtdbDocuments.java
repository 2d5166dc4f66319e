package annals.lab;

import clojure.java.api.Clojure;
import com.eclipsesource.json.Json;
import com.eclipsesource.json.JsonArray;
import com.eclipsesource.json.JsonObject;
import com.eclipsesource.json.JsonValue;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Date;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import xtdb.api.ICursor;
import xtdb.api.IXtdbDatasource;
import xtdb.api.XtdbDocument;

/**
 * Answers the calls of the suite `methods` with documents in XTDB 1: each instance is one document, whose versions are
 * those of the document. The lab writes the queries; this class runs them, and takes the time of each call.
 */
public final class XtdbDocuments implements Answers {
    private final XtdbPeer peer = new XtdbPeer("");
    private final Map<String, XtdbInstance.Type> types = new HashMap<>();
    private boolean isOpen;
    /** Holds what was read, so that the compiler cannot leave it out. */
    private int read;

    /** A call that the repository refuses; that is an answer. */
    static final class Refusal extends Exception {
        private static final long serialVersionUID = 1;

        Refusal(String text) {
            super(text);
        }
    }

    /** What a call found or made. */
    private record Found(Collection<String> ids, int elements, boolean hasMore, Instant instant) {
        static Found of(Collection<String> ids) {
            return new Found(ids, ids.size(), false, null);
        }
    }

    private interface Call {
        Found run() throws Exception;
    }

    @Override
    public JsonObject answer(JsonObject request) throws Exception {
        String what = request.getString("do", "");
        if (what.equals("open")) {
            return open(request);
        }
        if (!isOpen) {
            throw new IllegalArgumentException(what + ": no repository is open; send open first");
        }
        String id = request.getString("id", "");
        int limit = request.getInt("limit", 0);
        Date at = request.get("at") == null ? null : Date.from(Instant.parse(request.getString("at", "")));
        return switch (what) {
            case "look" -> look(id, at);
            case "write" -> timed(() -> write(request.get("operations").asArray()));
            case "get" -> timed(() -> get(id, at));
            case "versions" -> timed(() -> versions(id, limit));
            case "find" -> find(request, limit, at);
            case "relationships-of" -> walk(at, walks -> {
                return new XtdbWalks.Subgraph(List.of(), walks.relationshipsOf(id, limit));
            });
            case "neighborhood" -> walk(at, walks -> walks.around(id, request.getInt("depth", 0)));
            case "related" -> walk(at, walks -> new XtdbWalks.Subgraph(walks.related(id, limit), List.of()));
            case "linking" -> walk(at, walks -> walks.linking(id, request.getString("to", "")));
            default -> throw new IllegalArgumentException("do: no request has the name " + what);
        };
    }

    @Override
    public void leave() throws Exception {
        if (isOpen) {
            peer.close();
        }
    }

    private JsonObject open(JsonObject request) throws Exception {
        if (isOpen) {
            throw new IllegalArgumentException("open: a repository is open already");
        }
        for (JsonValue value : request.get("types").asArray()) {
            XtdbInstance.Type type = XtdbInstance.Type.of(value.asObject());
            types.put(type.name(), type);
        }
        Path folder = Path.of(request.getString("folder", ""));
        Files.createDirectories(folder);
        peer.open(folder);
        isOpen = true;
        JsonObject settings = new JsonObject();
        peer.settings().forEach(settings::add);
        return new JsonObject()
            .add("version", System.getProperty("lab.version"))
            .add("durability", peer.durability().text)
            .add("settings", settings);
    }

    private static JsonObject timed(Call call) throws Exception {
        long start = System.nanoTime();
        Found found;
        try {
            found = call.run();
        } catch (Refusal refusal) {
            return new JsonObject().add("nanoseconds", System.nanoTime() - start).add("refused", refusal.getMessage());
        }
        JsonObject answer = new JsonObject().add("nanoseconds", System.nanoTime() - start);
        JsonArray ids = new JsonArray();
        found.ids.forEach(ids::add);
        answer.add("ids", ids).add("elements", found.elements).add("more", found.hasMore);
        return found.instant == null ? answer : answer.add("instant", found.instant.toString());
    }

    /** Reads everything that a door would send. */
    private void readAll(XtdbDocument document) {
        for (Object entry : document.toMap()) {
            read += ((Map.Entry<?, ?>) entry).getValue() == null ? 0 : 1;
        }
    }

    private IXtdbDatasource snapshot(Date at) {
        return at == null ? peer.node.openDB() : peer.node.openDB(at);
    }

    private Found write(JsonArray operations) throws Exception {
        try (IXtdbDatasource now = peer.node.openDB()) {
            XtdbChanges changes = new XtdbChanges(now, types);
            List<String> made = new ArrayList<>();
            for (JsonValue operation : operations) {
                changes.add(operation.asObject());
                if (operation.asObject().getString("action", "").equals("create")) {
                    made.add(operation.asObject().getString("id", ""));
                }
            }
            Date committed = peer.commit(changes.transaction()).getTime();
            return new Found(made, made.size(), false, committed.toInstant());
        }
    }

    /** The document of a live instance, or null. */
    private static XtdbDocument live(IXtdbDatasource snapshot, String id) {
        XtdbDocument document = snapshot.entity(id);
        return document != null && XtdbInstance.LIVE.equals(document.get("state")) ? document : null;
    }

    private Found get(String id, Date at) throws Exception {
        try (IXtdbDatasource snapshot = snapshot(at)) {
            XtdbDocument document = live(snapshot, id);
            if (document == null) {
                return Found.of(List.of());
            }
            readAll(document);
            return Found.of(List.of(id));
        }
    }

    private Found versions(String id, int limit) throws Exception {
        List<String> found = new ArrayList<>();
        try (IXtdbDatasource snapshot = peer.node.openDB();
             ICursor<? extends Map<?, ?>> versions = snapshot.openEntityHistory(id, XtdbChanges.NEWEST_FIRST)) {
            while (found.size() < limit && versions.hasNext()) {
                read += versions.next().size();
                found.add(id);
            }
        }
        return Found.of(found);
    }

    private JsonObject find(JsonObject request, int limit, Date at) throws Exception {
        Object query = Clojure.read(request.getString("query", ""));
        Object[] arguments = XtdbInstance.values(request.get("arguments").asArray());
        int skip = request.getInt("skip", 0);
        return timed(() -> {
            try (IXtdbDatasource snapshot = snapshot(at);
                 ICursor<List<?>> rows = snapshot.openQuery(query, arguments)) {
                return page(snapshot, rows, skip, limit);
            }
        });
    }

    private Found page(IXtdbDatasource snapshot, ICursor<List<?>> rows, int skip, int limit) {
        // A row can come more than once, where an attribute has several values that match.
        Set<String> seen = new LinkedHashSet<>();
        while (seen.size() <= skip + limit && rows.hasNext()) {
            seen.add((String) rows.next().get(0));
        }
        List<String> ids = seen.stream().skip(skip).limit(limit).toList();
        ids.forEach(id -> readAll(snapshot.entity(id)));
        return new Found(ids, ids.size(), seen.size() > skip + limit, null);
    }

    private interface Walking {
        XtdbWalks.Subgraph of(XtdbWalks walks) throws Exception;
    }

    /** Walks, and reads the documents of the result. */
    private JsonObject walk(Date at, Walking walking) throws Exception {
        return timed(() -> {
            try (IXtdbDatasource snapshot = snapshot(at)) {
                XtdbWalks.Subgraph found = walking.of(new XtdbWalks(snapshot));
                found.entities().forEach(id -> readAll(snapshot.entity(id)));
                found.relationships().forEach(id -> readAll(snapshot.entity(id)));
                int elements = found.entities().size() + found.relationships().size();
                return new Found(List.copyOf(found.entities()), elements, false, null);
            }
        });
    }

    private JsonObject look(String id, Date at) throws Exception {
        try (IXtdbDatasource snapshot = snapshot(at)) {
            XtdbDocument document = live(snapshot, id);
            return document == null ? new JsonObject().add("missing", Json.TRUE) : XtdbInstance.describe(document);
        }
    }
}
