package dev.annals.gremlin;

import java.time.Instant;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.tinkerpop.gremlin.structure.Graph;
import org.apache.tinkerpop.gremlin.structure.util.AbstractThreadLocalTransaction;
import org.apache.tinkerpop.gremlin.structure.util.TransactionException;

/**
 * The transactions of all threads of a graph. Each thread has one, which its first read or write opens.
 *
 * <p>{@code ((AnnalsTransaction) graph.tx()).author("ada").message("why")} signs the transaction of this thread.
 */
public final class AnnalsTransaction extends AbstractThreadLocalTransaction {
    private final AnnalsGraph graph;
    private final Map<Thread, Session> sessions = new ConcurrentHashMap<>();

    AnnalsTransaction(AnnalsGraph graph) {
        super(graph);
        this.graph = graph;
    }

    /**
     * Sets the author of this thread's transaction, which it opens if it must.
     *
     * @param author the author
     * @return this
     */
    public AnnalsTransaction author(String author) {
        readWrite();
        session().author(author);
        return this;
    }

    /**
     * Sets the message of this thread's transaction, which it opens if it must.
     *
     * @param message the reason
     * @return this
     */
    public AnnalsTransaction message(String message) {
        readWrite();
        session().message(message);
        return this;
    }

    /**
     * Says when this thread's transaction was committed, to import history. Call it before the first change.
     *
     * @param instant an instant of the past, not before the last commit's
     * @return this
     */
    public AnnalsTransaction committedAt(Instant instant) {
        readWrite();
        session().committedAt(instant);
        return this;
    }

    Session session() {
        Session session = sessions.get(Thread.currentThread());
        if (session == null) {
            throw new IllegalStateException("transaction: expected an open one of this thread, found none; open it");
        }
        return session;
    }

    @Override
    protected void doOpen() {
        // A thread that ended without closing its transaction must not keep its snapshot.
        sessions.entrySet().removeIf(entry -> {
            boolean isOver = !entry.getKey().isAlive();
            if (isOver) {
                entry.getValue().close();
            }
            return isOver;
        });
        sessions.put(Thread.currentThread(), new Session(graph.repository().begin()));
    }

    @Override
    protected void doCommit() throws TransactionException {
        sessions.remove(Thread.currentThread()).commit();
    }

    /** A graph with one transaction, which many threads may use; it is open, and sees the graph as it is now. */
    @Override
    @SuppressWarnings("unchecked") // TinkerPop leaves the class of the graph to the caller.
    public <G extends Graph> G createThreadedTx() {
        return (G) graph.threaded();
    }

    @Override
    protected void doRollback() {
        Session session = sessions.remove(Thread.currentThread());
        if (session != null) {
            session.close();
        }
    }

    @Override
    public boolean isOpen() {
        return sessions.containsKey(Thread.currentThread());
    }

    void closeAll() {
        sessions.values().forEach(Session::close);
        sessions.clear();
    }
}
