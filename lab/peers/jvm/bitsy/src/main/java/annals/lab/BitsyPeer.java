package annals.lab;

import com.lambdazen.bitsy.BitsyGraph;
import com.lambdazen.bitsy.BitsyRetryException;
import com.lambdazen.bitsy.UUID;
import java.util.Map;
import org.apache.tinkerpop.gremlin.structure.Graph;
import org.apache.tinkerpop.gremlin.structure.Vertex;

/**
 * Bitsy: the whole graph in the heap, logs in the folder, one sync for all transactions that wait.
 * Tuned: a larger transaction log, as its page on tuning advises, for fewer copies to the other logs (16 times the
 * default here). The isolation level that the page advises for many reads, READ_COMMITTED, is the default of 3.x.
 * Source: <https://github.com/lambdazen/bitsy/wiki/Tuning-Bitsy>.
 */
public final class BitsyPeer extends TinkerPopPeer {
    private static final long TUNED_LOG_BYTES = 16 * BitsyGraph.DEFAULT_TX_LOG_THRESHOLD;

    private final boolean isTuned;

    public BitsyPeer(String form) {
        isTuned = switch (form) {
            case "" -> false;
            case "tuned" -> true;
            default -> throw new IllegalArgumentException("bitsy has no form " + form);
        };
    }

    @Override
    protected Graph openGraph() {
        if (!isTuned) {
            return new BitsyGraph(folder);
        }
        // Full scans stay allowed: `count` needs one.
        return new BitsyGraph(folder, true, TUNED_LOG_BYTES, BitsyGraph.DEFAULT_REORG_FACTOR);
    }

    @Override
    public Durability durability() {
        return Durability.SYNCED_GROUP;
    }

    @Override
    public Map<String, String> settings() {
        return isTuned ? Map.of("txLogThreshold", Long.toString(TUNED_LOG_BYTES)) : Map.of();
    }

    /** A copy of the id: the object that Bitsy returns is the stored vertex itself. */
    @Override
    protected Object idOf(Vertex vertex) {
        UUID id = (UUID) vertex.id();
        return new UUID(id.getMostSignificantBits(), id.getLeastSignificantBits());
    }

    @Override
    protected boolean isConflict(Throwable error) {
        return error instanceof BitsyRetryException;
    }
}
