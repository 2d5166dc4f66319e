package annals.lab;

import java.util.SplittableRandom;

/**
 * What one thread does with a system. The thread that made a worker uses and closes it. Reads may share one transaction
 * until `renew`.
 */
public interface Worker extends AutoCloseable {
    /**
     * Commits one transaction: a vertex and, unless `previous` is null, an edge from `previous` to it.
     *
     * @return what finds the vertex again, also after the system was reopened
     * @throws Conflict if the system refuses the transaction but may accept it when it is repeated
     */
    Object commit(Object previous) throws Exception;

    /** Walks from `first` along the edges of `commit` to the end of the chain, or `stepsMax` steps; returns how many. */
    long walk(Object first, long stepsMax) throws Exception;

    /** Begins the walk through the bipartite graph at this out-vertex. */
    void enterBipartite(long number) throws Exception;

    /** Reads all targets of the present out-vertex, then all sources of a random one; a random one is the next. */
    void hopBipartite(SplittableRandom random) throws Exception;

    /** The number of targets of an out-vertex of the bipartite graph, read from the system. */
    long outDegree(long number) throws Exception;

    /** The number of sources of an in-vertex of the bipartite graph, read from the system. */
    long inDegree(long number) throws Exception;

    /** Visits all vertices one and two hops away from a vertex of the bulk graph; returns how many visits. */
    long twoHops(long number) throws Exception;

    /** The numbers of the vertices two hops away from a vertex of the bulk graph, in any order. */
    long[] twoHopsOf(long number) throws Exception;

    /** Reads a vertex of the bulk graph by its id. The suite `gremlin-server` asks for it. */
    default void vertex(long number) throws Exception {
        throw new UnsupportedOperationException("vertex: only systems in Gremlin Server answer this");
    }

    /** Ends the transaction that the reads since the last call have shared, if there is one. */
    void renew() throws Exception;

    @Override
    void close() throws Exception;
}
