package annals.lab;

import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import org.neo4j.configuration.GraphDatabaseSettings;
import org.neo4j.dbms.api.DatabaseManagementService;
import org.neo4j.dbms.api.DatabaseManagementServiceBuilder;
import org.neo4j.graphdb.GraphDatabaseService;
import org.neo4j.graphdb.Node;
import org.neo4j.graphdb.RelationshipType;
import org.neo4j.graphdb.ResourceIterable;
import org.neo4j.graphdb.Transaction;
import org.neo4j.io.ByteUnit;

/**
 * Neo4j embedded, by its Java interface; nodes are found by their internal id. The log is synced once for all
 * transactions that wait. Tuned: the page cache has a fixed size, the heap has one size that is touched at the start
 * (`target.env`), and any number of transactions may be open, where the default allows 1,000. Bulk load: transactions of 10,000 elements; the offline import only makes whole new databases.
 * Source: <https://neo4j.com/docs/operations-manual/current/performance/memory-configuration/>.
 */
@SuppressWarnings("deprecation") // Ids of type long are deprecated, and the fastest way to find a node again.
public final class Neo4jPeer implements Peer {
    static final RelationshipType NEXT = RelationshipType.withName("next");
    static final RelationshipType LINK = RelationshipType.withName("link");
    static final RelationshipType BULK = RelationshipType.withName("bulk");
    static final String NUMBER = "number";

    private static final int BATCH = 10_000;
    private static final long TUNED_PAGE_CACHE_BYTES = ByteUnit.gibiBytes(2);
    /** No limit. */
    private static final int TUNED_TRANSACTIONS_MAX = 0;

    private final boolean isTuned;
    private DatabaseManagementService service;
    GraphDatabaseService database;
    /** Ids by number; they stay the same when the database is reopened. */
    long[] outIds = {};
    long[] inIds = {};
    long[] bulkIds = {};
    private long entity;

    public Neo4jPeer(String form) {
        isTuned = switch (form) {
            case "" -> false;
            case "tuned" -> true;
            default -> throw new IllegalArgumentException("neo4j has no form " + form);
        };
    }

    @Override
    public void open(Path folder) {
        DatabaseManagementServiceBuilder builder = new DatabaseManagementServiceBuilder(folder.toAbsolutePath());
        if (isTuned) {
            builder.setConfig(GraphDatabaseSettings.pagecache_memory, TUNED_PAGE_CACHE_BYTES);
            builder.setConfig(GraphDatabaseSettings.max_concurrent_transactions, TUNED_TRANSACTIONS_MAX);
        }
        service = builder.build();
        database = service.database(GraphDatabaseSettings.DEFAULT_DATABASE_NAME);
    }

    @Override
    public void close() {
        service.shutdown();
    }

    @Override
    public Durability durability() {
        return Durability.SYNCED_GROUP;
    }

    @Override
    public Map<String, String> settings() {
        Map<String, String> settings = new TreeMap<>();
        if (isTuned) {
            settings.put(GraphDatabaseSettings.pagecache_memory.name(), Long.toString(TUNED_PAGE_CACHE_BYTES));
            settings.put(
                    GraphDatabaseSettings.max_concurrent_transactions.name(), Integer.toString(TUNED_TRANSACTIONS_MAX));
        }
        return settings;
    }

    @Override
    public boolean isOffHeap() {
        return true;
    }

    @Override
    public Worker worker() {
        return new Neo4jWorker(this);
    }

    /** Adds one element; the elements of a batch share one transaction. */
    private interface Adder {
        void add(Transaction transaction, int number);
    }

    private void inBatches(int count, int batch, Adder adder) {
        for (int first = 0; first < count; first += batch) {
            try (Transaction transaction = database.beginTx()) {
                for (int number = first; number < Math.min(count, first + batch); number++) {
                    adder.add(transaction, number);
                }
                transaction.commit();
            }
        }
    }

    @Override
    public void loadBipartite(long vertices) {
        int half = (int) (vertices / 2);
        outIds = new long[half];
        inIds = new long[half];
        inBatches(half, BATCH, (transaction, number) -> outIds[number] = transaction.createNode().getId());
        inBatches(half, BATCH, (transaction, number) -> inIds[number] = transaction.createNode().getId());
        inBatches(half, BATCH / Graphs.DEGREE, (transaction, number) -> {
            Node from = transaction.getNodeById(outIds[number]);
            for (int edge = 0; edge < Graphs.DEGREE; edge++) {
                long to = inIds[(int) Graphs.bipartiteTarget(number, edge, half)];
                from.createRelationshipTo(transaction.getNodeById(to), LINK);
            }
        });
    }

    @Override
    public void loadBulk(long vertices) {
        int count = (int) vertices;
        bulkIds = new long[count];
        inBatches(count, BATCH, (transaction, number) -> {
            Node node = transaction.createNode();
            node.setProperty(NUMBER, (long) number);
            bulkIds[number] = node.getId();
        });
        inBatches(count, BATCH / Graphs.DEGREE, (transaction, number) -> {
            Node from = transaction.getNodeById(bulkIds[number]);
            for (int edge = 0; edge < Graphs.DEGREE; edge++) {
                long to = bulkIds[(int) Graphs.bulkTarget(number, edge, vertices)];
                from.createRelationshipTo(transaction.getNodeById(to), BULK);
            }
        });
    }

    @Override
    public Counts count() {
        try (Transaction transaction = database.beginTx();
            ResourceIterable<Node> nodes = transaction.getAllNodes();
            ResourceIterable<?> relationships = transaction.getAllRelationships()) {
            return new Counts(nodes.stream().count(), relationships.stream().count());
        }
    }

    @Override
    public void makeEntity() {
        try (Transaction transaction = database.beginTx()) {
            entity = transaction.createNode().getId();
            transaction.commit();
        }
    }

    @Override
    public void putHistory(long versions) {
        for (long version = 1; version <= versions; version++) {
            try (Transaction transaction = database.beginTx()) {
                transaction.getNodeById(entity).setProperty("n", version);
                transaction.commit();
            }
        }
    }
}
