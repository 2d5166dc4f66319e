package annals.lab;

import com.arcadedb.database.RID;
import com.arcadedb.exception.NeedRetryException;
import com.arcadedb.graph.MutableVertex;
import com.arcadedb.graph.Vertex;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.SplittableRandom;

/** The operations of one thread on ArcadeDB, which keeps a transaction for each thread. */
final class ArcadedbWorker implements Worker {
    private final ArcadedbPeer peer;
    private final List<Vertex> neighbours = new ArrayList<>();
    /** The present out-vertex of the bipartite graph. */
    private Vertex present;
    /** Holds what was visited, so that the compiler cannot leave a visit out. */
    private long visited;

    ArcadedbWorker(ArcadedbPeer peer) {
        this.peer = peer;
    }

    @Override
    public Object commit(Object previous) throws Conflict {
        try {
            peer.database.begin();
            MutableVertex vertex = peer.database.newVertex(ArcadedbPeer.POINT);
            vertex.save();
            if (previous != null) {
                peer.vertex((RID) previous).newEdge(ArcadedbPeer.NEXT, vertex);
            }
            peer.database.commit();
            return vertex.getIdentity();
        } catch (NeedRetryException error) {
            close();
            throw new Conflict(error);
        } catch (RuntimeException error) {
            close();
            if (error.getCause() instanceof NeedRetryException) {
                throw new Conflict(error.getCause());
            }
            throw error;
        }
    }

    /** Begins the transaction that reads share, if there is none. */
    private Vertex vertex(RID id) {
        if (!peer.database.isTransactionActive()) {
            peer.database.begin();
        }
        return peer.vertex(id);
    }

    @Override
    public long walk(Object first, long stepsMax) {
        Vertex vertex = vertex((RID) first);
        for (long steps = 0; steps < stepsMax; steps++) {
            Iterator<Vertex> next = vertex.getVertices(Vertex.DIRECTION.OUT, ArcadedbPeer.NEXT).iterator();
            if (!next.hasNext()) {
                return steps;
            }
            vertex = next.next();
        }
        return stepsMax;
    }

    @Override
    public void enterBipartite(long number) {
        present = vertex(peer.outIds[(int) number]);
    }

    @Override
    public void hopBipartite(SplittableRandom random) {
        read(present, Vertex.DIRECTION.OUT);
        read(neighbours.get(random.nextInt(neighbours.size())), Vertex.DIRECTION.IN);
        present = neighbours.get(random.nextInt(neighbours.size()));
    }

    /** Fills `neighbours`. */
    private void read(Vertex vertex, Vertex.DIRECTION direction) {
        neighbours.clear();
        vertex.getVertices(direction, ArcadedbPeer.LINK).forEach(neighbours::add);
    }

    @Override
    public long outDegree(long number) {
        read(vertex(peer.outIds[(int) number]), Vertex.DIRECTION.OUT);
        return neighbours.size();
    }

    @Override
    public long inDegree(long number) {
        read(vertex(peer.inIds[(int) number]), Vertex.DIRECTION.IN);
        return neighbours.size();
    }

    private static Iterable<Vertex> targets(Vertex vertex) {
        return vertex.getVertices(Vertex.DIRECTION.OUT, ArcadedbPeer.BULK);
    }

    @Override
    public long twoHops(long number) {
        long visits = 0;
        for (Vertex near : targets(vertex(peer.bulkIds[(int) number]))) {
            visits++;
            for (Vertex far : targets(near)) {
                visited += far.getIdentity().getPosition();
                visits++;
            }
        }
        return visits;
    }

    @Override
    public long[] twoHopsOf(long number) {
        List<Long> numbers = new ArrayList<>();
        for (Vertex near : targets(vertex(peer.bulkIds[(int) number]))) {
            for (Vertex far : targets(near)) {
                numbers.add(far.getLong(ArcadedbPeer.NUMBER));
            }
        }
        return numbers.stream().mapToLong(Long::longValue).toArray();
    }

    @Override
    public void renew() {
        close();
        if (present != null) {
            present = vertex(present.getIdentity());
        }
    }

    @Override
    public void close() {
        if (peer.database.isTransactionActive()) {
            peer.database.rollback();
        }
    }
}
