package annals.lab;

import static org.apache.tinkerpop.gremlin.process.traversal.AnonymousTraversalSource.traversal;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.tinkerpop.gremlin.driver.Client;
import org.apache.tinkerpop.gremlin.driver.Cluster;
import org.apache.tinkerpop.gremlin.driver.Result;
import org.apache.tinkerpop.gremlin.driver.remote.DriverRemoteConnection;
import org.apache.tinkerpop.gremlin.process.traversal.dsl.graph.GraphTraversalSource;

/**
 * A graph in Gremlin Server, asked by TinkerPop's driver of Java: the same client, connections and traversals for every
 * server. The form is the name of the server. Only the requests of the suite `gremlin-server` are answered.
 */
public final class ServerPeer implements Peer {
    private static final int CONNECTIONS = 4;
    /** More than the suite has in flight on one connection. */
    private static final int REQUESTS_PER_CONNECTION_MAX = 256;
    /** Vertices, or vertices with their edges, that one request adds: far below its 1 MiB. */
    private static final int BATCH = 1_000;

    private static final String ADD_VERTICES =
        "(0..<size).collect { graph.addVertex('number', (long) least + it).id() }";
    private static final String ADD_EDGES =
        "pairs.collate(2).each { graph.vertices(it[0]).next().addEdge('bulk', graph.vertices(it[1]).next()) }; []";

    private final Served.Kind kind;
    private Served server;
    private Cluster cluster;
    private Client scripts;
    private GraphTraversalSource g;
    /** Ids by number; they stay the same when the server is started again. */
    private List<Object> ids = List.of();

    public ServerPeer(String form) {
        kind = Served.Kind.valueOf(form.toUpperCase(Locale.ROOT));
    }

    @Override
    public void open(Path folder) throws Exception {
        server = new Served(kind, folder);
        cluster = Cluster.build("127.0.0.1")
            .port(server.port)
            .minConnectionPoolSize(CONNECTIONS)
            .maxConnectionPoolSize(CONNECTIONS)
            .maxInProcessPerConnection(REQUESTS_PER_CONNECTION_MAX)
            .maxSimultaneousUsagePerConnection(REQUESTS_PER_CONNECTION_MAX)
            .create();
        scripts = cluster.connect();
        g = traversal().withRemote(DriverRemoteConnection.using(cluster, "g"));
        try {
            // A server whose graph did not open listens all the same.
            g.inject(1).next();
        } catch (RuntimeException error) {
            close();
            throw error;
        }
    }

    @Override
    public void close() throws Exception {
        cluster.close();
        server.close();
    }

    /** Both graphs sync what they have committed before they answer. */
    @Override
    public Durability durability() {
        return Durability.SYNCED_GROUP;
    }

    @Override
    public Map<String, String> settings() {
        Map<String, String> settings = new TreeMap<>();
        settings.put("connections", Integer.toString(CONNECTIONS));
        settings.put("server", jars());
        return settings;
    }

    /** The jars that tell the versions of the server and of its graph. */
    private String jars() {
        try (Stream<Path> files = Files.list(kind.home().resolve("lib"))) {
            return files.map(file -> file.getFileName().toString())
                .filter(name -> name.matches("(gremlin-server|annals-gremlin|janusgraph-server)-[0-9.]+\\.jar"))
                .map(name -> name.replace(".jar", ""))
                .sorted()
                .collect(Collectors.joining(", "));
        } catch (IOException error) {
            return "unknown: " + error;
        }
    }

    @Override
    public Worker worker() {
        return new ServerWorker(g, ids);
    }

    @Override
    public void loadBulk(long vertices) throws Exception {
        List<Object> added = new ArrayList<>();
        for (long first = 0; first < vertices; first += BATCH) {
            long count = Math.min(BATCH, vertices - first);
            List<Result> found = scripts.submit(ADD_VERTICES, Map.of("least", first, "size", (int) count)).all().get();
            found.forEach(id -> added.add(id.getObject()));
        }
        ids = added;
        for (long first = 0; first < vertices; first += BATCH) {
            List<Object> pairs = new ArrayList<>();
            for (long number = first; number < Math.min(vertices, first + BATCH); number++) {
                for (int edge = 0; edge < Graphs.DEGREE; edge++) {
                    pairs.add(ids.get((int) number));
                    pairs.add(ids.get((int) Graphs.bulkTarget(number, edge, vertices)));
                }
            }
            scripts.submit(ADD_EDGES, Map.of("pairs", pairs)).all().get();
        }
    }

    @Override
    public Counts count() {
        return new Counts(g.V().count().next(), g.E().count().next());
    }

    @Override
    public void loadBipartite(long vertices) throws Skip {
        throw ServerWorker.skip();
    }

    @Override
    public void makeEntity() throws Skip {
        throw ServerWorker.skip();
    }

    @Override
    public void putHistory(long versions) throws Skip {
        throw ServerWorker.skip();
    }
}
