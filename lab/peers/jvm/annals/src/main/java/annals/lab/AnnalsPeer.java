package annals.lab;

import dev.annals.ConflictException;
import dev.annals.Version;
import dev.annals.gremlin.AnnalsGraph;
import java.nio.file.Path;
import java.util.List;
import org.apache.tinkerpop.gremlin.structure.Graph;

/** Annals in this process, its files in the folder, one sync for all transactions that wait. */
public final class AnnalsPeer extends TinkerPopPeer {
    public AnnalsPeer(String form) {
        if (!form.equals("gremlin")) {
            throw new IllegalArgumentException("annals has no form " + form);
        }
        System.setProperty("dev.annals.library", Path.of(System.getProperty("lab.folder"), "libannals_jvm.so").toString());
    }

    @Override
    protected Graph openGraph() {
        return AnnalsGraph.open(folder);
    }

    @Override
    public Durability durability() {
        return Durability.SYNCED_GROUP;
    }

    /** Its indexes are in memory of the native library. */
    @Override
    public boolean isOffHeap() {
        return true;
    }

    @Override
    protected boolean isConflict(Throwable error) {
        return error instanceof ConflictException;
    }

    /** The entity as it was after each of its versions; its first one has no number yet. */
    @Override
    public long[] readHistory() throws Exception {
        AnnalsGraph annals = (AnnalsGraph) graph;
        List<Version> versions = annals.history(entity());
        long[] values = new long[versions.size() - 1];
        for (int place = 0; place < values.length; place++) {
            // The newest version comes first.
            try (AnnalsGraph past = annals.asOf(versions.get(values.length - 1 - place).position())) {
                values[place] = vertex(past, entity().id()).<Long>value(VERSION);
            }
        }
        // This thread has read in a transaction, which would go on seeing the present.
        rollback(graph);
        return values;
    }
}
