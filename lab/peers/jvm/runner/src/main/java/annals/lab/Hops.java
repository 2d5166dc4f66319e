package annals.lab;

import java.util.SplittableRandom;

/** The reads that begin anywhere: iterations in the bipartite graph; vertices and two hops in the bulk graph. */
final class Hops {
    /** As many iterations, or steps of walks, share one transaction for reading, as in a program that reads in batches. */
    static final int TRANSACTION_LENGTH = 1_000;

    private static final long OPERATIONS_AN_ITERATION = 8;
    private static final long OPERATIONS_OF_TWO_HOPS = Graphs.DEGREE + Graphs.DEGREE * Graphs.DEGREE;

    private Hops() {}

    /** One read, without what surrounds it. */
    private interface Read {
        long run() throws Exception;
    }

    static Loop.Operation bipartite(Worker worker, int thread, long half) throws Exception {
        SplittableRandom random = new SplittableRandom(thread);
        worker.enterBipartite(random.nextLong(half));
        return operation(worker, () -> {
            worker.hopBipartite(random);
            return OPERATIONS_AN_ITERATION;
        });
    }

    static Loop.Operation twoHops(Worker worker, int thread, long vertices) {
        SplittableRandom random = new SplittableRandom(thread);
        return operation(worker, () -> {
            long visits = worker.twoHops(random.nextLong(vertices));
            if (visits != OPERATIONS_OF_TWO_HOPS) {
                throw new IllegalStateException("two hops: expected 12 visits, found " + visits);
            }
            return visits;
        });
    }

    static Loop.Operation vertex(Worker worker, int thread, long vertices) {
        SplittableRandom random = new SplittableRandom(thread);
        return operation(worker, () -> {
            worker.vertex(random.nextLong(vertices));
            return 1;
        });
    }

    private static Loop.Operation operation(Worker worker, Read read) {
        return new Loop.Operation() {
            private int reads;

            @Override
            public long run(long end) throws Exception {
                long operations = read.run();
                if (++reads % TRANSACTION_LENGTH == 0) {
                    worker.renew();
                }
                return operations;
            }

            @Override
            public void close() throws Exception {
                worker.close();
            }
        };
    }
}
