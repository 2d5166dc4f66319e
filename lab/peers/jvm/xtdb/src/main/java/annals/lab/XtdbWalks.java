package annals.lab;

import clojure.java.api.Clojure;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import xtdb.api.ICursor;
import xtdb.api.IXtdbDatasource;
import xtdb.api.XtdbDocument;

/** Walks over the live relationships of one snapshot: one query for each step, and no documents. */
final class XtdbWalks {
    /** The relationships of an entity, in every state. */
    static final Object ALL_OF = Clojure.read("{:find [r] :in [end] :where [[r :ends end]]}");
    private static final Object EDGES = Clojure.read(
        "{:find [r from to] :in [[end ...]]"
            + " :where [[r :ends end] [r :state \"live\"] [r :from from] [r :to to]]}");
    private static final Object LIVE =
        Clojure.read("{:find [e] :in [[e ...]] :where [[e :state \"live\"]]}");

    private final IXtdbDatasource snapshot;

    XtdbWalks(IXtdbDatasource snapshot) {
        this.snapshot = snapshot;
    }

    /** A relationship and its ends. */
    private record Edge(String id, String from, String to) {}

    /** Ids of live entities, and of relationships between them. */
    record Subgraph(Collection<String> entities, Collection<String> relationships) {}

    /** At most this many relationships of these entities, by their ids. */
    private Map<String, Edge> edges(Collection<String> entities, int limit) throws Exception {
        Map<String, Edge> found = new LinkedHashMap<>();
        try (ICursor<List<?>> rows = snapshot.openQuery(EDGES, List.copyOf(entities))) {
            while (found.size() < limit && rows.hasNext()) {
                List<?> row = rows.next();
                String id = (String) row.get(0);
                found.put(id, new Edge(id, (String) row.get(1), (String) row.get(2)));
            }
        }
        return found;
    }

    /** At most this many relationships of an entity. */
    Collection<String> relationshipsOf(String entity, int limit) throws Exception {
        return edges(List.of(entity), limit).keySet();
    }

    /** Everything at most this many steps from an entity, which must be live; also what is not. */
    private Set<String> walk(String start, int depth, Map<String, Edge> edges) throws Exception {
        XtdbDocument first = snapshot.entity(start);
        if (first == null || !XtdbInstance.LIVE.equals(first.get("state"))) {
            throw new XtdbDocuments.Refusal(start + ": no such instance");
        }
        Set<String> entities = new LinkedHashSet<>(Set.of(start));
        Collection<String> frontier = List.of(start);
        for (int level = 0; level < depth && !frontier.isEmpty(); level++) {
            Collection<String> next = new ArrayList<>();
            for (Edge edge : edges(frontier, Integer.MAX_VALUE).values()) {
                edges.put(edge.id, edge);
                for (String end : List.of(edge.from, edge.to)) {
                    if (entities.add(end)) {
                        next.add(end);
                    }
                }
            }
            frontier = next;
        }
        return entities;
    }

    /** Those that are live: relationships can also name entities that are known as proxies only. */
    private List<String> live(Collection<String> entities) throws Exception {
        List<String> live = new ArrayList<>();
        try (ICursor<List<?>> rows = snapshot.openQuery(LIVE, List.copyOf(entities))) {
            rows.forEachRemaining(row -> live.add((String) row.get(0)));
        }
        return live;
    }

    /** What is at most this many steps from an entity. */
    Subgraph around(String start, int depth) throws Exception {
        Map<String, Edge> edges = new LinkedHashMap<>();
        Set<String> entities = walk(start, depth, edges);
        return new Subgraph(live(entities), edges.keySet());
    }

    /** At most this many entities that can be reached from one, ordered by their ids. */
    List<String> related(String start, int limit) throws Exception {
        Set<String> entities = walk(start, Integer.MAX_VALUE, new HashMap<>());
        return live(entities).stream().filter(id -> !id.equals(start)).sorted().limit(limit).toList();
    }

    /**
     * Paths from one entity to another: depth first, each entity between them once, as Egeria's connector for XTDB does. So
     * these are not all paths.
     */
    Subgraph linking(String start, String end) throws Exception {
        Map<String, Edge> edges = new LinkedHashMap<>();
        walk(start, Integer.MAX_VALUE, edges);
        Map<String, List<Edge>> ofEntity = new HashMap<>();
        for (Edge edge : edges.values()) {
            ofEntity.computeIfAbsent(edge.from, key -> new ArrayList<>()).add(edge);
            ofEntity.computeIfAbsent(edge.to, key -> new ArrayList<>()).add(edge);
        }
        Set<String> linking = new LinkedHashSet<>(Set.of(end));
        Set<String> relationships = new LinkedHashSet<>();
        Set<String> visited = new HashSet<>(Set.of(start));
        Deque<Visit> path = new ArrayDeque<>();
        path.push(new Visit(start, ofEntity.getOrDefault(start, List.of()).iterator(), null));
        while (!path.isEmpty()) {
            Visit visit = path.peek();
            if (!visit.rest.hasNext()) {
                path.pop();
                continue;
            }
            Edge edge = visit.rest.next();
            String other = edge.from.equals(visit.entity) ? edge.to : edge.from;
            if (linking.contains(other)) {
                relationships.add(edge.id);
                for (Visit one : path) {
                    linking.add(one.entity);
                    if (one.by != null) {
                        relationships.add(one.by.id);
                    }
                }
            } else if (visited.add(other)) {
                path.push(new Visit(other, ofEntity.get(other).iterator(), edge));
            }
        }
        return new Subgraph(live(linking), relationships);
    }

    /** An entity on the present path, its relationships that are left, and the one that led to it. */
    private record Visit(String entity, Iterator<Edge> rest, Edge by) {}
}
