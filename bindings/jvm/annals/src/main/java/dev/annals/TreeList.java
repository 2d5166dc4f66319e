package dev.annals;

import java.util.Optional;
import java.util.OptionalLong;

/** Selects the children of an item, or the items of a list. Every method returns a new selection. */
public final class TreeList {
    private final Query query;
    private final OptionalLong limit;
    private final Optional<String> after;

    private TreeList(Query query, OptionalLong limit, Optional<String> after) {
        this.query = query;
        this.limit = limit;
        this.after = after;
    }

    /**
     * All, in order.
     *
     * @return the selection
     */
    public static TreeList all() {
        return new TreeList(Query.NONE, OptionalLong.empty(), Optional.empty());
    }

    /**
     * Last item first.
     *
     * @return the new selection
     */
    public TreeList back() {
        return new TreeList(query.and("back", true), limit, after);
    }

    /**
     * Also counts the items on all pages, for {@link Page#count}.
     *
     * @return the new selection
     */
    public TreeList counted() {
        return new TreeList(query.and("count", true), limit, after);
    }

    /**
     * At most this many. A stream without a limit has all; a page has at most 100 unless you say otherwise.
     *
     * @param limit from 1
     * @return the new selection
     */
    public TreeList limit(int limit) {
        return new TreeList(query, OptionalLong.of(limit), after);
    }

    /**
     * Begins behind a page.
     *
     * @param cursor {@link Page#next} of that page
     * @return the new selection
     */
    public TreeList after(String cursor) {
        return new TreeList(query, limit, Optional.of(cursor));
    }

    Query query() {
        return query;
    }

    OptionalLong limit() {
        return limit;
    }

    Optional<String> after() {
        return after;
    }
}
