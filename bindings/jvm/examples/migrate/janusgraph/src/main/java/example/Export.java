package example;

import java.nio.file.Files;
import java.nio.file.Path;
import org.janusgraph.core.JanusGraph;
import org.janusgraph.core.JanusGraphFactory;
import org.janusgraph.example.GraphOfTheGodsFactory;

/** Makes JanusGraph's example, the Graph of the Gods, and exports it as any graph of JanusGraph is exported. */
public final class Export {
    private Export() {}

    public static void main(String[] arguments) throws Exception {
        Path export = Path.of(arguments[0]);
        Path folder = Files.createTempDirectory("gods");
        try (JanusGraph graph = JanusGraphFactory.build()
                .set("storage.backend", "berkeleyje")
                .set("storage.directory", folder.toString())
                // BerkeleyDB would write nothing on a disk with less than 5 GiB of free space.
                .set("storage.berkeleyje.ext.je.freeDisk", "0")
                .open()) {
            GraphOfTheGodsFactory.loadWithoutMixedIndex(graph, true);
            graph.traversal().io(export.toString()).write().iterate();
        }
    }
}
