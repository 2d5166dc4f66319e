package dev.annals.egeria;

import dev.annals.AsOf;
import java.time.Instant;
import java.util.Date;

/** The time that a read shows. */
final class Moment {
    /** Egeria counts milliseconds, Annals microseconds: a read as of a millisecond shows all of it. */
    private static final long LAST_MICROSECOND_NS = 999_000;

    private Moment() {}

    /** The last microsecond of the millisecond. */
    static Instant end(Date time) {
        return Instant.ofEpochMilli(time.getTime()).plusNanos(LAST_MICROSECOND_NS);
    }

    /** Null is the present, and so is the present millisecond, which is not over yet. */
    static AsOf of(Date asOf) {
        if (asOf == null) {
            return AsOf.NOW;
        }
        Instant end = end(asOf);
        return end.isBefore(Instant.now()) ? AsOf.instant(end) : AsOf.NOW;
    }
}
