package annals.lab;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.SplittableRandom;
import org.apache.tinkerpop.gremlin.structure.Direction;
import org.apache.tinkerpop.gremlin.structure.Edge;
import org.apache.tinkerpop.gremlin.structure.Graph;
import org.apache.tinkerpop.gremlin.structure.Vertex;

/** The operations of one thread, in the transaction that TinkerPop keeps for the thread. */
final class TinkerPopWorker implements Worker {
    private final TinkerPopPeer peer;
    private final Graph graph;
    private final List<Vertex> neighbours = new ArrayList<>();
    /** The present out-vertex of the bipartite graph: an object of the open transaction. */
    private Vertex present;
    /** Holds what was visited, so that the compiler cannot leave a visit out. */
    private int visited;

    TinkerPopWorker(TinkerPopPeer peer, Graph graph) {
        this.peer = peer;
        this.graph = graph;
    }

    @Override
    public Object commit(Object previous) throws Conflict {
        try {
            Vertex vertex = graph.addVertex();
            if (previous != null) {
                TinkerPopPeer.vertex(graph, previous).addEdge(TinkerPopPeer.NEXT, vertex);
            }
            Object id = peer.idOf(vertex);
            TinkerPopPeer.commit(graph);
            return id;
        } catch (RuntimeException error) {
            TinkerPopPeer.rollback(graph);
            for (Throwable cause = error; cause != null; cause = cause.getCause()) {
                if (peer.isConflict(cause)) {
                    throw new Conflict(cause);
                }
            }
            throw error;
        }
    }

    @Override
    public long walk(Object first, long stepsMax) {
        Vertex vertex = TinkerPopPeer.vertex(graph, first);
        for (long steps = 0; steps < stepsMax; steps++) {
            Iterator<Edge> edges = vertex.edges(Direction.OUT, TinkerPopPeer.NEXT);
            if (!edges.hasNext()) {
                return steps;
            }
            vertex = edges.next().inVertex();
        }
        return stepsMax;
    }

    @Override
    public void enterBipartite(long number) {
        present = TinkerPopPeer.vertex(graph, peer.outId(number));
    }

    @Override
    public void hopBipartite(SplittableRandom random) {
        Vertex target = one(TinkerPopPeer.targets(present, TinkerPopPeer.LINK), random);
        present = one(TinkerPopPeer.sources(target, TinkerPopPeer.LINK), random);
    }

    private Vertex one(Iterator<Vertex> vertices, SplittableRandom random) {
        neighbours.clear();
        vertices.forEachRemaining(neighbours::add);
        return neighbours.get(random.nextInt(neighbours.size()));
    }

    @Override
    public long outDegree(long number) {
        Vertex vertex = TinkerPopPeer.vertex(graph, peer.outId(number));
        return TinkerPopPeer.length(TinkerPopPeer.targets(vertex, TinkerPopPeer.LINK));
    }

    @Override
    public long inDegree(long number) {
        Vertex vertex = TinkerPopPeer.vertex(graph, peer.inId(number));
        return TinkerPopPeer.length(TinkerPopPeer.sources(vertex, TinkerPopPeer.LINK));
    }

    @Override
    public long twoHops(long number) {
        long visits = 0;
        Iterator<Vertex> near = TinkerPopPeer.targets(bulkVertex(number), TinkerPopPeer.BULK);
        while (near.hasNext()) {
            Vertex vertex = near.next();
            visits++;
            Iterator<Vertex> far = TinkerPopPeer.targets(vertex, TinkerPopPeer.BULK);
            while (far.hasNext()) {
                visited += far.next().id().hashCode();
                visits++;
            }
        }
        return visits;
    }

    @Override
    public long[] twoHopsOf(long number) {
        List<Long> numbers = new ArrayList<>();
        TinkerPopPeer.targets(bulkVertex(number), TinkerPopPeer.BULK).forEachRemaining(near ->
            TinkerPopPeer.targets(near, TinkerPopPeer.BULK).forEachRemaining(far ->
                numbers.add(far.<Long>value(TinkerPopPeer.NUMBER))));
        return numbers.stream().mapToLong(Long::longValue).toArray();
    }

    private Vertex bulkVertex(long number) {
        return TinkerPopPeer.vertex(graph, peer.bulkId(number));
    }

    @Override
    public void renew() {
        Object id = present == null ? null : present.id();
        TinkerPopPeer.rollback(graph);
        if (id != null) {
            present = TinkerPopPeer.vertex(graph, id);
        }
    }

    @Override
    public void close() {
        TinkerPopPeer.rollback(graph);
    }
}
