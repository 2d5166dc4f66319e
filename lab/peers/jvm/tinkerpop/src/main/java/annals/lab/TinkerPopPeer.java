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

    protected abstract Graph openGraph() throws Exception;

    /** True if a transaction that failed with this may succeed when it is repeated. */
    protected abstract boolean isConflict(Throwable error);

    /** Begins a transaction of a bulk load; some systems have a lighter kind of transaction for that. */
    protected Graph beginLoad() {
        return graph;
    }

    /** Commits what `beginLoad` has begun. */
    protected void commitLoad(Graph loading) {
        commit(loading);
    }

    /** What finds the vertex again, without holding more of the system's memory than that. */
    protected Object idOf(Vertex vertex) {
        return vertex.id();
    }

    @Override
    public void open(Path path) throws Exception {
        folder = path;
        graph = openGraph();
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
    public void loadBipartite(long vertices) {
        int half = (int) (vertices / 2);
        outIds = addVertices(half, false);
        inIds = addVertices(half, false);
        addEdges(LINK, outIds, inIds, (number, edge) -> Graphs.bipartiteTarget(number, edge, half));
    }

    @Override
    public void loadBulk(long vertices) {
        bulkIds = addVertices((int) vertices, true);
        addEdges(BULK, bulkIds, bulkIds, (number, edge) -> Graphs.bulkTarget(number, edge, vertices));
    }

    private Object[] addVertices(int count, boolean isNumbered) {
        Object[] ids = new Object[count];
        for (int first = 0; first < count; first += BATCH) {
            Graph loading = beginLoad();
            for (int number = first; number < Math.min(count, first + BATCH); number++) {
                ids[number] = idOf(isNumbered ? loading.addVertex(NUMBER, (long) number) : loading.addVertex());
            }
            commitLoad(loading);
        }
        return ids;
    }

    /** Where an edge of a graph leads to. */
    private interface Target {
        long number(long number, int edge);
    }

    private void addEdges(String label, Object[] sources, Object[] targets, Target target) {
        int batch = BATCH / Graphs.DEGREE;
        for (int first = 0; first < sources.length; first += batch) {
            Graph loading = beginLoad();
            for (int number = first; number < Math.min(sources.length, first + batch); number++) {
                Vertex from = vertex(loading, sources[number]);
                for (int edge = 0; edge < Graphs.DEGREE; edge++) {
                    from.addEdge(label, vertex(loading, targets[(int) target.number(number, edge)]));
                }
            }
            commitLoad(loading);
        }
    }

    @Override
    public Counts count() {
        Counts counts = new Counts(length(graph.vertices()), length(graph.edges()));
        rollback(graph);
        return counts;
    }

    @Override
    public void makeEntity() {
        entity = idOf(graph.addVertex());
        commit(graph);
    }

    @Override
    public void putHistory(long versions) {
        for (long version = 1; version <= versions; version++) {
            entity().property(VERSION, version);
            commit(graph);
        }
    }

    /** The entity that `makeEntity` has made. */
    protected Vertex entity() {
        return vertex(graph, entity);
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
