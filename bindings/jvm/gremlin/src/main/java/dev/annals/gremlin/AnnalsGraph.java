package dev.annals.gremlin;

import dev.annals.Annals;
import dev.annals.AnnalsException;
import dev.annals.Entity;
import dev.annals.Find;
import dev.annals.Instance;
import dev.annals.InstanceId;
import dev.annals.NewEntity;
import dev.annals.Relationship;
import dev.annals.Repository;
import dev.annals.Snapshot;
import dev.annals.Version;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Arrays;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.apache.commons.configuration2.BaseConfiguration;
import org.apache.commons.configuration2.Configuration;
import org.apache.tinkerpop.gremlin.process.computer.GraphComputer;
import org.apache.tinkerpop.gremlin.process.traversal.TraversalStrategies;
import org.apache.tinkerpop.gremlin.structure.Edge;
import org.apache.tinkerpop.gremlin.structure.Element;
import org.apache.tinkerpop.gremlin.structure.Graph;
import org.apache.tinkerpop.gremlin.structure.T;
import org.apache.tinkerpop.gremlin.structure.Transaction;
import org.apache.tinkerpop.gremlin.structure.Vertex;
import org.apache.tinkerpop.gremlin.structure.io.Io;
import org.apache.tinkerpop.gremlin.structure.service.ServiceRegistry;
import org.apache.tinkerpop.gremlin.structure.util.ElementHelper;
import org.apache.tinkerpop.gremlin.structure.util.StringFactory;
import org.apache.tinkerpop.gremlin.util.iterator.IteratorUtils;

/**
 * A repository as a graph of TinkerPop: entities are vertices, relationships are edges, types are labels.
 *
 * <p>Every thread has a transaction of its own, which the first read or write opens: it sees one snapshot and its own
 * changes. {@code tx().createThreadedTx()} gives a graph with one transaction for many threads. A commit that another one
 * forestalled fails with a {@code TransactionException}; nothing is retried.
 *
 * <p>Settings: {@code annals.folder}, a folder or the URL of a log in a
 * store, without which the graph is in memory, and {@code annals.remove}: {@code delete}
 * (the default) keeps the history of what is removed, and an element with its id continues it; {@code purge} forgets it.
 */
@Graph.OptIn(Graph.OptIn.SUITE_STRUCTURE_STANDARD)
@Graph.OptIn(Graph.OptIn.SUITE_PROCESS_LIMITED_STANDARD)
@Graph.OptIn(Graph.OptIn.SUITE_PROCESS_STANDARD)
@SuppressWarnings("deprecation") // Older suites are declared deprecated, and still judge a graph.
public final class AnnalsGraph implements Graph {
    static {
        TraversalStrategies.GlobalCache.registerStrategies(
                AnnalsGraph.class,
                TraversalStrategies.GlobalCache.getStrategies(Graph.class)
                        .clone()
                        .addStrategies(
                                AnnalsLabelStrategy.instance(),
                                AnnalsStrategy.instance(),
                                AnnalsReductionStrategy.instance(),
                                AnnalsAdjacencyStrategy.instance(),
                                AnnalsSignStrategy.instance()));
    }

    /** The setting for the folder of the repository, or the URL of its log in a store. */
    public static final String FOLDER = "annals.folder";

    /** The setting for what removing an element does: {@code delete} or {@code purge}. */
    public static final String REMOVE = "annals.remove";

    private final Configuration configuration;
    private final Repository repository;
    private final boolean isPurging;
    private final Transaction transaction;
    // The session of this thread; the only one of a threaded transaction, and of a graph of the past.
    private final Supplier<Session> sessions;
    private final Runnable end;
    private final AnnalsFeatures features = new AnnalsFeatures();
    private final ServiceRegistry services = new ServiceRegistry();

    {
        services.registerService(new AnnalsHistory.Factory(this));
    }

    private AnnalsGraph(Configuration configuration) {
        this.configuration = configuration;
        String remove = configuration.getString(REMOVE, "delete");
        if (!remove.equals("purge") && !remove.equals("delete")) {
            throw new IllegalArgumentException(REMOVE + ": expected delete or purge, found " + remove);
        }
        isPurging = remove.equals("purge");
        String folder = configuration.getString(FOLDER, null);
        repository = folder == null ? Annals.inMemory() : Annals.open(folder);
        AnnalsTransaction own = new AnnalsTransaction(this);
        transaction = own;
        sessions = () -> {
            own.readWrite();
            return own.session();
        };
        end = () -> {
            own.closeAll();
            repository.close();
        };
    }

    private AnnalsGraph(AnnalsGraph present, Snapshot snapshot) {
        configuration = present.configuration;
        repository = present.repository;
        isPurging = present.isPurging;
        transaction = present.transaction;
        Session past = new Session(snapshot);
        sessions = () -> past;
        end = past::close;
    }

