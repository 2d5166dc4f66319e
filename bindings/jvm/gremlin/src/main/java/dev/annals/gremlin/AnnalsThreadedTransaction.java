package dev.annals.gremlin;

import org.apache.tinkerpop.gremlin.structure.Graph;
import org.apache.tinkerpop.gremlin.structure.util.AbstractThreadedTransaction;
import org.apache.tinkerpop.gremlin.structure.util.TransactionException;

/**
 * A transaction of many threads, which {@code graph.tx().createThreadedTx()} opens. Threads wait for one another. After a
 * commit or a rollback it is over.
 */
public final class AnnalsThreadedTransaction extends AbstractThreadedTransaction {
    private final AnnalsGraph present;
    private final Session session;
    private volatile boolean isOpen = true;

    AnnalsThreadedTransaction(AnnalsGraph graph, AnnalsGraph present) {
        super(graph);
        this.present = present;
        session = new Session(present.repository().begin());
    }

    /**
     * Sets the author.
     *
     * @param author the author
     * @return this
     */
    public AnnalsThreadedTransaction author(String author) {
        session().author(author);
        return this;
    }

    /**
     * Sets the message.
     *
     * @param message the reason
     * @return this
     */
    public AnnalsThreadedTransaction message(String message) {
        session().message(message);
        return this;
    }

    Session session() {
        if (!isOpen) {
            throw over();
        }
        return session;
    }

    private static IllegalStateException over() {
        return new IllegalStateException(
                "threaded transaction: it is over; begin another with createThreadedTx() of the graph's tx()");
    }

    @Override
    public <G extends Graph> G createThreadedTx() {
        return present.tx().createThreadedTx();
    }

    @Override
    protected void doOpen() {
        throw over();
    }

    @Override
    protected void doCommit() throws TransactionException {
        Session ending = session();
        isOpen = false;
        ending.commit();
    }

    @Override
    protected void doRollback() {
        isOpen = false;
        session.close();
    }

    @Override
    public boolean isOpen() {
        return isOpen;
    }

    /** Rolls back, unless the transaction is over. */
    @Override
    protected void doClose() {
        if (isOpen) {
            rollback();
        }
        super.doClose();
    }
}
