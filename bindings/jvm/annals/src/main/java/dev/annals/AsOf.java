package dev.annals;

import com.google.gson.JsonObject;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * The times of a read: what the repository knew at a position or at an instant, and what was true at an instant. Each
 * may be absent; without any, a read shows the present.
 *
 * @param position the position up to which records count
 * @param instant the instant up to which records count, in microseconds
 * @param valid the instant at which something was true, in microseconds
 */
public record AsOf(OptionalLong position, Optional<Instant> instant, Optional<Instant> valid) {
    /** The present. */
    public static final AsOf NOW = new AsOf(OptionalLong.empty(), Optional.empty(), Optional.empty());

    /**
     * Cuts instants to microseconds.
     *
     * @param position the position up to which records count
     * @param instant the instant up to which records count, in microseconds
     * @param valid the instant at which something was true, in microseconds
     */
    public AsOf {
        Objects.requireNonNull(position, "position");
        instant = instant.map(time -> time.truncatedTo(ChronoUnit.MICROS));
        valid = valid.map(time -> time.truncatedTo(ChronoUnit.MICROS));
    }

    /**
     * What the repository knew at a position.
     *
     * @param position the position
     * @return the time
     */
    public static AsOf position(long position) {
        return new AsOf(OptionalLong.of(position), Optional.empty(), Optional.empty());
    }

    /**
     * What the repository knew at an instant.
     *
     * @param instant the instant, not in the future
     * @return the time
     */
    public static AsOf instant(Instant instant) {
        return new AsOf(OptionalLong.empty(), Optional.of(instant), Optional.empty());
    }

    /**
     * What was true at an instant, as far as the repository knows now.
     *
     * @param valid the instant
     * @return the time
     */
    public static AsOf valid(Instant valid) {
        return NOW.andValid(valid);
    }

    /**
     * The same, and what was true at an instant, as far as the repository knew then.
     *
     * @param valid the instant
     * @return the time
     */
    public AsOf andValid(Instant valid) {
        return new AsOf(position, instant, Optional.of(valid));
    }

    /** The parameters of a read; with {@code from} as prefix those of a difference of trees. */
    Query query(String prefix) {
        Query query = Query.NONE;
        if (position.isPresent()) {
            query = query.and(prefix.isEmpty() ? "atPosition" : prefix + "Position", position.getAsLong());
        }
        if (instant.isPresent()) {
            query = query.and(prefix.isEmpty() ? "at" : prefix, instant.get());
        }
        if (valid.isPresent()) {
            query = query.and(prefix.isEmpty() ? "validAt" : prefix + "ValidAt", valid.get());
        }
        return query;
    }

    void addTo(JsonObject json) {
        position.ifPresent(number -> json.addProperty("atPosition", number));
        instant.ifPresent(time -> json.addProperty("at", time.toString()));
        valid.ifPresent(time -> json.addProperty("validAt", time.toString()));
    }
}