    private AnnalsGraph(AnnalsGraph present) {
        configuration = present.configuration;
        repository = present.repository;
        isPurging = present.isPurging;
        AnnalsThreadedTransaction own = new AnnalsThreadedTransaction(this, present);
        transaction = own;
        sessions = own::session;
        end = own::close;
    }

    /** A graph with one transaction for all threads. */
    AnnalsGraph threaded() {
        return new AnnalsGraph(this);
    }

    /**
     * Opens a graph, as {@code GraphFactory} does.
     *
     * @param configuration the settings
     * @return the graph, to be closed
     */
    public static AnnalsGraph open(Configuration configuration) {
        return new AnnalsGraph(configuration);
    }

    /**
     * Opens a graph in memory.
     *
     * @return the graph, to be closed
     */
    public static AnnalsGraph open() {
        return open(new BaseConfiguration());
    }

    /**
     * Opens, or makes, a graph in a folder.
     *
     * @param folder the folder of its repository
     * @return the graph, to be closed
     */
    public static AnnalsGraph open(Path folder) {
        BaseConfiguration configuration = new BaseConfiguration();
        configuration.setProperty(FOLDER, folder.toString());
        return open(configuration);
    }

    /**
     * The repository, with all that Annals offers beside TinkerPop.
     *
     * @return the repository; closing the graph closes it
     */
    public Repository repository() {
        return repository;
    }

    /**
     * The graph as it was known at an instant. It cannot be changed, and shows no open transaction.
     *
     * @param instant the time; not in the future
     * @return the graph of the past, to be closed
     */
    public AnnalsGraph asOf(Instant instant) {
        return new AnnalsGraph(this, repository.asOf(instant));
    }

    /**
     * The graph as it was after the record at a position.
     *
     * @param position the position, as a commit gives it
     * @return the graph of the past, to be closed
     */
    public AnnalsGraph asOf(long position) {
        return new AnnalsGraph(this, repository.asOf(position));
    }

    /**
     * All versions of an element that is committed, the newest first.
     *
     * @param element a vertex or an edge of this graph
     * @return the versions with author, message and time
     */
    public List<Version> history(Element element) {
        if (!(element instanceof AnnalsElement<?> own)) {
            throw new IllegalArgumentException("history: expected an element of this graph, found " + element);
        }
        try (Snapshot snapshot = repository.snapshot();
                Stream<Version> versions = snapshot.history(own.instance())) {
            return versions.toList();
        }
    }

    /** What this thread reads: its transaction, or the past. */
    Session session() {
        return sessions.get();
    }

    @Override
    public Vertex addVertex(Object... keyValues) {
        ElementHelper.legalPropertyKeyValueArray(keyValues);
        Optional<String> id = Ids.supplied(
                ElementHelper.getIdValue(keyValues), Vertex.Exceptions::userSuppliedIdsOfThisTypeNotSupported);
        String label = ElementHelper.getLabelValue(keyValues).orElse(Vertex.DEFAULT_LABEL);
        ElementHelper.validateLabel(label);
        Map<String, Object> properties = Values.stored(properties(keyValues));
        Session session = session();
        synchronized (session) {
            Optional<Entity> removed = id.flatMap(text -> free(session, text));
            if (removed.isPresent()) {
                return restored(session, removed.get(), label, properties);
            }
            NewEntity entity = NewEntity.of(label).setAll(properties);
            NewEntity created = id.map(entity::id).orElse(entity);
            return new AnnalsVertex(this, session.changing(t -> t.create(created)), label);
        }
    }

    /** The removed vertex that has an id, if any. Errors: the refusal if a vertex has it that is there. */
    private Optional<Entity> free(Session session, String id) {
        if (find(Ids.given(id), other -> session.entity(other)).isPresent()) {
            throw Graph.Exceptions.vertexWithIdAlreadyExists(Ids.given(id));
        }
        return removed(session, Find.entities(), id);
    }

    /** The removed element with this id, whose history the repository keeps; it has the id for ever. */
    <I extends Instance> Optional<I> removed(Session session, Find<I> find, String id) {
        return isPurging ? Optional.empty() : session.removed(find, id);
    }

    private Vertex restored(Session session, Entity removed, String label, Map<String, Object> properties) {
        String id = removed.id();
        if (!removed.type().equals(label)) {
            throw isTaken("vertex " + removed.id(), removed.type(), label);
        }
        session.changing(t -> {
            t.restoreAlone(id);
            t.replace(removed.instanceId(), properties);
            removed.classifications().keySet().forEach(name -> t.declassify(id, name));
            return id;
        });
        return new AnnalsVertex(this, id, label);
    }

    /** The refusal of an element that is not like the removed one with its id. */
    static IllegalArgumentException isTaken(String element, String expected, String found) {
        return new IllegalArgumentException(element + ": a removed element keeps its id for its history; expected " + expected
                + " again, found " + found + "; take another id, or open the graph with " + REMOVE + "=purge");
    }

