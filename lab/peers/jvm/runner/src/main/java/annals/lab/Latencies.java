package annals.lab;

import com.eclipsesource.json.JsonArray;
import java.util.Arrays;

/**
 * Counts latencies by value. Up to 2,048 ns each value has a counter of its own; above, each power of two is divided into
 * 1,024 equal steps, so that the middle of a step is wrong by less than 0.05 %. The counters of a power of two
 * are made when they are first needed: with 3,000 threads a full table for each would fill the heap.
 */
final class Latencies {
    private static final int STEPS_BITS = 10;
    private static final int STEPS = 1 << STEPS_BITS;

    private final long[][] counts = new long[Long.SIZE - STEPS_BITS][];

    /** Units: nanoseconds; a clock that went back counts as 0. */
    void record(long latency) {
        long value = Math.max(latency, 0);
        int row = row(value);
        long[] steps = counts[row];
        if (steps == null) {
            steps = new long[STEPS];
            counts[row] = steps;
        }
        steps[column(value, row)]++;
    }

    void add(Latencies other) {
        for (int row = 0; row < counts.length; row++) {
            if (other.counts[row] == null) {
                continue;
            }
            if (counts[row] == null) {
                counts[row] = new long[STEPS];
            }
            for (int column = 0; column < STEPS; column++) {
                counts[row][column] += other.counts[row][column];
            }
        }
    }

    long count() {
        return Arrays.stream(counts).filter(steps -> steps != null).flatMapToLong(Arrays::stream).sum();
    }

    /** Shape: `[[ns, count], ..]`, ascending, without empty counters. */
    JsonArray toJson() {
        JsonArray pairs = new JsonArray();
        for (int row = 0; row < counts.length; row++) {
            for (int column = 0; counts[row] != null && column < STEPS; column++) {
                if (counts[row][column] > 0) {
                    pairs.add(new JsonArray().add(middle(row, column)).add(counts[row][column]));
                }
            }
        }
        return pairs;
    }

    /** Row 0 holds 0 to 1,023 and row 1 holds 1,024 to 2,047 in steps of 1; the steps double from row to row then. */
    private static int row(long value) {
        int bits = Long.SIZE - Long.numberOfLeadingZeros(value);
        return Math.max(0, bits - STEPS_BITS);
    }

    private static int column(long value, int row) {
        return row == 0 ? (int) value : (int) (value >> (row - 1)) - STEPS;
    }

    private static long middle(int row, int column) {
        if (row == 0) {
            return column;
        }
        int shift = row - 1;
        return ((long) (column + STEPS) << shift) + ((1L << shift) >> 1);
    }
}
