package annals.lab;

import java.nio.file.Path;
import java.util.Map;

/** One system that takes part in the suite `threads`. Only workers are used by several threads at once. */
public interface Peer {
    /** How durable a commit is when it returns, in the words of ADAPTERS.md. */
    enum Durability {
        SYNCED("synced"),
        SYNCED_GROUP("synced-group"),
        UNSYNCED("unsynced"),
        MEMORY("memory");

        final String text;

        Durability(String text) {
            this.text = text;
        }
    }

    /** Opens the system on a folder that is empty, or that it has closed before. */
    void open(Path folder) throws Exception;

    /** Closes the system. Everything committed is in the folder then, unless the system lives in memory. */
    void close() throws Exception;

    Durability durability();

    /** What differs from the defaults of the system, by name. */
    Map<String, String> settings();

    /** A worker for the thread that calls this. */
    Worker worker() throws Exception;

    /** Loads the bipartite graph of `vertices` vertices; it is durable when this returns. */
    void loadBipartite(long vertices) throws Exception;

    /** Loads the bulk graph of `vertices` vertices; it is durable when this returns. */
    void loadBulk(long vertices) throws Exception;

    /** Counts all vertices and all edges. */
    Counts count() throws Exception;

    /** True if `count` takes at most a few seconds on a graph of a million vertices. */
    default boolean isCountQuick() {
        return true;
    }

    /** Makes an entity, which `putHistory` and `readHistory` are about from then on. */
    void makeEntity() throws Exception;

    /** Commits the values 1 to `versions` of the property `n` of the entity, one transaction each. */
    void putHistory(long versions) throws Exception;

    /** Reads all values that the property `n` of the entity has had. Shape: oldest first. */
    default long[] readHistory() throws Exception {
        throw new Skip("the system keeps no history");
    }

    /** True if what the system keeps in memory lies for the greater part outside the heap of Java. */
    default boolean isOffHeap() {
        return false;
    }

    /** True if the system keeps nothing in its folder. */
    default boolean isMemoryOnly() {
        return durability() == Durability.MEMORY;
    }

    record Counts(long vertices, long edges) {}
}
