package annals.lab;

import org.apache.tinkerpop.gremlin.structure.Graph;
import org.apache.tinkerpop.gremlin.structure.util.TransactionException;
import org.apache.tinkerpop.gremlin.tinkergraph.structure.TinkerGraph;
import org.apache.tinkerpop.gremlin.tinkergraph.structure.TinkerTransactionGraph;

/**
 * TinkerGraph: objects in memory, without transactions; its maps of vertices and edges stand many threads as long as
 * each thread changes vertices of its own, as the threads of this suite do. Its form `transactions` is
 * TinkerTransactionGraph, in memory too.
 */
public final class TinkergraphPeer extends TinkerPopPeer {
    private final boolean hasTransactions;

    public TinkergraphPeer(String form) {
        hasTransactions = switch (form) {
            case "" -> false;
            case "transactions" -> true;
            default -> throw new IllegalArgumentException("tinkergraph has no form " + form);
        };
    }

    @Override
    protected Graph openGraph() {
        return hasTransactions ? TinkerTransactionGraph.open() : TinkerGraph.open();
    }

    @Override
    public Durability durability() {
        return Durability.MEMORY;
    }

    @Override
    protected boolean isConflict(Throwable error) {
        return error instanceof TransactionException;
    }
}
