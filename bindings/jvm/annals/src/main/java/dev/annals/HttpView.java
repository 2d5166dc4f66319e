package dev.annals;

import com.google.gson.JsonObject;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Function;
import java.util.stream.Stream;

/** Reads through the HTTP door. */
class HttpView implements View {
    private final Client client;
    private final Query time;
    private final AsOf shown;
    private volatile boolean isClosed;

    /** Reads as of the time that is shown; of a candidate if the query names one. */
    HttpView(Client client, AsOf shown, Query candidate) {
        this.client = client;
        this.shown = shown;
        this.time = shown.query("").and(candidate);
    }

    @Override
    public Optional<Instance> get(InstanceId id) {
        try {
            String target = "/v1/" + id.kind().path() + "/" + Utf8.percent(id.id());
            return Optional.of(Instance.of(id.kind(), open().instance(time.on(target))));
        } catch (NotFoundException | DeletedException error) {
            return Optional.empty();
        }
    }

    @Override
    public List<Optional<Instance>> get(Kind kind, List<String> ids) {
        return placed(ids, read(kind, ids, false));
    }

    @Override
    public List<Optional<Instance>> known(Kind kind, List<String> ids) {
        // Reads of one are usual, and cost one request.
        Map<String, Instance> found = ids.size() == 1 ? new HashMap<>() : read(kind, ids, true);
        if (kind == Kind.ENTITY || ids.size() == 1) {
            // Proxies are in no index.
            for (String id : ids) {
                if (!found.containsKey(id)) {
                    summary(kind, id).ifPresent(one -> found.put(id, one));
                }
            }
        }
        return placed(ids, found);
    }

    private Optional<Instance> summary(Kind kind, String id) {
        String target = "/v1/" + kind.path() + "/" + Utf8.percent(id) + (kind == Kind.ENTITY ? "/summary" : "");
        try {
            return Optional.of(Instance.of(kind, open().instance(time.on(target))));
        } catch (DeletedException error) {
            return Optional.ofNullable(read(kind, List.of(id), true).get(id));
        } catch (NotFoundException error) {
            return Optional.empty();
        }
    }

    private static List<Optional<Instance>> placed(List<String> ids, Map<String, Instance> found) {
        List<Optional<Instance>> all = new ArrayList<>(ids.size());
        ids.forEach(id -> all.add(Optional.ofNullable(found.get(id))));
        return all;
    }

    private Map<String, Instance> read(Kind kind, List<String> ids, boolean isWithDeleted) {
        Map<String, Instance> found = new HashMap<>();
        for (int start = 0; start < ids.size(); start += Pages.SIZE) {
            Condition one = byId(ids.subList(start, Math.min(ids.size(), start + Pages.SIZE)));
            if (kind == Kind.ENTITY) {
                read(Find.entities().where(one), isWithDeleted, found);
            } else {
                read(Find.relationships().where(one), isWithDeleted, found);
            }
        }
        return found;
    }

    private <T extends Instance> void read(Find<T> live, boolean isWithDeleted, Map<String, Instance> found) {
        Find<T> find = isWithDeleted ? live.withDeleted() : live;
        Pages.stream(find.limit(), find.after(), (limit, after) -> page(find, limit, after))
                .forEach(one -> found.put(one.id(), one));
    }

    Condition byId(List<String> ids) {
        return Condition.in("@id", ids);
    }

    private <T extends Instance> Page<T> page(Find<T> find, int limit, Optional<String> after) {
        Find<T> part = find.limit(limit);
        return find(after.map(part::after).orElse(part));
    }

    @Override
    public <T extends Instance> Page<T> find(Find<T> find) {
        return Page.of(open().send("POST", "/v1/find", request(find)), find::item);
    }

    @Override
    public long count(Find<?> find) {
        return Json.large(open().send("POST", "/v1/count", request(find)), "count");
    }

    private JsonObject request(Find<?> find) {
        JsonObject request = find.request();
        shown.addTo(request);
        return request;
    }

    @Override
    public Page<Neighbor> neighborsPage(String id, Links links) {
        return GraphReads.neighborsPage((path, query) -> open().get(query.and(time).on(path)), id, links);
    }

    @Override
    public Map<String, List<Neighbor>> neighbors(List<String> ids, Links links) {
        Map<String, List<Neighbor>> found = new LinkedHashMap<>();
        for (String id : ids) {
            found.put(id, neighbors(id, links));
        }
        return found;
    }

    @Override
    public Map<String, List<Entity>> neighborEntities(List<String> ids, Links links) {
        return parts(neighbors(ids, links), Neighbor::entity);
    }

    @Override
    public Map<String, List<String>> neighborIds(List<String> ids, Links links) {
        return parts(neighbors(ids, links), neighbor -> neighbor.entity().id());
    }

    @Override
    public Map<String, List<Relationship>> neighborRelationships(List<String> ids, Links links) {
        return parts(neighbors(ids, links), Neighbor::relationship);
    }

    private static <T> Map<String, List<T>> parts(Map<String, List<Neighbor>> neighbors, Function<Neighbor, T> part) {
        Map<String, List<T>> found = new LinkedHashMap<>();
        neighbors.forEach((id, all) -> found.put(id, all.stream().map(part).toList()));
        return found;
    }

    private List<Neighbor> neighbors(String id, Links links) {
        Direction direction = links.direction().orElse(Direction.OUT);
        List<Direction> directions =
                direction == Direction.BOTH ? List.of(Direction.OUT, Direction.IN) : List.of(direction);
        try {
            return directions.stream()
                    .flatMap(one -> neighbors(id, one, links.types()))
                    .limit(links.limit().orElse(Long.MAX_VALUE))
                    .toList();
        } catch (NotFoundException | DeletedException error) {
            return List.of();
        }
    }

    /** The endpoint takes one type, and finds its subtypes too. */
    private Stream<Neighbor> neighbors(String id, Direction direction, List<String> types) {
        String target = "/v1/entities/" + Utf8.percent(id) + "/neighbors";
        Query ofType = types.size() == 1 ? Query.NONE.and("type", types.get(0)) : Query.NONE;
        Query query = ofType.and("direction", direction).and(time);
        Pages.Read<Neighbor> read = (limit, after) -> {
            Query page = query.and("limit", limit);
            Query behind = after.map(cursor -> page.and("after", cursor)).orElse(page);
            return Page.of(open().get(behind.on(target)), json -> Neighbor.of(json, direction));
        };
        return Pages.stream(OptionalLong.empty(), Optional.empty(), read)
                .filter(found ->
                        types.isEmpty() || types.contains(found.relationship().type()));
    }

    final Client open() {
        if (isClosed) {
            throw AnnalsException.closed("snapshot");
        }
        return client;
    }

    @Override
    public void close() {
        isClosed = true;
    }
}
