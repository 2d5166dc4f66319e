package annals.lab;

import com.sleepycat.je.LockConflictException;
import java.util.Map;
import java.util.TreeMap;
import org.apache.tinkerpop.gremlin.structure.Graph;
import org.janusgraph.core.JanusGraph;
import org.janusgraph.core.JanusGraphFactory;
import org.janusgraph.core.JanusGraphTransaction;
import org.janusgraph.core.schema.JanusGraphManagement;
import org.janusgraph.diskstorage.TemporaryBackendException;

/**
 * JanusGraph on BerkeleyDB JE. The labels and the keys are defined when a folder is new, as the documentation asks for.
 * Tuned: blocks of ids as large as the vertices of an hour, no schema on the fly, and the cache of the database, for reads
 * of the same vertices by many transactions. A bulk load uses transactions for batch loading; the setting storage.batch-loading cannot be used: it makes BerkeleyDB refuse every transaction that is
 * not bound to one thread, and JanusGraph reads its own schema with such transactions.
 * Sources: <https://docs.janusgraph.org/storage-backend/bdb/>, <https://docs.janusgraph.org/operations/bulk-loading/>,
 * <https://docs.janusgraph.org/operations/cache/>.
 */
public final class JanusgraphPeer extends TinkerPopPeer {
    private static final int TUNED_BLOCK_SIZE = 1_000_000;

    private final boolean isTuned;

    public JanusgraphPeer(String form) {
        isTuned = switch (form) {
            case "" -> false;
            case "tuned" -> true;
            default -> throw new IllegalArgumentException("janusgraph has no form " + form);
        };
    }

    @Override
    protected Graph openGraph() {
        JanusGraphFactory.Builder builder = JanusGraphFactory.build()
            .set("storage.backend", "berkeleyje")
            .set("storage.directory", folder.toString())
            // BerkeleyDB would write nothing on a disk with less than 5 GiB of free space.
            .set("storage.berkeleyje.ext.je.freeDisk", "0");
        settings().forEach(builder::set);
        JanusGraph opened = builder.open();
        defineSchema(opened);
        return opened;
    }

    @Override
    protected Graph beginLoad() {
        return ((JanusGraph) graph).buildTransaction().enableBatchLoading().start();
    }

    @Override
    protected void commitLoad(Graph loading) {
        ((JanusGraphTransaction) loading).commit();
    }

    private static void defineSchema(JanusGraph graph) {
        JanusGraphManagement management = graph.openManagement();
        if (management.containsEdgeLabel(NEXT)) {
            management.rollback();
            return;
        }
        management.makeEdgeLabel(NEXT).make();
        management.makeEdgeLabel(LINK).make();
        management.makeEdgeLabel(BULK).make();
        management.makePropertyKey(NUMBER).dataType(Long.class).make();
        management.makePropertyKey(VERSION).dataType(Long.class).make();
        management.commit();
    }

    /** It scans the whole store. */
    @Override
    public boolean isCountQuick() {
        return false;
    }

    @Override
    public Durability durability() {
        return Durability.SYNCED_GROUP;
    }

    @Override
    public Map<String, String> settings() {
        Map<String, String> settings = new TreeMap<>();
        if (isTuned) {
            settings.put("ids.block-size", Integer.toString(TUNED_BLOCK_SIZE));
            settings.put("schema.default", "none");
            settings.put("cache.db-cache", "true");
        }
        return settings;
    }

    @Override
    protected boolean isConflict(Throwable error) {
        return error instanceof LockConflictException || error instanceof TemporaryBackendException;
    }
}
