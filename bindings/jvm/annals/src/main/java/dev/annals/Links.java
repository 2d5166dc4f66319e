package dev.annals;

import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Selects relationships of one entity, for {@link Snapshot#neighbors}, {@link Snapshot#relationships} and
 * {@link Snapshot#degree}. Every method returns a new selection.
 *
 * <p>Statuses, orders and {@code skip} are for relationships only, and neighbours and degrees take one type at most;
 * the repository refuses other uses (kind {@code invalid-argument}).
 */
public final class Links {
    private final Optional<Direction> direction;
    private final List<String> types;
    private final Query more;
    private final OptionalLong limit;
    private final Optional<String> after;

    private Links(
            Optional<Direction> direction, List<String> types, Query more, OptionalLong limit, Optional<String> after) {
        this.direction = direction;
        this.types = types;
        this.more = more;
        this.limit = limit;
        this.after = after;
    }

    /**
     * All, in the usual direction: out for neighbours and degrees, both for relationships.
     *
     * @return the selection
     */
    public static Links all() {
        return new Links(Optional.empty(), List.of(), Query.NONE, OptionalLong.empty(), Optional.empty());
    }

    /**
     * Relationships that lead out of the entity.
     *
     * @return the selection
     */
    public static Links out() {
        return all().direction(Direction.OUT);
    }

    /**
     * Relationships that lead to the entity.
     *
     * @return the selection
     */
    public static Links in() {
        return all().direction(Direction.IN);
    }

    /**
     * Relationships in both directions.
     *
     * @return the selection
     */
    public static Links both() {
        return all().direction(Direction.BOTH);
    }

    /**
     * Relationships in this direction.
     *
     * @param direction the direction
     * @return the new selection
     */
    public Links direction(Direction direction) {
        return new Links(Optional.of(direction), types, more, limit, after);
    }

    /**
     * Only relationships of these types, with subtypes.
     *
     * @param types the names
     * @return the new selection
     */
    public Links type(String... types) {
        return new Links(direction, List.of(types), more, limit, after);
    }

    /**
     * Only relationships with one of these statuses.
     *
     * @param statuses the names of statuses
     * @return the new selection
     */
    public Links status(String... statuses) {
        return with(more.and("status", Arrays.asList(statuses)));
    }

    /**
     * Orders the relationships.
     *
     * @param keys names of properties or headers, with a minus sign for largest first
     * @return the new selection
     */
    public Links orderBy(String... keys) {
        return with(more.and("orderBy", Arrays.asList(keys)));
    }

    /**
     * Skips relationships.
     *
     * @param count how many, from 0
     * @return the new selection
     */
    public Links skip(int count) {
        return with(more.set("skip", count));
    }

    /**
     * Also counts the relationships on all pages, for {@link Page#count}.
     *
     * @return the new selection
     */
    public Links counted() {
        return with(more.and("count", true));
    }

    /**
     * At most this many. A stream without a limit has all; a page has at most 100 unless you say otherwise.
     *
     * @param limit from 1
     * @return the new selection
     */
    public Links limit(int limit) {
        return new Links(direction, types, more, OptionalLong.of(limit), after);
    }

    /**
     * Begins behind a page.
     *
     * @param cursor {@link Page#next} of that page
     * @return the new selection
     */
    public Links after(String cursor) {
        return new Links(direction, types, more, limit, Optional.of(cursor));
    }

    private Links with(Query more) {
        return new Links(direction, types, more, limit, after);
    }

    Optional<Direction> direction() {
        return direction;
    }

    List<String> types() {
        return types;
    }

    OptionalLong limit() {
        return limit;
    }

    Optional<String> after() {
        return after;
    }

    /** Says whether a page of neighbours takes this selection; the HTTP door says of another one why not. */
    boolean isHop() {
        return direction.orElse(Direction.OUT) != Direction.BOTH
                && types.size() < 2
                && !types.contains("")
                && more.isEmpty()
                && limit.orElse(1) > 0
                && !after.equals(Optional.of(""));
    }

    /** The parameters, without limit and cursor. */
    Query query() {
        Query query = direction.map(one -> Query.NONE.and("direction", one)).orElse(Query.NONE);
        return query.and("type", types).and(more);
    }
}
