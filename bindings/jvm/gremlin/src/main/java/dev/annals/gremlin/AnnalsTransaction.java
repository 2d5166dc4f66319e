package dev.annals.gremlin;

import dev.annals.AnnalsException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.tinkerpop.gremlin.structure.util.AbstractThreadLocalTransaction;
import org.apache.tinkerpop.gremlin.structure.util.TransactionException;

/** The transactions of all threads of a graph. */
final class AnnalsTransaction extends AbstractThreadLocalTransaction {
    private final AnnalsGraph graph;
    private final Map<Thread, Session> sessions = new ConcurrentHashMap<>();

    AnnalsTransaction(AnnalsGraph graph) {
        super(graph);
        this.graph = graph;
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
                entry.getValue().transaction().close();
            }
            return isOver;
        });
        sessions.put(Thread.currentThread(), new Session(graph.repository().begin()));
    }

    @Override
    protected void doCommit() throws TransactionException {
        try {
            sessions.remove(Thread.currentThread()).transaction().commit();
        } catch (AnnalsException error) {
            throw new TransactionException(error.getMessage(), error);
        }
    }

    @Override
    protected void doRollback() {
        Session session = sessions.remove(Thread.currentThread());
        if (session != null) {
            session.transaction().close();
        }
    }

    @Override
    public boolean isOpen() {
        return sessions.containsKey(Thread.currentThread());
    }

    void closeAll() {
        sessions.values().forEach(session -> session.transaction().close());
        sessions.clear();
    }
}
