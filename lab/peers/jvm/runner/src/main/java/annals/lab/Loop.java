package annals.lab;

import com.eclipsesource.json.JsonArray;
import com.eclipsesource.json.JsonObject;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;

/** Runs an operation in many threads for some time and measures it; see *Loops* in ADAPTERS.md. */
final class Loop {
    private static final long SECOND_NS = 1_000_000_000;
    private static final long TICK_NS = SECOND_NS / 10;
    /** An operation that begins later than this after its due time is late. */
    private static final long LATE_NS = 1_000_000;

    /** How a loop runs. Units: operations per second for `rate`; 0 is a closed loop. */
    record Plan(int threads, double seconds, double rate) {}

    /** The measured operation of one thread. */
    interface Operation extends AutoCloseable {
        /**
         * Does the operation once. `end` is the time at which the loop stops beginning operations.
         *
         * @return as how many operations it counts; 0 if there is nothing to do, which ends the thread
         */
        long run(long end) throws Exception;

        @Override
        void close() throws Exception;
    }

    /** Makes the operation of a thread, in this thread; null if the thread has nothing to do. */
    interface Maker {
        Operation make(int thread) throws Exception;
    }

    /** What one thread has measured. Only this thread writes it; it is read after the thread has ended. */
    private static final class Record {
        final Latencies latencies = new Latencies();
        long[] ticks = new long[64];
        long operations;
        long late;
        long dropped;
        long lastEnd;

        void add(long start, long ended, long latency, long operationsDone) {
            latencies.record(latency);
            operations += operationsDone;
            int tick = (int) ((ended - start) / TICK_NS);
            if (tick >= ticks.length) {
                ticks = Arrays.copyOf(ticks, Math.max(tick + 1, 2 * ticks.length));
            }
            ticks[tick] += operationsDone;
            lastEnd = ended;
        }
    }

    private final Plan plan;
    private final Maker maker;
    private final CountDownLatch ready;
    private final CountDownLatch started = new CountDownLatch(1);
    /** Set by the first thread that fails: the others end, and the error is the answer. */
    private final AtomicReference<Throwable> failure = new AtomicReference<>();
    private final AtomicBoolean isStopped = new AtomicBoolean();
    /** Written before `started` is counted down, read after it. */
    private volatile long start;

    private Loop(Plan plan, Maker maker) {
        this.plan = plan;
        this.maker = maker;
        this.ready = new CountDownLatch(plan.threads);
    }

    /** Runs the loop; the answer lacks what only the operation knows. Throws what the first failing thread threw. */
    static JsonObject run(Plan plan, Maker maker) throws Exception {
        return new Loop(plan, maker).run();
    }

    private JsonObject run() throws Exception {
        List<Record> records = new ArrayList<>();
        List<Thread> threads = new ArrayList<>();
        for (int number = 0; number < plan.threads; number++) {
            Record record = new Record();
            int thread = number;
            records.add(record);
            threads.add(new Thread(() -> work(thread, record), "worker-" + number));
        }
        int begun = 0;
        try {
            for (Thread thread : threads) {
                thread.start();
                begun++;
            }
            ready.await();
        } catch (Throwable error) {
            // The machine refuses more threads: let those that wait go home.
            fail(error);
        }
        start = System.nanoTime();
        started.countDown();
        for (Thread thread : threads.subList(0, begun)) {
            thread.join();
        }
        if (failure.get() != null) {
            throw new IllegalStateException(Runner.message(failure.get()), failure.get());
        }
        return answer(records);
    }

    private void work(int thread, Record record) {
        boolean isCounted = false;
        try (Operation operation = maker.make(thread)) {
            ready.countDown();
            isCounted = true;
            started.await();
            if (operation == null || isStopped.get()) {
                return;
            }
            record.lastEnd = start;
            if (plan.rate > 0) {
                runOpen(thread, operation, record);
            } else {
                runClosed(operation, record);
            }
        } catch (Throwable error) {
            fail(error);
            if (!isCounted) {
                ready.countDown();
            }
        }
    }

    private void fail(Throwable error) {
        failure.compareAndSet(null, error);
        isStopped.set(true);
    }

    private void runClosed(Operation operation, Record record) throws Exception {
        long end = start + (long) (plan.seconds * SECOND_NS);
        long begin = System.nanoTime();
        // At least once, so that every thread has a chain, even if the machine started this one after the end.
        do {
            long count = operation.run(end);
            if (count == 0) {
                return;
            }
            long ended = System.nanoTime();
            record.add(start, ended, ended - begin, count);
            begin = ended;
        } while (begin < end && !isStopped.get());
    }

    private void runOpen(int thread, Operation operation, Record record) throws Exception {
        double length = plan.seconds * SECOND_NS;
        long end = start + (long) length;
        for (long turn = 0; !isStopped.get(); turn++) {
            double offset = (thread + (double) turn * plan.threads) / plan.rate * SECOND_NS;
            if (offset >= length) {
                return;
            }
            long due = start + (long) offset;
            long now = System.nanoTime();
            while (now < due) {
                LockSupport.parkNanos(due - now);
                now = System.nanoTime();
            }
            if (now >= end) {
                // This one and all that were due after it have not begun.
                record.dropped = countDue(thread, length) - turn;
                return;
            }
            if (now - due > LATE_NS) {
                record.late++;
            }
            long count = operation.run(end);
            if (count == 0) {
                return;
            }
            long ended = System.nanoTime();
            record.add(start, ended, ended - due, count);
        }
    }

    /** How many operations of a thread are due before `length` nanoseconds have passed. */
    private long countDue(int thread, double length) {
        double turns = (length * plan.rate / SECOND_NS - thread) / plan.threads;
        return Math.max(0, (long) Math.ceil(turns));
    }

    private JsonObject answer(List<Record> records) {
        Latencies latencies = new Latencies();
        long operations = 0;
        long late = 0;
        long dropped = 0;
        long lastEnd = start;
        int ticksCount = 0;
        for (Record record : records) {
            latencies.add(record.latencies);
            operations += record.operations;
            late += record.late;
            dropped += record.dropped;
            lastEnd = Math.max(lastEnd, record.lastEnd == 0 ? start : record.lastEnd);
            ticksCount = Math.max(ticksCount, record.ticks.length);
        }
        long[] sums = new long[ticksCount];
        int used = 0;
        for (Record record : records) {
            for (int tick = 0; tick < record.ticks.length; tick++) {
                sums[tick] += record.ticks[tick];
                used = sums[tick] > 0 ? Math.max(used, tick + 1) : used;
            }
        }
        JsonArray ticks = new JsonArray();
        Arrays.stream(sums, 0, used).forEach(ticks::add);
        JsonObject answer = new JsonObject()
            .add("operations", operations)
            .add("seconds", (lastEnd - start) / (double) SECOND_NS)
            .add("ticks", ticks)
            .add("latencies_ns", latencies.toJson());
        return plan.rate > 0 ? answer.add("late", late).add("dropped", dropped) : answer;
    }
}
