package dev.annals;

import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The reads that must be fast: in this process packed, over a connection as JSON. */
interface View extends AutoCloseable {
    /** A live instance. */
    Optional<Instance> get(InstanceId id);

    /** Live instances, each in the place of its id. */
    List<Optional<Instance>> get(Kind kind, List<String> ids);

    /** Instances, each in the place of its id; also deleted ones, and proxies. */
    List<Optional<Instance>> known(Kind kind, List<String> ids);

    <T extends Instance> Page<T> find(Find<T> find);

    long count(Find<?> find);

    /** A page of the neighbours of one entity: out or in, with at most one type. Errors: {@code not-found}, {@code deleted}. */
    Page<Neighbor> neighborsPage(String id, Links links);

    /** The neighbours of many entities, by the place of the id. An unknown id has none. */
    Map<String, List<Neighbor>> neighbors(List<String> ids, Links links);

    /** The same, without the relationships. */
    Map<String, List<Entity>> neighborEntities(List<String> ids, Links links);

    /** The same, only the ids of the entities. */
    Map<String, List<String>> neighborIds(List<String> ids, Links links);

    /** The same, without the entities. */
    Map<String, List<Relationship>> neighborRelationships(List<String> ids, Links links);

    @Override
    void close();
}
