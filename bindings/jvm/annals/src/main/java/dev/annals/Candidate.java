package dev.annals;

import com.google.gson.JsonObject;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * A named working copy: its edits are durable, only a reader that names the candidate sees them, and they become one
 * record at the commit. docs/trees.md describes it. After the commit or the discard each call is {@code not-found}.
 */
public final class Candidate {
    private final Client client;
    private final String name;

    Candidate(Client client, String name) {
        this.client = client;
        this.name = name;
    }

    /**
     * The state of a candidate.
     *
     * @param name its name
     * @param base the position that its edits are based on
     * @param changes the number of its changes
     * @param created when and by whom it was opened
     * @param updated when and by whom it was edited last
     * @param confirmBefore until when a commit waits for its confirmation, if it does
     */
    public record State(
            String name, long base, int changes, Stamp created, Stamp updated, Optional<Instant> confirmBefore) {
        static State of(JsonObject json) {
            Optional<Instant> confirmBefore = json.get("unconfirmed") instanceof JsonObject waiting
                    ? Json.optional(waiting, "confirmBefore").map(Instant::parse)
                    : Optional.empty();
            return new State(
                    Json.text(json, "name"),
                    Json.large(json, "base"),
                    Json.number(json, "changes"),
                    Stamp.of(json.get("created")),
                    Stamp.of(json.get("updated")),
                    confirmBefore);
        }
    }

    /**
     * An edit that conflicts with a later commit.
     *
     * @param edit its number, from 0
     * @param action its action
     * @param instance the instance, if it has one
     * @param reason the kind of the conflict
     * @param detail a text for people
     */
    public record Conflict(int edit, String action, Optional<InstanceId> instance, String reason, String detail) {
        static Conflict of(JsonObject json) {
            return new Conflict(
                    Json.number(json, "edit"),
                    Json.text(json, "action"),
                    Json.optional(json, "id").map(id -> new InstanceId(Kind.of(Json.text(json, "kind")), id)),
                    Json.text(json, "reason"),
                    Json.text(json, "detail"));
        }
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
     * The state.
     *
     * @return the state
     */
    public State state() {
        return State.of(client.get(at("")));
    }

    /**
     * The state of the repository after the commit. It moves on with the repository and the edits.
     *
     * <p>Its searches must be in the text form ({@link Find#text}, {@link Find#where(String)}); others are
     * {@code invalid-argument}. It has no {@link Snapshot#explain}.
     *
     * @return the view; close it after use
     */
    public Snapshot snapshot() {
        Query query = Query.NONE.and("candidate", name);
        return new Snapshot(client, new CandidateView(client, query), AsOf.NOW, query);
    }

    /**
     * Adds edits, all or none. The work cannot read its own writes.
     *
     * @param work makes the changes
     * @return the receipt of the edit; the position is that of the record of the candidate
     */
    public Receipt edit(Consumer<Transaction> work) {
        BatchWork batch = new BatchWork(client, Query.NONE.and("candidate", name), Isolation.SNAPSHOT);
        try (Transaction transaction = new Transaction(batch)) {
            work.accept(transaction);
            return transaction.commit();
        }
    }

    /**
     * The edits.
     *
     * @return the changes in order, each as an operation of docs/json.md, read page by page while you ask for them
     */
    public Stream<LogRecord.Change> edits() {
        return Pages.stream(OptionalLong.empty(), Optional.empty(), (limit, after) -> {
            Query query = Snapshot.page(Query.NONE, OptionalLong.of(limit), after);
            return Page.of(client.get(query.on(at("/edits"))), LogRecord::change);
        });
    }

    /**
     * Edits of instances that another commit changed since the base.
     *
     * @return the conflicts; empty if there are none
     */
    public List<Conflict> conflicts() {
        return Json.list(client.get(at("/conflicts")), "items", Conflict::of);
    }

    /**
     * Checks whether the commit would succeed.
     *
     * @throws AnnalsException of the kind that the commit would have
     */
    public void check() {
        client.get(at("/check"));
    }

    /**
     * Makes the present the base.
     *
     * @throws AnnalsException kind {@code conflict}: there are conflicts
     */
    public void rebase() {
        client.send("POST", at("/rebase"), new JsonObject());
    }

    /**
     * Makes the present the base, and chooses a side in conflicts.
     *
     * @param keep the side
     * @return the conflicts in which it chose, at most the first 1,000: with {@link Keep#THEIRS} these edits are gone
     */
    public List<Conflict> rebase(Keep keep) {
        JsonObject body = new JsonObject();
        body.addProperty("keep", keep.toString());
        return Json.list(client.send("POST", at("/rebase"), body), "items", Conflict::of);
    }

    /**
     * Commits the edits as one record, and ends the candidate.
     *
     * @return the commit
     * @throws AnnalsException kind {@code conflict}: there are conflicts
     */
    public Receipt commit() {
        return Receipt.of(client.send("POST", at("/commit"), new JsonObject()));
    }

    /**
     * Commits the edits, and takes them back unless {@link #confirm} arrives in time.
     *
     * @param within the time, at most a year
     * @return the commit
     * @throws AnnalsException kind {@code conflict}: there are conflicts
     */
    public Receipt commitToConfirm(Duration within) {
        JsonObject body = new JsonObject();
        body.addProperty("confirmWithin", within.toString());
        return Receipt.of(client.send("POST", at("/commit"), body));
    }

    /**
     * Confirms a commit that waits for it.
     *
     * @return the record of the confirmation
     */
    public Receipt confirm() {
        return Receipt.of(client.send("POST", at("/confirm"), Map.of()));
    }

    /**
     * Takes back a commit that waits for its confirmation. The candidate is open again.
     *
     * @return the record that takes it back
     * @throws AnnalsException kind {@code precondition-failed}: later commits built on it
     */
    public TakenBack takeBack() {
        return takeBack(Query.NONE);
    }

    /**
     * Takes back a commit that waits for its confirmation, and chooses a side where later commits built on it. The
     * candidate is open again.
     *
     * @param keep the side
     * @return the record that takes it back, and what stays
     */
    public TakenBack takeBack(Keep keep) {
        return takeBack(Query.NONE.and("keep", keep));
    }

    private TakenBack takeBack(Query query) {
        return TakenBack.of(client.send("POST", query.on(at("/take-back")), Map.of()));
    }

    /** Ends the candidate without a commit. */
    public void discard() {
        client.send("DELETE", at(""), Map.of());
    }

    private String at(String more) {
        return "/v1/candidates/" + Utf8.percent(name) + more;
    }
}
