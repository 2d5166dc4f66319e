package dev.annals;

import com.google.gson.JsonObject;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.Stream;

/** Reads through the HTTP door. */
final class HttpView implements View {
    private final Client client;
    private final Query time;
    private final JsonObject timeFields;

    /** The time as parameters of a query, and as fields of a search. */
    HttpView(Client client, Query time, JsonObject timeFields) {
        this.client = client;
        this.time = time;
        this.timeFields = timeFields;
    }

    @Override
    public Optional<Instance> get(InstanceId id) {
        try {
            String target = "/v1/" + id.kind().path() + "/" + Utf8.percent(id.id());
            return Optional.of(Instance.of(id.kind(), client.get(time.on(target))));
        } catch (NotFoundException | DeletedException error) {
            return Optional.empty();
        }
    }

    @Override
    public List<Optional<Instance>> get(Kind kind, List<String> ids) {
        Map<String, Instance> found = new HashMap<>();
        for (int start = 0; start < ids.size(); start += Pages.SIZE) {
            List<String> some = ids.subList(start, Math.min(ids.size(), start + Pages.SIZE));
            read(kind, some, found);
        }
        List<Optional<Instance>> all = new ArrayList<>(ids.size());
        ids.forEach(id -> all.add(Optional.ofNullable(found.get(id))));
        return all;
    }

    private void read(Kind kind, List<String> ids, Map<String, Instance> found) {
        Condition one = Condition.in("@id", ids);
        if (kind == Kind.ENTITY) {
            Find<Entity> find = Find.entities().where(one);
            Pages.stream(find.limit(), find.after(), (limit, after) -> page(find, limit, after))
                    .forEach(entity -> found.put(entity.id(), entity));
        } else {
            Find<Relationship> find = Find.relationships().where(one);
            Pages.stream(find.limit(), find.after(), (limit, after) -> page(find, limit, after))
                    .forEach(relationship -> found.put(relationship.id(), relationship));
        }
    }

    private <T extends Instance> Page<T> page(Find<T> find, int limit, Optional<String> after) {
        Find<T> part = find.limit(limit);
        return find(after.map(part::after).orElse(part));
    }

    @Override
    public <T extends Instance> Page<T> find(Find<T> find) {
        return Page.of(client.send("POST", candidate("/v1/find"), request(find)), find::item);
    }

    @Override
    public long count(Find<?> find) {
        return Json.large(client.send("POST", candidate("/v1/count"), request(find)), "count");
    }

    /** Searches take their times in the body, and a candidate in the query. */
    private String candidate(String path) {
        return Json.optional(timeFields, "candidate")
                .map(name -> Query.NONE.and("candidate", name).on(path))
                .orElse(path);
    }

    JsonObject request(Find<?> find) {
        JsonObject request = find.request();
        timeFields.entrySet().stream()
                .filter(field -> !field.getKey().equals("candidate"))
                .forEach(field -> request.add(field.getKey(), field.getValue()));
        return request;
    }

    @Override
    public Map<String, List<Neighbor>> neighbors(List<String> ids, Links links) {
        Map<String, List<Neighbor>> found = new LinkedHashMap<>();
        for (String id : ids) {
            found.put(id, neighbors(id, links));
        }
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
            return Page.of(client.get(behind.on(target)), json -> Neighbor.of(json, direction));
        };
        return Pages.stream(OptionalLong.empty(), Optional.empty(), read)
                .filter(found -> types.isEmpty() || types.contains(found.relationship().type()));
    }

    @Override
    public void close() {}
}
