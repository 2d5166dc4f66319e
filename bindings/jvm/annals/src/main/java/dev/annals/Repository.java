package dev.annals;

import java.io.InputStream;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * A repository of entities and relationships with their full history, in this process or served by another one. Both
 * behave the same, except that a transaction over a connection cannot read its own writes.
 *
 * <p>{@link Annals} opens it. For any number of threads at once. All failures are {@link AnnalsException}s; after
 * {@link #close} each call is {@code closed}. Over a connection every call may be {@code unavailable} (no answer) or
 * {@code time-out}.
 *
 * <pre>{@code
 * try (Repository repository = Annals.open(Path.of("library"))) {
 *     repository.transact(t -> t.create(NewEntity.of("person").id("ada").set("name", "Ada")));
 *     try (Snapshot now = repository.snapshot()) {
 *         now.find(Find.entities("person").startsWith("name", "A")).forEach(System.out::println);
 *     }
 * }
 * }</pre>
 */
public interface Repository extends AutoCloseable {
    /**
     * The present: the repository at its last position.
     *
     * @return the snapshot; close it after use
     */
    Snapshot snapshot();

    /**
     * What the repository knew at an instant.
     *
     * @param instant an instant of the past, in microseconds
     * @return the snapshot; close it after use
     * @throws AnnalsException kind {@code future-instant}
     */
    default Snapshot asOf(Instant instant) {
        return asOf(AsOf.instant(instant));
    }

    /**
     * What the repository knew at a position.
     *
     * @param position the position, from 0
     * @return the snapshot; close it after use
     * @throws AnnalsException kind {@code not-found}: the repository has no such position
     */
    default Snapshot asOf(long position) {
        return asOf(AsOf.position(position));
    }

    /**
     * What the repository knew, or knows, and what was true at an instant.
     *
     * @param time the times
     * @return the snapshot; close it after use
     * @throws AnnalsException kind {@code not-found} or {@code future-instant}
     */
    Snapshot asOf(AsOf time);

    /**
     * Begins a transaction on the present.
     *
     * @return the transaction; commit and close it
     */
    default Transaction begin() {
        return begin(Isolation.SNAPSHOT);
    }

    /**
     * Begins a transaction on the present.
     *
     * @param isolation which concurrent writes are conflicts
     * @return the transaction; commit and close it
     */
    Transaction begin(Isolation isolation);

    /**
     * Does work in a transaction and commits it. If the commit is refused with {@code conflict} or {@code busy}, does
     * the work again on the present, at most 100 times.
     *
     * @param work makes the changes; it may run several times
     * @return the commit
     * @throws AnnalsException of the last attempt
     */
    default Receipt transact(Consumer<Transaction> work) {
        return transact(Isolation.SNAPSHOT, work);
    }

    /**
     * The same with an isolation.
     *
     * @param isolation which concurrent writes are conflicts
     * @param work makes the changes; it may run several times
     * @return the commit
     * @throws AnnalsException of the last attempt
     */
    Receipt transact(Isolation isolation, Consumer<Transaction> work);

    /**
     * The same for work with a result.
     *
     * @param work makes the changes; it may run several times
     * @param <T> the class of the result
     * @return the result of the attempt that was committed
     * @throws AnnalsException of the last attempt
     */
    <T> T transactAndGet(Function<Transaction, T> work);

    /**
     * Checks a transaction without writing it. The work cannot read its own writes.
     *
     * @param work makes the changes
     * @return what the commit would create
     * @throws AnnalsException of the kinds that the commit would have
     */
    DryRun dryRun(Consumer<Transaction> work);

    /**
     * Declares or extends types, all or none, in any order.
     *
     * @param types the declarations
     * @return the commit
     * @throws AnnalsException kind {@code type-violation}: a declaration removes something or contradicts another one,
     *     or instances do not fit it
     */
    Receipt define(Collection<TypeDefinition> types);

    /**
     * Takes back a record, in one new record.
     *
     * @param position the position of the record
     * @return the commit
     * @throws AnnalsException kind {@code precondition-failed}: later records built on it; kind {@code not-found}
     */
    default TakenBack takeBack(long position) {
        return takeBack(position, position);
    }

    /**
     * Takes back a range of records as if they were one, in one new record.
     *
     * @param position the first position
     * @param toPosition the last position
     * @return the commit
     * @throws AnnalsException kind {@code precondition-failed}: later records built on them; kind {@code not-found}
     */
    TakenBack takeBack(long position, long toPosition);

    /**
     * Takes back a range of records, and chooses a side where later records built on them.
     *
     * @param position the first position
     * @param toPosition the last position
     * @param keep the side
     * @return the commit, and what stays
     * @throws AnnalsException kind {@code not-found}: no such position
     */
    TakenBack takeBack(long position, long toPosition, Keep keep);

    /**
     * Every record from a position on, once, in order and without gaps. The stream waits for records to come; closing
     * it, by any thread, ends it. It also ends when the server stops: follow again behind the last position.
     *
     * @param after the position before the first record; 0 for all records
     * @return the records; close the stream
     * @throws AnnalsException kind {@code not-found}: the repository has no such position
     */
    Stream<LogRecord> follow(long after);

    /**
     * How each record changes the hits of a search. The stream waits for changes; closing it, by any thread, ends it.
     *
     * @param kind entities or relationships
     * @param search types and a condition in the text form, such as {@code package where size > 5}
     * @param after the position before the first record
     * @return the events; close the stream
     * @throws AnnalsException kind {@code invalid-expression}; kind {@code not-found}: no such position
     */
    Stream<WatchEvent<InstanceChange>> watch(Kind kind, String search, long after);

    /**
     * How each record changes an item of the tree and everything below it. The stream waits for changes; closing it, by
     * any thread, ends it.
     *
     * @param path the path of names and keys
     * @param after the position before the first record
     * @return the events; close the stream
     * @throws AnnalsException kind {@code invalid-argument}: the path does not read; kind {@code not-found}: no such
     *     position
     */
    Stream<WatchEvent<TreeChange>> watchTree(String path, long after);

    /**
     * Stores bytes of any length, and makes a version of an entity that names them.
     *
     * @param upload the entity, and what is stated about the bytes
     * @param bytes the bytes; read to the end, not closed
     * @return the content, and the commit
     * @throws AnnalsException kind {@code digest-mismatch}: the bytes have another digest than stated; kind
     *     {@code not-found}: no such entity
     */
    StoredContent putContent(ContentUpload upload, InputStream bytes);

    /**
     * The open candidates: named working copies whose edits become one record. docs/trees.md describes them.
     *
     * @return the candidates
     */
    List<Candidate.State> candidates();

    /**
     * Opens a candidate on the present.
     *
     * @param name its name
     * @return the candidate
     * @throws AnnalsException kind {@code already-exists}
     */
    Candidate openCandidate(String name);

    /**
     * A candidate that is open.
     *
     * @param name its name
     * @return the candidate
     * @throws AnnalsException kind {@code not-found}
     */
    Candidate candidate(String name);

    /**
     * The leases that are open.
     *
     * @return them by name
     */
    List<Lease.State> leases();

    /**
     * Opens a lease, under which this client pushes state into the operational view.
     *
     * @param name its name
     * @param lasts the time until it ends unless it is renewed, at most a day
     * @return the lease
     * @throws AnnalsException kind {@code already-exists}
     */
    Lease openLease(String name, Duration lasts);

    /**
     * Reads an item of the tree with the state that clients pushed, everything below it, and {@code @origin} where that
     * changes: {@code running} or {@code lease:NAME}.
     *
     * @param path the path
     * @return the item as a map, or the value, if there is something
     */
    Optional<Object> operational(String path);

    /**
     * Sends a request of docs/http.md, for what has no method here. Also in this process.
     *
     * @param method such as {@code GET}
     * @param target path and query, percent-encoded, such as {@code /v1/entities/ada?at=2025}
     * @param json the body in JSON; empty for none
     * @return the answer; its body is whole, so read long results page by page
     * @throws AnnalsException of any kind: the answer is a problem
     */
    Answer exchange(String method, String target, String json);

    /**
     * Opens an export: everything that the repository knows now, as JSON Lines. Close it after use.
     *
     * @return the lines in UTF-8
     */
    InputStream exportLines();

    /**
     * Imports JSON Lines, as {@code POST /v1/import} of docs/http.md does.
     *
     * @param lines the lines in UTF-8, or compressed by gzip; read to the end, not closed
     * @param options parameters by name, such as {@code merge} with an empty text
     * @return the answer of docs/http.md: {@code created}, {@code updated}, {@code refused} and others
     * @throws AnnalsException kind {@code invalid-argument}: an unknown parameter
     */
    Map<String, Object> importLines(InputStream lines, Map<String, String> options);

    /**
     * Opens a backup of everything, up to one position: one tar, as {@code GET /v1/backup} of docs/http.md. Close it after
     * use. It is whole if its last file is {@code backup.json}.
     *
     * @return the bytes of the tar
     * @throws AnnalsException kind {@code busy}: another backup, a check or a compaction runs
     */
    InputStream backup();

    /**
     * Builds the graph anew from the log and compares. Returns when it is done.
     *
     * @return what it found
     * @throws AnnalsException kind {@code busy}: a check, a backup or a compaction runs
     */
    Check check();

    /**
     * Removes the bytes of purged instances from the log, and contents that no version names. Returns when it is done.
     *
     * @return what was removed
     * @throws AnnalsException kind {@code busy}: another compaction runs
     */
    Compaction compact();

    /** Closes the repository. Feeds end; snapshots, transactions and other streams of it are {@code closed}. */
    @Override
    void close();
}
