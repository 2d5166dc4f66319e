package dev.annals;

import java.util.Arrays;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Describes a walk from an entity, for the graph queries of {@link Snapshot}. The walk neither lists nor crosses what
 * it excludes. Every method returns a new walk. docs/choosing.md shows which query answers which question.
 *
 * <p>A parameter that a query does not have, such as {@code depthMin} of a path, is refused (kind
 * {@code invalid-argument}).
 */
public final class Walk {
    private final Query query;
    private final OptionalLong limit;
    private final Optional<String> after;

    private Walk(Query query, OptionalLong limit, Optional<String> after) {
        this.query = query;
        this.limit = limit;
        this.after = after;
    }

    /**
     * A walk in the usual direction: out for {@code reach}, {@code groups}, {@code path} and {@code paths}, both for
     * the others.
     *
     * @return the walk
     */
    public static Walk all() {
        return new Walk(Query.NONE, OptionalLong.empty(), Optional.empty());
    }

    /**
     * A walk along relationships in their direction.
     *
     * @return the walk
     */
    public static Walk out() {
        return all().direction(Direction.OUT);
    }

    /**
     * A walk against the direction of relationships.
     *
     * @return the walk
     */
    public static Walk in() {
        return all().direction(Direction.IN);
    }

    /**
     * A walk in both directions.
     *
     * @return the walk
     */
    public static Walk both() {
        return all().direction(Direction.BOTH);
    }

    /**
     * A walk in this direction.
     *
     * @param direction the direction
     * @return the new walk
     */
    public Walk direction(Direction direction) {
        return and("direction", direction);
    }

    /**
     * Only relationships of these types, with subtypes. {@code reads:in} gives a type a direction of its own.
     *
     * @param types the names
     * @return the new walk
     */
    public Walk type(String... types) {
        return all("type", types);
    }

    /**
     * Only entities of these types, with subtypes.
     *
     * @param types the names
     * @return the new walk
     */
    public Walk entityType(String... types) {
        return all("entityType", types);
    }

    /**
     * Only entities with at least one of these classifications.
     *
     * @param names the classifications
     * @return the new walk
     */
    public Walk classified(String... names) {
        return all("classified", names);
    }

    /**
     * Only entities that fulfil these conditions in the text form of searches.
     *
     * @param conditions the conditions, such as {@code size >= 5}
     * @return the new walk
     */
    public Walk entityWhere(String... conditions) {
        return all("entityWhere", conditions);
    }

    /**
     * Only relationships that fulfil these conditions in the text form of searches.
     *
     * @param conditions the conditions
     * @return the new walk
     */
    public Walk relationshipWhere(String... conditions) {
        return all("relationshipWhere", conditions);
    }

    /**
     * Only entities and relationships with one of these statuses.
     *
     * @param statuses the names of statuses
     * @return the new walk
     */
    public Walk status(String... statuses) {
        return all("status", statuses);
    }

    /**
     * The least number of steps from the start.
     *
     * @param steps from 0
     * @return the new walk
     */
    public Walk depthMin(int steps) {
        return and("depthMin", steps);
    }

    /**
     * The largest number of steps from the start.
     *
     * @param steps from 0
     * @return the new walk
     */
    public Walk depthMax(int steps) {
        return and("depthMax", steps);
    }

    /**
     * How many entities the walk may visit before it is refused with {@code too-large}; over HTTP at most 1,000,000,
     * otherwise 100,000.
     *
     * @param entities the number of entities
     * @return the new walk
     */
    public Walk visitedMax(int entities) {
        return and("visitedMax", entities);
    }

    /**
     * Orders the entities of {@link Snapshot#related}.
     *
     * @param keys names of properties or headers, with a minus sign for largest first
     * @return the new walk
     */
    public Walk orderBy(String... keys) {
        return all("orderBy", keys);
    }

    /**
     * Also counts the entities of {@link Snapshot#relatedPage} on all pages.
     *
     * @return the new walk
     */
    public Walk counted() {
        return and("count", true);
    }

    /**
     * At most this many results. A stream without a limit has all; a page has at most 100 unless you say otherwise, a
     * list of paths 10.
     *
     * @param limit from 1
     * @return the new walk
     */
    public Walk limit(int limit) {
        return new Walk(query, OptionalLong.of(limit), after);
    }

    /**
     * Begins behind a page.
     *
     * @param cursor {@link Page#next} of that page
     * @return the new walk
     */
    public Walk after(String cursor) {
        return new Walk(query, limit, Optional.of(cursor));
    }

    private Walk and(String name, Object value) {
        return new Walk(query.and(name, value), limit, after);
    }

    private Walk all(String name, String... values) {
        return new Walk(query.and(name, Arrays.asList(values)), limit, after);
    }

    /** The parameters, without limit and cursor. */
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
