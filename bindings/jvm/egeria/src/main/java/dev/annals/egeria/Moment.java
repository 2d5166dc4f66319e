package dev.annals.egeria;

import com.google.gson.JsonObject;
import java.time.Instant;
import java.util.Date;

/** The time that a read shows: the present, a position, or an instant. */
record Moment(String name, String value) {
    static final Moment NOW = new Moment("", "");

    /** Egeria counts milliseconds, Annals microseconds: a read as of a millisecond shows all of it. */
    private static final long LAST_MICROSECOND_NS = 999_000;

    static Moment position(long position) {
        return new Moment("atPosition", Long.toString(position));
    }

    /** Null is the present, and so is the present millisecond, which is not over yet. */
    static Moment of(Date asOf) {
        if (asOf == null) {
            return NOW;
        }
        Instant end = Instant.ofEpochMilli(asOf.getTime()).plusNanos(LAST_MICROSECOND_NS);
        return end.isBefore(Instant.now()) ? new Moment("at", end.toString()) : NOW;
    }

    /** The target with this time as a parameter. */
    String on(String target) {
        return name.isEmpty() ? target : target + (target.contains("?") ? "&" : "?") + name + "=" + value;
    }

    void addTo(JsonObject request) {
        if (name.equals("atPosition")) {
            request.addProperty(name, Long.parseLong(value));
        } else if (!name.isEmpty()) {
            request.addProperty(name, value);
        }
    }
}
