package annals.lab;

import java.nio.file.Path;
import java.util.Iterator;
import java.util.Map;
import org.apache.tinkerpop.gremlin.structure.Direction;
import org.apache.tinkerpop.gremlin.structure.Graph;
import org.apache.tinkerpop.gremlin.structure.Vertex;

/** A system with the structure interface of Apache TinkerPop. Subclasses open it and say what differs. */
public abstract class TinkerPopPeer implements Peer {
    /** Labels of the edges: of the chains, of the bipartite graph, of the bulk graph. */
    protected static final String NEXT = "next";
    protected static final String LINK = "link";
    protected static final String BULK = "bulk";
    protected static final String NUMBER = "number";
    protected static final String VERSION = "n";

    /** Bulk loads commit as many elements at once. */
    private static final int BATCH = 10_000;

    protected Graph graph;
    protected Path folder;
    /** Ids by number; they stay the same when the system is reopened. */
    private Object[] outIds = {};
    private Object[] inIds = {};
    private Object[] bulkIds = {};
    private Object entity;

    /** Opens the graph; `isBulk` if a bulk load is next and the system has settings for that. */
    protected abstract Graph openGraph(boolean isBulk) throws Exception;

    /** True if a transaction that failed with this may succeed when it is repeated. */
    protected abstract boolean isConflict(Throwable error);

    /** True if the system opens in another way for a bulk load. */
    protected boolean hasBulkSettings() {
        return false;
    }

    /** What finds the vertex again, without holding more of the system's memory than that. */
    protected Object idOf(Vertex vertex) {
        return vertex.id();
    }

    @Override
    public void open(Path path) throws Exception {
        folder = path;
        graph = openGraph(false);
    }

    @Override
    public void close() throws Exception {
        graph.close();
    }

    @Override
    public Worker worker() {
        return new TinkerPopWorker(this, graph);
    }

    @Override
    public Map<String, String> settings() {
        return Map.of();
    }

    /** Ends the transaction of this thread, if the system has any. */
    static void commit(Graph graph) {
        if (graph.features().graph().supportsTransactions()) {
            graph.tx().commit();
        }
    }

    static void rollback(Graph graph) {
        if (graph.features().graph().supportsTransactions() && graph.tx().isOpen()) {
            graph.tx().rollback();
        }
    }

    Object outId(long number) {
        return outIds[(int) number];
    }

    Object inId(long number) {
        return inIds[(int) number];
    }

    Object bulkId(long number) {
        return bulkIds[(int) number];
    }

    static Vertex vertex(Graph graph, Object id) {
        return graph.vertices(id).next();
    }

    @Override
    public void loadBipartite(long vertices) throws Exception {
        int half = (int) (vertices / 2);
        switchSettings(true);
        outIds = addVertices(half, false);
        inIds = addVertices(half, false);
        int batch = 0;
        for (int number = 0; number < half; number++) {
            Vertex from = vertex(graph, outIds[number]);
            for (int edge = 0; edge < Graphs.DEGREE; edge++) {
                from.addEdge(LINK, vertex(graph, inIds[(int) Graphs.bipartiteTarget(number, edge, half)]));
            }
            batch = commitFull(batch + Graphs.DEGREE);
        }
        commit(graph);
        switchSettings(false);
    }

    @Override
    public void loadBulk(long vertices) throws Exception {
        switchSettings(true);
        bulkIds = addVertices((int) vertices, true);
        int batch = 0;
        for (int number = 0; number < vertices; number++) {
            Vertex from = vertex(graph, bulkIds[number]);
            for (int edge = 0; edge < Graphs.DEGREE; edge++) {
                from.addEdge(BULK, vertex(graph, bulkIds[(int) Graphs.bulkTarget(number, edge, vertices)]));
            }
            batch = commitFull(batch + Graphs.DEGREE);
        }
        commit(graph);
        switchSettings(false);
    }

    private void switchSettings(boolean isBulk) throws Exception {
        if (hasBulkSettings()) {
            graph.close();
            graph = openGraph(isBulk);
        }
    }

    private Object[] addVertices(int count, boolean isNumbered) {
        Object[] ids = new Object[count];
        int batch = 0;
        for (int number = 0; number < count; number++) {
            Vertex vertex = isNumbered ? graph.addVertex(NUMBER, (long) number) : graph.addVertex();
            ids[number] = idOf(vertex);
            batch = commitFull(batch + 1);
        }
        commit(graph);
        return ids;
    }

    /** Commits if the batch is full; returns the size of the batch after that. */
    private int commitFull(int batch) {
        if (batch < BATCH) {
            return batch;
        }
        commit(graph);
        return 0;
    }

    @Override
    public Counts count() {
        Counts counts = new Counts(length(graph.vertices()), length(graph.edges()));
        rollback(graph);
        return counts;
    }

    @Override
    public void putHistory(long versions) {
        entity = idOf(graph.addVertex());
        commit(graph);
        for (long version = 1; version <= versions; version++) {
            vertex(graph, entity).property(VERSION, version);
            commit(graph);
        }
    }

    static long length(Iterator<?> elements) {
        long length = 0;
        for (; elements.hasNext(); elements.next()) {
            length++;
        }
        return length;
    }

    static Iterator<Vertex> targets(Vertex vertex, String label) {
        return vertex.vertices(Direction.OUT, label);
    }

    static Iterator<Vertex> sources(Vertex vertex, String label) {
        return vertex.vertices(Direction.IN, label);
    }
}
