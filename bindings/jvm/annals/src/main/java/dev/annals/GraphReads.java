package dev.annals;

import com.google.gson.JsonObject;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.stream.Stream;

/** The reads of {@link Snapshot} that follow relationships. */
abstract class GraphReads {
    /** Reads JSON as of the time of the snapshot. */
    abstract JsonObject get(String path, Query query);

    abstract View view();

    // Relationships of an entity.

    /**
     * The entities to which relationships lead.
     *
     * @param entityId the id of the entity
     * @return the neighbours
     */
    public Stream<Neighbor> neighbors(String entityId) {
        return neighbors(entityId, Links.all());
    }

    /**
     * The neighbours of an entity.
     *
     * @param entityId the id of the entity
     * @param links direction ({@code OUT} or {@code IN}), one type, limit
     * @return the neighbours
     */
    public Stream<Neighbor> neighbors(String entityId, Links links) {
        return Pages.stream(links.limit(), links.after(), (limit, after) -> {
            Links page = links.limit(limit);
            return neighborsPage(entityId, after.map(page::after).orElse(page));
        });
    }

    /**
     * A page of the neighbours of an entity.
     *
     * @param entityId the id of the entity
     * @param links direction ({@code OUT} or {@code IN}), one type, limit, cursor
     * @return the page
     */
    public Page<Neighbor> neighborsPage(String entityId, Links links) {
        InstanceId.check(entityId);
        return links.isHop() ? view().neighborsPage(entityId, links) : neighborsPage(this::get, entityId, links);
    }

    /** The page by the HTTP door, which also refuses what it does not take. */
    static Page<Neighbor> neighborsPage(BiFunction<String, Query, JsonObject> get, String entityId, Links links) {
        Direction direction = links.direction().orElse(Direction.OUT);
        Query query = page(links.query(), links.limit(), links.after());
        return Page.of(get.apply(of(entityId, "neighbors"), query), json -> Neighbor.of(json, direction));
    }

    /**
     * The neighbours of many entities at once.
     *
     * @param ids the ids of the entities
     * @param links direction, exact types without their subtypes, and the largest number for one entity
     * @return the neighbours by the id of the entity, in the order of the ids; an unknown entity has none
     */
    public Map<String, List<Neighbor>> neighbors(Collection<String> ids, Links links) {
        ids.forEach(InstanceId::check);
        return view().neighbors(List.copyOf(ids), links);
    }

    /**
     * The entities at the other ends of the relationships of many entities. Cheaper than
     * {@link #neighbors(Collection, Links)} if you do not need the relationships.
     *
     * @param ids the ids of the entities
     * @param links direction, exact types, and the largest number for one entity
     * @return the entities by the id of the entity that is asked, one for each relationship; an unknown entity has none
     */
    public Map<String, List<Entity>> neighborEntities(Collection<String> ids, Links links) {
        ids.forEach(InstanceId::check);
        return view().neighborEntities(List.copyOf(ids), links);
    }

    /**
     * The ids of the entities at the other ends of the relationships of many entities. The cheapest form of
     * {@link #neighbors(Collection, Links)}.
     *
     * @param ids the ids of the entities
     * @param links direction, exact types, and the largest number for one entity
     * @return the ids by the id of the entity that is asked, one for each relationship; an unknown entity has none
     */
    public Map<String, List<String>> neighborIds(Collection<String> ids, Links links) {
        ids.forEach(InstanceId::check);
        return view().neighborIds(List.copyOf(ids), links);
    }

    /**
     * The relationships of many entities. Cheaper than {@link #neighbors(Collection, Links)} if you do not need the
     * entities at the other ends.
     *
     * @param ids the ids of the entities
     * @param links direction, exact types, and the largest number for one entity
     * @return the relationships by the id of the entity; an unknown entity has none
     */
    public Map<String, List<Relationship>> neighborRelationships(Collection<String> ids, Links links) {
        ids.forEach(InstanceId::check);
        return view().neighborRelationships(List.copyOf(ids), links);
    }

    /**
     * How many neighbours an entity has.
     *
     * @param entityId the id of the entity
     * @param links direction ({@code OUT} or {@code IN}) and one type
     * @return the number
     */
    public long degree(String entityId, Links links) {
        return Json.large(get(of(entityId, "degree"), links.query()), "degree");
    }

    /**
     * The relationships of an entity, each once.
     *
     * @param entityId the id of the entity
     * @param links direction, types, statuses, order, limit
     * @return the relationships
     */
    public Stream<Relationship> relationships(String entityId, Links links) {
        return Pages.stream(links.limit(), links.after(), (limit, after) -> {
            Links page = links.limit(limit);
            boolean isFirst = after.equals(links.after());
            return relationshipsPage(entityId, isFirst ? page : page.skip(0).after(after.orElseThrow()));
        });
    }

    /**
     * A page of the relationships of an entity.
     *
     * @param entityId the id of the entity
     * @param links direction, types, statuses, order, limit, cursor
     * @return the page
     */
    public Page<Relationship> relationshipsPage(String entityId, Links links) {
        Query query = page(links.query(), links.limit(), links.after());
        return Page.of(get(of(entityId, "relationships"), query), Relationship::of);
    }

    // Graph queries.

