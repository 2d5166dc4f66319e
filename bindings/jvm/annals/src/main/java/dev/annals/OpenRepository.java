package dev.annals;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Stream;

/** The one implementation: everything wide goes through the door; the hot paths have a packed form in this process. */
final class OpenRepository implements Repository {
    private static final String EVENTS = "text/event-stream";

    private final Client client;

    /** The repository in this process, if it is there. */
    private final Optional<Handle> embedded;

    OpenRepository(Door door) {
        this.client = new Client(door);
        this.embedded = door instanceof NativeDoor own ? Optional.of(own.repository()) : Optional.empty();
    }

    @Override
    public Snapshot snapshot() {
        return asOf(AsOf.NOW);
    }

    @Override
    public Snapshot asOf(AsOf time) {
        if (embedded.isPresent()) {
            NativeView view = NativeView.open(embedded.get(), time);
            return new Snapshot(client, view, shown(view.position(), time), Query.NONE);
        }
        // Every read of a page states the position that it shows.
        Query query = time.query("").and("limit", 1);
        AsOf shown = shown(client.position(query.on("/v1/entities")), time);
        return new Snapshot(client, new HttpView(client, shown, Query.NONE), shown, Query.NONE);
    }

    private static AsOf shown(long position, AsOf time) {
        AsOf shown = AsOf.position(position);
        return time.valid().map(shown::andValid).orElse(shown);
    }

    @Override
    public Transaction begin(Isolation isolation) {
        return new Transaction(
                embedded.isPresent()
                        ? new NativeWork(embedded.get(), isolation)
                        : new BatchWork(client, Query.NONE, isolation));
    }

    @Override
    public Receipt transact(Isolation isolation, Consumer<Transaction> work) {
        return Retry.transact(this, isolation, transaction -> {
                    work.accept(transaction);
                    return true;
                })
                .receipt();
    }

    @Override
    public <T> T transactAndGet(Function<Transaction, T> work) {
        return Retry.transact(this, Isolation.SNAPSHOT, work).result();
    }

    @Override
    public DryRun dryRun(Consumer<Transaction> work) {
        BatchWork batch = new BatchWork(client, Query.NONE, Isolation.SNAPSHOT);
        try (Transaction transaction = new Transaction(batch)) {
            work.accept(transaction);
            return batch.dryRun();
        }
    }

    @Override
    public Receipt define(Collection<TypeDefinition> types) {
        JsonArray all = new JsonArray();
        types.forEach(type -> all.add(type.json()));
        JsonObject body = new JsonObject();
        body.add("types", all);
        return Receipt.of(client.send("POST", "/v1/types", body));
    }

    @Override
    public TakenBack takeBack(long position, long toPosition) {
        return takeBack(position, Query.NONE.and("toPosition", toPosition));
    }

    @Override
    public TakenBack takeBack(long position, long toPosition, Keep keep) {
        return takeBack(position, Query.NONE.and("toPosition", toPosition).and("keep", keep));
    }

    private TakenBack takeBack(long position, Query query) {
        String target = query.on("/v1/records/" + position + "/take-back");
        return TakenBack.of(client.send("POST", target, Map.of()));
    }

    @Override
    public Stream<LogRecord> follow(long after) {
        return feed(Query.NONE.and("after", after), LogRecord::of);
    }

    @Override
    public Stream<WatchEvent<InstanceChange>> watch(Kind kind, String search, long after) {
        Query query = Query.NONE.and("search", search).and("kind", kind).and("after", after);
        return feed(query, json -> WatchEvent.of(json, InstanceChange::of));
    }

    @Override
    public Stream<WatchEvent<TreeChange>> watchTree(String path, long after) {
        Query query = Query.NONE.and("tree", path).and("after", after);
        return feed(query, json -> WatchEvent.of(json, TreeChange::of));
    }

    private <T> Stream<T> feed(Query query, Function<JsonObject, T> event) {
        InputStream body = client.stream("GET", query.on("/v1/feed"), Map.of("accept", EVENTS), null)
                .body();
        return Feed.stream(body, event);
    }

    @Override
    public StoredContent putContent(ContentUpload upload, InputStream bytes) {
        return StoredContent.of(json(client.stream("PUT", upload.target(), upload.headers(), bytes)));
    }

    @Override
    public List<Candidate.State> candidates() {
        return Json.list(client.get("/v1/candidates"), "items", Candidate.State::of);
    }

    @Override
    public Candidate openCandidate(String name) {
        JsonObject body = new JsonObject();
        body.addProperty("name", name);
        client.send("POST", "/v1/candidates", body);
        return new Candidate(client, name);
    }

    @Override
    public Candidate candidate(String name) {
        Candidate candidate = new Candidate(client, name);
        candidate.state();
        return candidate;
    }

    @Override
    public List<Lease.State> leases() {
        return Json.list(client.get("/v1/leases"), "items", Lease.State::of);
    }

    @Override
    public Lease openLease(String name, Duration lasts) {
        JsonObject body = Lease.time(lasts);
        body.addProperty("name", name);
        client.send("POST", "/v1/leases", body);
        return new Lease(client, name);
    }

    @Override
    public Optional<Object> operational(String path) {
        try {
            return Optional.of(TreeValues.value(
                    client.element(Query.NONE.and("path", path).on("/v1/operational/"))));
        } catch (NotFoundException error) {
            return Optional.empty();
        }
    }

    @Override
    public InputStream backup() {
        return client.stream("GET", "/v1/backup", Map.of(), null).body();
    }

    @Override
    public Check check() {
        return Check.of(client.get("/v1/check"));
    }

    @Override
    public Answer exchange(String method, String target, String json) {
        return client.exchange(method, target, json);
    }

    @Override
    public InputStream exportLines() {
        return client.stream("GET", "/v1/export", Map.of("accept", "application/x-ndjson"), null)
                .body();
    }

    @Override
    public Map<String, Object> importLines(InputStream lines, Map<String, String> options) {
        Query query = Query.NONE;
        for (Map.Entry<String, String> option : new TreeMap<>(options).entrySet()) {
            query = query.and(option.getKey(), option.getValue());
        }
        Map<String, String> headers = Map.of("content-type", "application/x-ndjson");
        return Values.map(json(client.stream("POST", query.on("/v1/import"), headers, lines)));
    }

    @Override
    public Compaction compact() {
        return Compaction.of(client.send("POST", "/v1/compactions", Map.of()));
    }

    private static JsonObject json(Door.Streamed answer) {
        try (InputStream body = answer.body()) {
            return Json.object(Json.parse(new String(body.readAllBytes(), StandardCharsets.UTF_8)));
        } catch (IOException error) {
            throw AnnalsException.of("unavailable", "the answer broke off: " + error.getMessage(), error);
        }
    }

    @Override
    public void close() {
        client.close();
    }
}
