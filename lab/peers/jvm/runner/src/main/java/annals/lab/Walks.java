package annals.lab;

/** Walks along the chain of one thread, from its first vertex. */
final class Walks implements Loop.Operation {
    /** A step counts as the edge and as the vertex that it leads to. */
    private static final long OPERATIONS_A_STEP = 2;
    /** A timed walk ends after so many steps, so that it reads the same part of a chain, however long the chain is. */
    private static final long STEPS_MAX = 1_000;

    private final Worker worker;
    private final Object first;
    /** The steps of a timed walk. */
    private final long expected;
    /** The steps since the transaction that the walks share was renewed. */
    private long read;

    private Walks(Worker worker, Object first, long length) {
        this.worker = worker;
        this.first = first;
        this.expected = Math.min(length, STEPS_MAX);
    }

    /** The walks of a thread, after a count of the whole chain into `steps`; null if the chain has no first vertex. */
    static Walks make(Peer peer, int thread, Object first, long[] steps) throws Exception {
        if (first == null) {
            return null;
        }
        Worker worker = peer.worker();
        try {
            steps[thread] = worker.walk(first, Long.MAX_VALUE);
            worker.renew();
        } catch (Throwable error) {
            worker.close();
            throw error;
        }
        return new Walks(worker, first, steps[thread]);
    }

    @Override
    public long run(long end) throws Exception {
        long walked = worker.walk(first, STEPS_MAX);
        if (walked != expected) {
            throw new IllegalStateException("a walk had " + walked + " steps, expected " + expected);
        }
        read += walked;
        if (read >= Hops.TRANSACTION_LENGTH) {
            worker.renew();
            read = 0;
        }
        return OPERATIONS_A_STEP * walked;
    }

    @Override
    public void close() throws Exception {
        worker.close();
    }
}