    /**
     * All entities within reach, nearest first.
     *
     * @param entityId the start
     * @param walk the walk; by default out
     * @return the entities without the start
     */
    public Stream<Reached> reach(String entityId, Walk walk) {
        return walked(walk, page -> reachPage(entityId, page));
    }

    /**
     * A page of the entities within reach.
     *
     * @param entityId the start
     * @param walk the walk; by default out
     * @return the page, with the number of all
     */
    public Page<Reached> reachPage(String entityId, Walk walk) {
        return Page.of(get(of(entityId, "reach"), page(walk)), Reached::of);
    }

    /**
     * All entities within reach, in any order.
     *
     * @param entityId the start
     * @param walk the walk; by default both directions; {@link Walk#orderBy} orders
     * @return the entities without the start
     */
    public Stream<Reached> related(String entityId, Walk walk) {
        return walked(walk, page -> relatedPage(entityId, page));
    }

    /**
     * A page of the entities within reach, in any order.
     *
     * @param entityId the start
     * @param walk the walk; by default both directions
     * @return the page
     */
    public Page<Reached> relatedPage(String entityId, Walk walk) {
        return Page.of(get(of(entityId, "related"), page(walk)), Reached::of);
    }

    /**
     * How many entities within reach have each value.
     *
     * @param entityId the start
     * @param by a property, or a header such as {@code @type}
     * @param walk the walk; by default out; its limit is the number of groups, 100 otherwise
     * @return the largest groups
     */
    public Groups groups(String entityId, String by, Walk walk) {
        return Groups.of(get(of(entityId, "reach/groups"), page(walk).and("groupBy", by)));
    }

    /**
     * The entities and relationships around an entity.
     *
     * @param entityId the entity
     * @param walk the walk; by default both directions and one step
     * @return all of them
     */
    public Subgraph neighborhood(String entityId, Walk walk) {
        return subgraph(of(entityId, "neighborhood"), walk.query());
    }

    /**
     * Everything on any path between two entities.
     *
     * @param from the id of one entity
     * @param to the id of the other entity
     * @param walk the walk; by default both directions
     * @return all of it
     */
    public Subgraph linking(String from, String to, Walk walk) {
        return subgraph("/v1/linking", ends(from, to).and(walk.query()));
    }

    /**
     * The entities that walks from two entities reach; by default the common neighbours.
     *
     * @param from the id of one entity
     * @param to the id of the other entity
     * @param walk the walk; by default both directions and one step
     * @return the entities
     */
    public Stream<Shared> shared(String from, String to, Walk walk) {
        return walked(walk, page -> Page.of(get("/v1/shared", ends(from, to).and(page(page))), Shared::of));
    }

    /**
     * A shortest path.
     *
     * @param from the id of the start
     * @param to the id of the end
     * @param walk the walk; by default out
     * @return a path, if there is one
     */
    public Optional<GraphPath> path(String from, String to, Walk walk) {
        JsonObject found = get("/v1/path", ends(from, to).and(page(walk)));
        return Json.flag(found, "found") ? Optional.of(GraphPath.of(found)) : Optional.empty();
    }

    /**
     * The shortest paths by the number of steps, shortest first.
     *
     * @param from the id of the start
     * @param to the id of the end
     * @param walk the walk; by default out; its limit is the number of paths, 10 otherwise
     * @return the paths
     */
    public List<GraphPath> paths(String from, String to, Walk walk) {
        return Page.of(get("/v1/paths", ends(from, to).and(page(walk))), GraphPath::of)
                .items();
    }

    /**
     * The shortest paths by the sum of a numeric property, shortest first.
     *
     * @param from the id of the start
     * @param to the id of the end
     * @param weight the property of relationships, from 0; those without it are not followed
     * @param walk the walk; by default out; its limit is the number of paths, 10 otherwise
     * @return the paths
     */
    public List<GraphPath> paths(String from, String to, String weight, Walk walk) {
        Query query = ends(from, to).and("weight", weight).and(page(walk));
        return Page.of(get("/v1/paths", query), GraphPath::of).items();
    }

    // Helpers.

    private static String of(String entityId, String query) {
        return "/v1/entities/" + Utf8.percent(InstanceId.check(entityId)) + "/" + query;
    }

    private static Query ends(String from, String to) {
        return Query.NONE.and("from", InstanceId.check(from)).and("to", InstanceId.check(to));
    }

    private static Query page(Walk walk) {
        return page(walk.query(), walk.limit(), walk.after());
    }

    static Query page(Query query, OptionalLong limit, Optional<String> after) {
        Query limited = limit.isPresent() ? query.and("limit", limit.getAsLong()) : query;
        return after.map(cursor -> limited.and("after", cursor)).orElse(limited);
    }

    private static <T> Stream<T> walked(Walk walk, Function<Walk, Page<T>> read) {
        return Pages.stream(walk.limit(), walk.after(), (limit, after) -> {
            Walk page = walk.limit(limit);
            return read.apply(after.map(page::after).orElse(page));
        });
    }

    private Subgraph subgraph(String path, Query walk) {
        return Subgraph.of((limit, after) -> {
            JsonObject found = get(path, page(walk, OptionalLong.of(limit), after));
            return new Page<>(List.of(found), Json.optional(found, "next"), OptionalLong.empty());
        });
    }
}
