package annals.lab;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.neo4j.graphdb.Direction;
import org.neo4j.graphdb.Node;
import org.neo4j.graphdb.Relationship;
import org.neo4j.graphdb.RelationshipType;
import org.neo4j.graphdb.Transaction;
import org.neo4j.graphdb.TransientFailureException;

/** The operations of one thread on Neo4j. */
@SuppressWarnings("deprecation") // See Neo4jPeer.
final class Neo4jWorker implements Worker {
    private final Neo4jPeer peer;
    private final List<Node> neighbours = new ArrayList<>();
    /** The transaction that reads share; null between two of them. */
    private Transaction reading;
    /** The present out-vertex of the bipartite graph: an object of `reading`. */
    private Node present;
    /** Holds what was visited, so that the compiler cannot leave a visit out. */
    private long visited;

    Neo4jWorker(Neo4jPeer peer) {
        this.peer = peer;
    }

    @Override
    public Object commit(Object previous) throws Conflict {
        try (Transaction transaction = peer.database.beginTx()) {
            Node node = transaction.createNode();
            if (previous != null) {
                transaction.getNodeById((Long) previous).createRelationshipTo(node, Neo4jPeer.NEXT);
            }
            long id = node.getId();
            transaction.commit();
            return id;
        } catch (TransientFailureException error) {
            throw new Conflict(error);
        }
    }

    private Node node(long id) {
        if (reading == null) {
            reading = peer.database.beginTx();
        }
        return reading.getNodeById(id);
    }

    @Override
    public long walk(Object first, long stepsMax) {
        Node node = node((Long) first);
        for (long steps = 0; steps < stepsMax; steps++) {
            Relationship relationship = node.getSingleRelationship(Neo4jPeer.NEXT, Direction.OUTGOING);
            if (relationship == null) {
                return steps;
            }
            node = relationship.getEndNode();
        }
        return stepsMax;
    }

    @Override
    public void enterBipartite(long number) {
        present = node(peer.outIds[(int) number]);
    }

    @Override
    public void hopBipartite(SplittableRandom random) {
        read(present, Direction.OUTGOING, Neo4jPeer.LINK);
        Node target = neighbours.get(random.nextInt(neighbours.size()));
        read(target, Direction.INCOMING, Neo4jPeer.LINK);
        present = neighbours.get(random.nextInt(neighbours.size()));
    }

    /** Fills `neighbours`. The loop runs to the end, which closes the cursor. */
    private void read(Node node, Direction direction, RelationshipType type) {
        neighbours.clear();
        for (Relationship relationship : node.getRelationships(direction, type)) {
            neighbours.add(relationship.getOtherNode(node));
        }
    }

    @Override
    public long outDegree(long number) {
        read(node(peer.outIds[(int) number]), Direction.OUTGOING, Neo4jPeer.LINK);
        return neighbours.size();
    }

    @Override
    public long inDegree(long number) {
        read(node(peer.inIds[(int) number]), Direction.INCOMING, Neo4jPeer.LINK);
        return neighbours.size();
    }

    @Override
    public long twoHops(long number) {
        long visits = 0;
        Node node = node(peer.bulkIds[(int) number]);
        for (Relationship near : node.getRelationships(Direction.OUTGOING, Neo4jPeer.BULK)) {
            visits++;
            for (Relationship far : near.getEndNode().getRelationships(Direction.OUTGOING, Neo4jPeer.BULK)) {
                visited += far.getEndNode().getId();
                visits++;
            }
        }
        return visits;
    }

    @Override
    public long[] twoHopsOf(long number) {
        List<Long> numbers = new ArrayList<>();
        Node node = node(peer.bulkIds[(int) number]);
        for (Relationship near : node.getRelationships(Direction.OUTGOING, Neo4jPeer.BULK)) {
            for (Relationship far : near.getEndNode().getRelationships(Direction.OUTGOING, Neo4jPeer.BULK)) {
                numbers.add((Long) far.getEndNode().getProperty(Neo4jPeer.NUMBER));
            }
        }
        return numbers.stream().mapToLong(Long::longValue).toArray();
    }

    @Override
    public void renew() {
        long id = present == null ? -1 : present.getId();
        close();
        if (present != null) {
            present = node(id);
        }
    }

    @Override
    public void close() {
        if (reading != null) {
            reading.close();
            reading = null;
        }
    }
}
