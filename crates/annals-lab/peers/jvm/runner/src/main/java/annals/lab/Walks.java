package annals.lab;

/** Walks the chain of one thread from its first vertex to its last. */
final class Walks implements Loop.Operation {
    /** A step counts as the edge and as the vertex that it leads to. */
    private static final long OPERATIONS_A_STEP = 2;

    private final Worker worker;
    private final Object first;
    private final int thread;
    private final long[] steps;
    private boolean isFirstWalk = true;

    private Walks(Worker worker, Object first, int thread, long[] steps) {
        this.worker = worker;
        this.first = first;
        this.thread = thread;
        this.steps = steps;
    }

    /** The walks of a thread; null if its chain has no first vertex. */
    static Walks make(Peer peer, int thread, Object first, long[] steps) throws Exception {
        return first == null ? null : new Walks(peer.worker(), first, thread, steps);
    }

    @Override
    public long run(long end) throws Exception {
        long walked = worker.walk(first);
        worker.renew();
        if (isFirstWalk) {
            steps[thread] = walked;
            isFirstWalk = false;
        } else if (walked != steps[thread]) {
            throw new IllegalStateException("a chain had " + steps[thread] + " steps, then " + walked);
        }
        return OPERATIONS_A_STEP * walked;
    }

    @Override
    public void close() throws Exception {
        worker.close();
    }
}
