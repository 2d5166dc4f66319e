package dev.annals;

import com.google.gson.JsonObject;
import java.time.Duration;
import java.util.Map;
import java.util.function.Consumer;

/**
 * A lease: state that is no configuration, such as that of a device, and stays in the operational view while this lease
 * is renewed. It is in memory only, and in no history. docs/trees.md describes the view.
 */
public final class Lease {
    private final Client client;
    private final String name;

    Lease(Client client, String name) {
        this.client = client;
        this.name = name;
    }

    /**
     * A lease as it is now.
     *
     * @param name its name
     * @param left the time until it ends unless it is renewed
     */
    public record State(String name, Duration left) {
        static State of(JsonObject json) {
            double seconds = json.get("seconds").getAsDouble();
            return new State(Json.text(json, "name"), Duration.ofMillis(Math.round(seconds * 1_000)));
        }
    }

    static JsonObject time(Duration lasts) {
        JsonObject body = new JsonObject();
        body.addProperty("seconds", lasts.toMillis() / 1_000.0);
        return body;
    }

    /**
     * The name.
     *
     * @return the name
     */
    public String name() {
        return name;
    }

    /**
     * Lets it last so long from now.
     *
     * @param lasts the time, at most a day
     * @return its state
     * @throws AnnalsException kind {@code not-found}: it has ended
     */
    public State renew(Duration lasts) {
        return State.of(client.send("POST", at("/renew"), time(lasts)));
    }

    /**
     * Pushes state under it, all changes or none.
     *
     * @param work makes the changes of trees
     * @return its state
     * @throws AnnalsException kind {@code not-found}: it has ended; those of the changes
     */
    public State push(Consumer<TreeChanges> work) {
        BatchWork batch = new BatchWork(client, Query.NONE, Isolation.SNAPSHOT);
        try (Transaction transaction = new Transaction(batch)) {
            work.accept(transaction.tree());
        }
        JsonObject body = new JsonObject();
        body.add("operations", batch.operations());
        return State.of(client.send("POST", at("/changes"), body));
    }

    /** Ends it. Its state leaves the view. */
    public void end() {
        client.send("DELETE", at(""), Map.of());
    }

    private String at(String more) {
        return "/v1/leases/" + Utf8.percent(name) + more;
    }
}
