package dev.annals.gremlin;

import dev.annals.AnnalsException;
import dev.annals.Content;
import dev.annals.History;
import dev.annals.InstanceId;
import dev.annals.Iri;
import dev.annals.Literal;
import dev.annals.NotFoundException;
import dev.annals.Snapshot;
import dev.annals.Version;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.apache.tinkerpop.gremlin.process.traversal.Traverser;
import org.apache.tinkerpop.gremlin.structure.service.Service;
import org.apache.tinkerpop.gremlin.structure.util.CloseableIterator;

/**
 * The service {@code history}: all committed versions of an element, the newest first, as maps that every driver reads.
 *
 * <p>{@code g.V("ada").call("history")} is for elements that are there. {@code g.call("history", Map.of("vertex", "ada"))},
 * or {@code edge}, is also for removed ones.
 */
final class AnnalsHistory implements Service<Object, Map<String, Object>> {
    static final String NAME = "history";

    private static final Map<String, String> PARAMETERS =
            Map.of("vertex", "The id of a vertex, at the start of a traversal", "edge", "The id of an edge, instead");

    private final AnnalsGraph graph;
    private final boolean isStart;

    private AnnalsHistory(AnnalsGraph graph, boolean isStart) {
        this.graph = graph;
        this.isStart = isStart;
    }

    /** Makes the service of a graph. */
    record Factory(AnnalsGraph graph) implements ServiceFactory<Object, Map<String, Object>> {
        @Override
        public String getName() {
            return NAME;
        }

        @Override
        public Set<Type> getSupportedTypes() {
            return Set.of(Type.Start, Type.Streaming);
        }

        @Override
        @SuppressWarnings("rawtypes") // The interface has raw types.
        public Map describeParams() {
            return PARAMETERS;
        }

        @Override
        @SuppressWarnings("rawtypes") // The interface has raw types.
        public Service<Object, Map<String, Object>> createService(boolean isStart, Map parameters) {
            return new AnnalsHistory(graph, isStart);
        }

        @Override
        public void close() {}
    }

    @Override
    public Type getType() {
        return isStart ? Type.Start : Type.Streaming;
    }

    @Override
    @SuppressWarnings("rawtypes") // The interface has raw types.
    public CloseableIterator<Map<String, Object>> execute(ServiceCallContext context, Map parameters) {
        Object vertex = parameters.get("vertex");
        Object edge = parameters.get("edge");
        if (parameters.size() != 1 || vertex == null && edge == null) {
            throw new IllegalArgumentException(
                    "history: expected the id of a vertex or of an edge, as {vertex: id} or {edge: id}, found " + parameters);
        }
        boolean isOfVertex = vertex != null;
        return Ids.sought(isOfVertex ? vertex : edge).stream()
                .map(id -> isOfVertex ? InstanceId.entity(id) : InstanceId.relationship(id))
                .flatMap(id -> versions(id).stream())
                .findFirst()
                .orElseThrow(() -> new IllegalStateException("history: expected an id that an element has or had, found "
                        + parameters));
    }

    @Override
    @SuppressWarnings("rawtypes") // The interface has raw types.
    public CloseableIterator<Map<String, Object>> execute(
            ServiceCallContext context, Traverser.Admin<Object> traverser, Map parameters) {
        if (!(traverser.get() instanceof AnnalsElement<?> element) || !parameters.isEmpty()) {
            throw new IllegalArgumentException("history: expected a vertex or an edge of this graph, and no parameters, found "
                    + traverser.get() + " " + parameters);
        }
        // One that is not committed yet has none.
        return versions(element.instance()).orElse(new Versions(Stream.empty(), () -> {}));
    }

    /** The versions of an instance; none if it never was. They are read page by page. */
    private Optional<Versions> versions(InstanceId instance) {
        Snapshot snapshot = graph.repository().snapshot();
        try {
            Versions found = new Versions(snapshot.history(instance, History.all().withContent()), snapshot::close);
            found.hasNext();
            return Optional.of(found);
        } catch (NotFoundException unknown) {
            snapshot.close();
            return Optional.empty();
        } catch (AnnalsException error) {
            snapshot.close();
            throw AnnalsGraph.exception(error);
        }
    }

    /** Versions as maps. The end of the iteration frees the snapshot, and so does {@link #close}. */
    private static final class Versions implements CloseableIterator<Map<String, Object>> {
        private final Iterator<Version> versions;
        private final Runnable end;

        Versions(Stream<Version> versions, Runnable end) {
            this.versions = versions.iterator();
            this.end = end;
        }

        @Override
        public boolean hasNext() {
            boolean hasNext = versions.hasNext();
            if (!hasNext) {
                end.run();
            }
            return hasNext;
        }

        @Override
        public Map<String, Object> next() {
            return map(versions.next());
        }

        @Override
        public void close() {
            end.run();
        }
    }

    private static Map<String, Object> map(Version version) {
        Map<String, Object> map = new LinkedHashMap<>();
        map.put("version", version.version());
        map.put("position", version.position());
        map.put("at", version.instant().toString());
        map.put("author", version.author());
        map.put("message", version.message());
        map.put("action", version.action());
        map.put("validFrom", version.validFrom().toString());
        map.put("properties", version.content().map(then -> properties(then.properties())).orElse(Map.of()));
        return map;
    }

    /** The properties with values of classes that drivers know. */
    private static Map<String, Object> properties(Map<String, Object> stored) {
        Map<String, Object> given = new LinkedHashMap<>();
        Values.given(stored).forEach((key, value) -> {
            boolean isOwn = value instanceof Iri || value instanceof Literal || value instanceof Content;
            Object known = value instanceof Values.Several several ? several.values() : value;
            given.put(key, isOwn ? value.toString() : known);
        });
        return given;
    }

    @Override
    public void close() {}
}
