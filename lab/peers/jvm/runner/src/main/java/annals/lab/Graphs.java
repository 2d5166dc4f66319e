package annals.lab;

/** The two graphs of the suite: which edges lead where. Source: ADAPTERS.md. */
public final class Graphs {
    /** Edges of a vertex: out of an out-vertex of the bipartite graph, and out of every vertex of the bulk graph. */
    public static final int DEGREE = 3;

    private Graphs() {}

    /** The in-vertex that edge `edge` (0, 1, 2) of out-vertex `number` leads to; `half` is the number of in-vertices. */
    public static long bipartiteTarget(long number, int edge, long half) {
        return (5 * number + 1 + 3L * edge) % half;
    }

    /** The vertex that edge `edge` (0, 1, 2) of vertex `number` leads to. */
    public static long bulkTarget(long number, int edge, long vertices) {
        return (number * 2654435761L + edge * 40503L + 1) % vertices;
    }
}
