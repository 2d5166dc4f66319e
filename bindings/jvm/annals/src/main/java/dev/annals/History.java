package dev.annals;

import java.time.Instant;
import java.util.OptionalLong;

/** Selects versions of a history. Every method returns a new selection. */
public final class History {
    private final Query query;
    private final OptionalLong limit;

    private History(Query query, OptionalLong limit) {
        this.query = query;
        this.limit = limit;
    }

    /**
     * All versions, newest first.
     *
     * @return the selection
     */
    public static History all() {
        return new History(Query.NONE, OptionalLong.empty());
    }

    /**
     * Only versions that were written at this instant or later.
     *
     * @param instant the instant
     * @return the new selection
     */
    public History from(Instant instant) {
        return new History(query.and("from", instant), limit);
    }

    /**
     * Only versions that were written up to this instant.
     *
     * @param instant the instant
     * @return the new selection
     */
    public History to(Instant instant) {
        return new History(query.and("to", instant), limit);
    }

    /**
     * Oldest first.
     *
     * @return the new selection
     */
    public History oldestFirst() {
        return new History(query.and("oldestFirst", true), limit);
    }

    /**
     * Each version with the instance as it was.
     *
     * @return the new selection
     */
    public History withContent() {
        return new History(query.and("content", true), limit);
    }

    /**
     * At most this many versions.
     *
     * @param limit from 1
     * @return the new selection
     */
    public History limit(int limit) {
        return new History(query, OptionalLong.of(limit));
    }

    Query query() {
        return query;
    }

    OptionalLong limit() {
        return limit;
    }
}
