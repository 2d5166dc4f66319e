package annals.lab;

import java.util.SplittableRandom;
import java.util.concurrent.locks.LockSupport;

/** Commits a vertex and an edge from the thread's previous vertex, and repeats what the system refuses. */
final class Commits implements Loop.Operation {
    /** A commit that is still refused this long after the end of the loop is a failure; the lab waits for a minute. */
    private static final long PATIENCE_NS = 40_000_000_000L;
    private static final long WAIT_LEAST_NS = 50_000;
    private static final long WAIT_MOST_NS = 20_000_000;

    private final Worker worker;
    private final int thread;
    private final Object[] firsts;
    private final long[] retries;
    private final SplittableRandom random;
    private Object previous;

    Commits(Worker worker, int thread, Object[] firsts, long[] retries) {
        this.worker = worker;
        this.thread = thread;
        this.firsts = firsts;
        this.retries = retries;
        this.random = new SplittableRandom(thread);
    }

    @Override
    public long run(long end) throws Exception {
        long wait = WAIT_LEAST_NS;
        while (true) {
            try {
                Object vertex = worker.commit(previous);
                if (previous == null) {
                    firsts[thread] = vertex;
                }
                previous = vertex;
                return 1;
            } catch (Conflict conflict) {
                retries[thread]++;
                if (System.nanoTime() - end > PATIENCE_NS) {
                    throw new IllegalStateException("a commit was refused for 40 s after the end: " + conflict.getMessage());
                }
                // A random wait that doubles: otherwise the same threads meet again at once.
                LockSupport.parkNanos(random.nextLong(wait) + 1);
                wait = Math.min(2 * wait, WAIT_MOST_NS);
            }
        }
    }

    @Override
    public void close() throws Exception {
        worker.close();
    }
}
