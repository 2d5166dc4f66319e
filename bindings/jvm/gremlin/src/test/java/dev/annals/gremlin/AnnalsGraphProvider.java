package dev.annals.gremlin;

import static org.junit.Assert.assertEquals;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.apache.commons.configuration2.Configuration;
import org.apache.tinkerpop.gremlin.AbstractGraphProvider;
import org.apache.tinkerpop.gremlin.LoadGraphWith;
import org.apache.tinkerpop.gremlin.structure.Graph;

/** Gives the suites of TinkerPop graphs in folders of their own. After each test {@code annals check} examines its folder. */
public final class AnnalsGraphProvider extends AbstractGraphProvider {
    @SuppressWarnings("rawtypes") // As TinkerPop declares it.
    private static final Set<Class> IMPLEMENTATIONS = Set.of(
            AnnalsGraph.class, AnnalsVertex.class, AnnalsEdge.class, AnnalsProperty.class, AnnalsVertexProperty.class);

    @Override
    public Map<String, Object> getBaseConfiguration(
            String graphName, Class<?> test, String testMethodName, LoadGraphWith.GraphData data) {
        Map<String, Object> settings = new HashMap<>();
        settings.put(Graph.GRAPH, AnnalsGraph.class.getName());
        // A test adds an id again that it removed.
        settings.put(AnnalsGraph.REMOVE, "purge");
        // A test names its graph; another graph of the same test has another name.
        String name = testMethodName.replaceAll("[^A-Za-z0-9]", "_");
        String start = name.substring(0, Math.min(name.length(), 60));
        String folder = test.getSimpleName() + "-" + start + "-" + Integer.toHexString(name.hashCode()) + "-" + graphName;
        settings.put(AnnalsGraph.FOLDER, Path.of(getWorkingDirectory(), folder).toString());
        return settings;
    }

    @Override
    public void clear(Graph graph, Configuration configuration) throws Exception {
        if (graph != null) {
            graph.close();
        }
        String folder = configuration == null ? null : configuration.getString(AnnalsGraph.FOLDER, null);
        if (folder != null && Files.exists(Path.of(folder))) {
            if (graph != null) {
                check(folder);
            }
            delete(Path.of(folder));
        }
    }

    private static void check(String folder) throws IOException, InterruptedException {
        String program = System.getProperty("ANNALS_PROGRAM", System.getenv("ANNALS_PROGRAM"));
        if (program == null) {
            throw new IllegalStateException("no program: set ANNALS_PROGRAM to the path of annals");
        }
        Process process = new ProcessBuilder(program, "-r", folder, "check").redirectErrorStream(true).start();
        String told = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals("annals check of " + folder + ": " + told, 0, process.waitFor());
    }

    private static void delete(Path folder) throws IOException {
        try (Stream<Path> all = Files.walk(folder)) {
            for (Path path : all.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(path);
            }
        }
    }

    @Override
    @SuppressWarnings("rawtypes") // As above.
    public Set<Class> getImplementations() {
        return IMPLEMENTATIONS;
    }
}