    /** The properties among key and value pairs; of two with one key the later one counts. */
    static Map<String, Object> properties(Object[] keyValues) {
        Map<String, Object> properties = new LinkedHashMap<>();
        for (int index = 0; index < keyValues.length; index += 2) {
            if (!(keyValues[index] instanceof T)) {
                String key = (String) keyValues[index];
                Object value = keyValues[index + 1];
                ElementHelper.validateProperty(key, value);
                // No value is no property.
                if (value == null) {
                    properties.remove(key);
                } else {
                    properties.put(key, value);
                }
            }
        }
        return properties;
    }

    @Override
    public Iterator<Vertex> vertices(Object... ids) {
        Session session = session();
        Function<Entity, Vertex> vertices = vertices(session);
        return ids.length == 0
                ? IteratorUtils.map(session.find(Find.entities()), vertices)
                : IteratorUtils.map(found(ids, id -> session.entity(id)), vertices);
    }

    @Override
    public Iterator<Edge> edges(Object... ids) {
        Session session = session();
        Function<Relationship, Edge> edges = edges(session);
        return ids.length == 0
                ? IteratorUtils.map(session.find(Find.relationships()), edges)
                : IteratorUtils.map(found(ids, id -> session.relationship(id)), edges);
    }

    /** Makes vertices of what is read from now on: after a change they are read again. */
    Function<Entity, Vertex> vertices(Session session) {
        long changes = session.changes();
        return entity -> new AnnalsVertex(this, entity, session, changes);
    }

    /** Makes edges of what is read from now on. */
    Function<Relationship, Edge> edges(Session session) {
        long changes = session.changes();
        return relationship -> new AnnalsEdge(this, relationship, session, changes);
    }

    private static <I> Iterator<I> found(Object[] ids, Function<String, Optional<I>> read) {
        return Arrays.stream(ids).filter(Objects::nonNull).map(id -> find(id, read)).flatMap(Optional::stream).iterator();
    }

    /** The first that is there of the texts that an id, or the id of an element, may have. */
    private static <I> Optional<I> find(Object id, Function<String, Optional<I>> read) {
        if (id instanceof AnnalsElement<?> element) {
            return read.apply(element.text());
        }
        Object sought = id instanceof Element element ? element.id() : id;
        return Ids.sought(sought).stream().map(read).flatMap(Optional::stream).findFirst();
    }

    /** The id in the repository of the vertex that an edge leads to. */
    String text(Vertex vertex) {
        if (vertex instanceof AnnalsVertex own) {
            return own.text();
        }
        Session session = session();
        return find(vertex, id -> session.entity(id))
                .map(Entity::id)
                .orElseThrow(() -> new IllegalStateException("vertex " + vertex.id() + ": it is not in this graph"));
    }

    void remove(InstanceId instance) {
        session().changing(t -> {
            if (isPurging) {
                t.purge(instance);
            } else {
                t.delete(instance);
            }
            return null;
        });
    }

    @Override
    public Transaction tx() {
        return transaction;
    }

    /**
     * Closes the repository; transactions that are open are rolled back. The graph of a threaded transaction rolls back
     * only this, and a graph of the past closes only its view.
     */
    @Override
    public void close() {
        end.run();
    }

    /** Files of this graph, and of JanusGraph, can be read. */
    @Override
    @SuppressWarnings({"rawtypes", "unchecked"}) // The interface has raw types.
    public <I extends Io> I io(Io.Builder<I> builder) {
        return (I) builder.graph(this)
                .onMapper(mapper -> mapper.addRegistry(AnnalsIoRegistry.instance()))
                .create();
    }

    @Override
    public Variables variables() {
        throw Graph.Exceptions.variablesNotSupported();
    }

    @Override
    public ServiceRegistry getServiceRegistry() {
        return services;
    }

    @Override
    public Configuration configuration() {
        return configuration;
    }

    @Override
    public Features features() {
        return features;
    }

    @Override
    public <C extends GraphComputer> C compute(Class<C> computer) {
        throw Graph.Exceptions.graphComputerNotSupported();
    }

    @Override
    public GraphComputer compute() {
        throw Graph.Exceptions.graphComputerNotSupported();
    }

    @Override
    public String toString() {
        String place = configuration.getString(FOLDER, "memory");
        return StringFactory.graphString(this, place);
    }

    /** An error of the repository, as users of TinkerPop expect it. */
    static RuntimeException exception(AnnalsException error) {
        return switch (error.kind()) {
            case "invalid-argument", "invalid-property", "too-large" ->
                    new IllegalArgumentException(error.getMessage(), error);
            case "deleted", "not-found", "missing-end" -> new IllegalStateException(error.getMessage(), error);
            default -> error;
        };
    }
}
