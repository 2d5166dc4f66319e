package dev.annals.egeria;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import dev.annals.AnnalsException;
import dev.annals.Answer;
import dev.annals.AsOf;
import dev.annals.InstanceId;
import dev.annals.Kind;
import dev.annals.LogRecord;
import dev.annals.Repository;
import dev.annals.Snapshot;
import dev.annals.Transaction;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** The repository of a connector: snapshots to read, and commits of operations in their JSON form of docs/json.md. */
final class Store implements AutoCloseable {
    private static final int ATTEMPTS_MAX = 100;
    private static final int PAUSE_MAX_MS = 200;

    private final Repository repository;

    Store(Repository repository) {
        this.repository = repository;
    }

    /** Names the collection; a repository keeps its first name. */
    void name(String collection) {
        JsonObject body = new JsonObject();
        body.addProperty("collection", collection);
        repository.exchange("PUT", "/v1/collection", body.toString());
    }

    /** The repository as of a time. Close it. */
    Snapshot at(AsOf time) {
        return repository.asOf(time);
    }

    /** True if an instance or a proxy is stored, also a deleted one. */
    boolean isKnown(InstanceId id) {
        try (Snapshot now = at(AsOf.NOW)) {
            return now.known(id).isPresent();
        }
    }

    /**
     * A page of at most `limit` versions of an instance, newest first.
     *
     * <p>Shape: entries of a history with their content, as JSON.
     */
    JsonObject versions(InstanceId id, int limit, Optional<String> after) {
        String target = (id.kind() == Kind.ENTITY ? "/v1/entities/" : "/v1/relationships/") + encode(id.id())
                + "/history?content=true&limit=" + limit + after.map(cursor -> "&after=" + encode(cursor)).orElse("");
        return object(repository.exchange("GET", target, ""));
    }

    private static String encode(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
    }

    /** Commits operations as one record, and says at which time its effect shows. */
    AsOf commit(String author, String message, List<JsonObject> operations) {
        for (int attempt = 1; ; attempt++) {
            try (Transaction transaction = repository.begin()) {
                // Egeria counts a version for each update, also for one that changes nothing.
                transaction.author(author).message(message).always();
                operations.forEach(operation -> transaction.operation(operation.toString()));
                return AsOf.position(transaction.commit().position());
            } catch (AnnalsException error) {
                if (!error.isRetryable() || attempt == ATTEMPTS_MAX || !pause(Math.min(attempt * 10, PAUSE_MAX_MS))) {
                    throw error;
                }
            }
        }
    }

    /** The position of the last record. */
    long position() {
        try (Snapshot now = at(AsOf.NOW)) {
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

    private static JsonObject object(Answer answer) {
        return JsonParser.parseString(answer.json()).getAsJsonObject();
    }

    @Override
    public void close() {
        repository.close();
    }
}
