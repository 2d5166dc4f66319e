package dev.annals.gremlin;

import dev.annals.AnnalsException;
import dev.annals.Condition;
import dev.annals.Entity;
import dev.annals.Find;
import dev.annals.Instance;
import dev.annals.Links;
import dev.annals.NotFoundException;
import dev.annals.Relationship;
import dev.annals.Snapshot;
import dev.annals.Transaction;
import java.time.Instant;
import java.util.Collection;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;
import org.apache.tinkerpop.gremlin.structure.util.TransactionException;

/**
 * The reads and changes of a thread: its transaction, or a snapshot of the past, which cannot be changed. Threads may share
 * one; a thread that changes by what it has read locks it for both.
 */
final class Session {
    private final Transaction transaction;
    private final Snapshot past;
    // Written under the lock.
    private volatile long changes;

    Session(Transaction transaction) {
        this.transaction = transaction;
        past = null;
    }

    Session(Snapshot past) {
        transaction = null;
        this.past = past;
    }

    /** How many changes it has made: what was read before a change may be old. */
    long changes() {
        return changes;
    }

    synchronized void author(String author) {
        transaction.author(author);
    }

    synchronized void message(String message) {
        transaction.message(message);
    }

    synchronized void committedAt(Instant instant) {
        transaction.committedAt(instant);
    }

    /** Errors: {@code TransactionException}, with the reason of the repository. */
    synchronized void commit() throws TransactionException {
        try {
            transaction.commit();
        } catch (AnnalsException error) {
            throw new TransactionException(error.getMessage(), error);
        }
    }

    /** Makes a change. */
    synchronized <R> R changing(Function<Transaction, R> change) {
        if (past != null) {
            throw new UnsupportedOperationException(
                    "graph as of position " + past.position() + ": the past cannot be changed; change the graph itself");
        }
        try {
            return guarded(() -> change.apply(transaction));
        } finally {
            // Order: a thread that reads meanwhile must not take what it reads for newer than the change.
            changes += 1;
        }
    }

    Optional<Entity> entity(String id) {
        return guarded(() -> past == null ? transaction.entity(id) : past.entity(id));
    }

    Optional<Relationship> relationship(String id) {
        return guarded(() -> past == null ? transaction.relationship(id) : past.relationship(id));
    }

    /** The hits of a search, page by page. */
    <I extends Instance> Iterator<I> find(Find<I> find) {
        return known(Collections.emptyIterator(), () -> {
            Iterator<I> hits = (past == null ? transaction.find(find) : past.find(find)).iterator();
            hits.hasNext();
            return hits;
        });
    }

    /** The removed instance with an id. */
    <I extends Instance> Optional<I> removed(Find<I> find, String id) {
        Iterator<I> found = find(find.onlyDeleted().where(Condition.equal("@id", id)).limit(1));
        return found.hasNext() ? Optional.of(found.next()) : Optional.empty();
    }

    /** How many hits a search has. */
    long count(Find<?> find) {
        return known(0L, () -> past == null ? transaction.count(find) : past.count(find));
    }

    /** The repository refuses a search for a name that no instance can have. To TinkerPop such a search has no hits. */
    private static <R> R known(R none, Supplier<R> search) {
        try {
            return search.get();
        } catch (NotFoundException unknown) {
            return none;
        } catch (AnnalsException error) {
            throw AnnalsGraph.exception(error);
        }
    }

    /** The vertices next to each vertex, by its id; none of an unknown one. */
    Map<String, List<Entity>> vertices(Collection<String> ids, Links links) {
        return guarded(() ->
                past == null ? transaction.neighborEntities(ids, links) : past.neighborEntities(ids, links));
    }

    /** The ids of the vertices next to a vertex. */
    List<String> ids(String id, Links links) {
        return guarded(() -> (past == null ? transaction.neighborIds(List.of(id), links) : past.neighborIds(List.of(id), links))
                .get(id));
    }

    /** The entities with these ids, as far as they are there. */
    Map<String, Entity> entities(List<String> ids) {
        return guarded(() -> past == null ? transaction.entities(ids) : past.entities(ids));
    }

    /** The edges of each vertex, by its id; none of an unknown one. */
    Map<String, List<Relationship>> edges(Collection<String> ids, Links links) {
        return guarded(() ->
                past == null ? transaction.neighborRelationships(ids, links) : past.neighborRelationships(ids, links));
    }

    synchronized void close() {
        if (transaction != null) {
            transaction.close();
        } else {
            past.close();
        }
    }

    private static <R> R guarded(Supplier<R> work) {
        try {
            return work.get();
        } catch (AnnalsException error) {
            throw AnnalsGraph.exception(error);
        }
    }
}
