package annals.lab;

import com.arcadedb.ContextConfiguration;
import com.arcadedb.GlobalConfiguration;
import com.arcadedb.database.Database;
import com.arcadedb.database.DatabaseFactory;
import com.arcadedb.database.RID;
import com.arcadedb.engine.Bucket;
import com.arcadedb.graph.GraphBatch;
import com.arcadedb.graph.MutableVertex;
import com.arcadedb.graph.Vertex;
import com.arcadedb.schema.DocumentType;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * ArcadeDB embedded, by its Java interface; vertices are found by their record id.
 * Plain: the write-ahead log is synced at each commit, because the default loses commits. `unsynced` is this default.
 * Tuned: synced too, with as many buckets a type as it allows and a bucket for each thread, since two transactions
 * conflict if they change the same page. Bulk load: the batch for graphs.
 * Sources: <https://docs.arcadedb.com/> on settings, buckets and importing.
 */
public final class ArcadedbPeer implements Peer {
    /** Types of vertices: of the chains and the bipartite graph, and of the bulk graph; types of edges. */
    static final String POINT = "Point";
    static final String NUMBERED = "Numbered";
    static final String NEXT = "Next";
    static final String LINK = "Link";
    static final String BULK = "Bulk";
    static final String NUMBER = "number";

    private static final int TUNED_BUCKETS = 32;
    /** Syncs the contents of the log, not the times in its folder. */
    private static final int SYNC_CONTENTS = 1;

    private final boolean isTuned;
    private final boolean isSynced;
    private Path folder;
    Database database;
    /** Record ids by number; they stay the same when the database is reopened. */
    RID[] outIds = {};
    RID[] inIds = {};
    RID[] bulkIds = {};
    private RID entity;

    public ArcadedbPeer(String form) {
        switch (form) {
            case "", "tuned", "unsynced" -> { }
            default -> throw new IllegalArgumentException("arcadedb has no form " + form);
        }
        isTuned = form.equals("tuned");
        isSynced = !form.equals("unsynced");
    }

    @Override
    public void open(Path path) {
        folder = path;
        DatabaseFactory factory = new DatabaseFactory(path.resolve("graph").toString());
        ContextConfiguration configuration = factory.getContextConfiguration();
        if (isSynced) {
            configuration.setValue(GlobalConfiguration.TX_WAL_FLUSH, SYNC_CONTENTS);
        }
        if (factory.exists()) {
            database = factory.open();
        } else {
            database = factory.create();
            database.transaction(this::defineSchema);
        }
    }

    private void defineSchema() {
        for (String name : List.of(POINT, NUMBERED)) {
            spread(isTuned
                ? database.getSchema().createVertexType(name, TUNED_BUCKETS)
                : database.getSchema().createVertexType(name));
        }
        for (String name : List.of(NEXT, LINK, BULK)) {
            spread(isTuned
                ? database.getSchema().createEdgeType(name, TUNED_BUCKETS)
                : database.getSchema().createEdgeType(name));
        }
    }

    private void spread(DocumentType type) {
        if (isTuned) {
            type.setBucketSelectionStrategy("thread");
        }
    }

    @Override
    public void close() {
        database.close();
    }

    @Override
    public Durability durability() {
        return isSynced ? Durability.SYNCED : Durability.UNSYNCED;
    }

    @Override
    public Map<String, String> settings() {
        Map<String, String> settings = new TreeMap<>();
        if (isSynced) {
            settings.put(GlobalConfiguration.TX_WAL_FLUSH.getKey(), Integer.toString(SYNC_CONTENTS));
        }
        if (isTuned) {
            settings.put("buckets a type", Integer.toString(TUNED_BUCKETS));
            settings.put("bucket selection", "thread");
        }
        return settings;
    }

    @Override
    public Worker worker() {
        return new ArcadedbWorker(this);
    }

    Vertex vertex(RID id) {
        return database.lookupByRID(id, true).asVertex();
    }

    @Override
    public void loadBipartite(long vertices) throws IOException {
        int half = (int) (vertices / 2);
        try (GraphBatch batch = GraphBatch.builder(database).build()) {
            outIds = batch.createVertices(POINT, half);
            inIds = batch.createVertices(POINT, half);
            for (int number = 0; number < half; number++) {
                for (int edge = 0; edge < Graphs.DEGREE; edge++) {
                    batch.newEdge(outIds[number], LINK, inIds[(int) Graphs.bipartiteTarget(number, edge, half)]);
                }
            }
        }
        makeDurable();
    }

    @Override
    public void loadBulk(long vertices) throws IOException {
        Object[][] properties = new Object[(int) vertices][];
        for (int number = 0; number < vertices; number++) {
            properties[number] = new Object[] {NUMBER, (long) number};
        }
        try (GraphBatch batch = GraphBatch.builder(database).build()) {
            bulkIds = batch.createVertices(NUMBERED, properties);
            for (int number = 0; number < vertices; number++) {
                for (int edge = 0; edge < Graphs.DEGREE; edge++) {
                    batch.newEdge(bulkIds[number], BULK, bulkIds[(int) Graphs.bulkTarget(number, edge, vertices)]);
                }
            }
        }
        makeDurable();
    }

    /** The batch writes without the log: close the database, so that all pages are in its files, and sync these. */
    private void makeDurable() throws IOException {
        database.close();
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
                    channel.force(true);
                }
            }
        }
        open(folder);
    }

    /** Counted by reading, and for edges from the vertices. */
    @Override
    public Counts count() {
        long vertices = 0;
        long edges = 0;
        database.begin();
        for (String type : List.of(POINT, NUMBERED)) {
            for (Bucket bucket : database.getSchema().getType(type).getBuckets(false)) {
                var records = database.iterateBucket(bucket.getName());
                while (records.hasNext()) {
                    edges += records.next().asVertex().countEdges(Vertex.DIRECTION.OUT);
                    vertices++;
                }
            }
        }
        database.rollback();
        return new Counts(vertices, edges);
    }

    @Override
    public boolean isCountQuick() {
        return false;
    }

    @Override
    public void makeEntity() {
        database.begin();
        MutableVertex made = database.newVertex(POINT);
        made.save();
        database.commit();
        entity = made.getIdentity();
    }

    @Override
    public void putHistory(long versions) {
        for (long version = 1; version <= versions; version++) {
            database.begin();
            vertex(entity).modify().set("n", version).save();
            database.commit();
        }
    }
}
