package dev.annals.gremlin.server;

import java.util.Set;
import org.apache.tinkerpop.gremlin.process.traversal.Traversal;
import org.apache.tinkerpop.gremlin.process.traversal.TraversalStrategies;
import org.apache.tinkerpop.gremlin.process.traversal.TraversalStrategy;
import org.apache.tinkerpop.gremlin.process.traversal.dsl.graph.GraphTraversalSource;
import org.apache.tinkerpop.gremlin.process.traversal.step.sideEffect.IoStep;
import org.apache.tinkerpop.gremlin.process.traversal.strategy.AbstractTraversalStrategy;
import org.apache.tinkerpop.gremlin.process.traversal.util.DefaultTraversalStrategies;
import org.apache.tinkerpop.gremlin.process.traversal.util.TraversalHelper;
import org.apache.tinkerpop.gremlin.server.Settings;
import org.apache.tinkerpop.gremlin.server.util.DefaultGraphManager;
import org.apache.tinkerpop.gremlin.structure.Graph;

/** The graph of the server and its source of traversals, {@code g}, which reads and writes no files. */
public final class AnnalsGraphManager extends DefaultGraphManager {
    /**
     * Opens the graph.
     *
     * @param settings the settings of the server, with one graph, {@code graph}
     */
    public AnnalsGraphManager(Settings settings) {
        super(withoutEngines(settings));
        Graph graph = getGraph("graph");
        if (graph == null || !settings.graphs.keySet().equals(Set.of("graph"))) {
            // Gremlin Server's own manager has logged why.
            throw new IllegalStateException(
                    "graphs: expected one with the name graph that opens; the log says why it does not");
        }
        putTraversalSource("g", new GraphTraversalSource(graph, fenced(graph)));
    }

    /** `gremlin-lang` is always there. */
    private static Settings withoutEngines(Settings settings) {
        if (!settings.scriptEngines.isEmpty()) {
            throw new IllegalArgumentException("scriptEngines: expected none, because scripts are Gremlin and nothing else,"
                    + " found " + settings.scriptEngines.keySet());
        }
        return settings;
    }

    private static TraversalStrategies fenced(Graph graph) {
        Fence fence = new Fence();
        TraversalStrategies.GlobalCache.getStrategies(graph.getClass()).forEach(fence::addStrategies);
        fence.addStrategies(NoFiles.INSTANCE);
        return fence;
    }

    /** Strategies of which a request can remove all but one. */
    private static final class Fence extends DefaultTraversalStrategies {
        private static final long serialVersionUID = 1L;

        @Override
        @SafeVarargs
        @SuppressWarnings({"rawtypes", "varargs", "unchecked"})
        public final TraversalStrategies removeStrategies(Class<? extends TraversalStrategy>... kinds) {
            super.removeStrategies(kinds);
            return addStrategies(NoFiles.INSTANCE);
        }
    }

    /** Refuses the step {@code io()}: it would read and write the files of the server. */
    private static final class NoFiles extends AbstractTraversalStrategy<TraversalStrategy.VerificationStrategy>
            implements TraversalStrategy.VerificationStrategy {
        private static final long serialVersionUID = 1L;
        private static final NoFiles INSTANCE = new NoFiles();

        @Override
        public void apply(Traversal.Admin<?, ?> traversal) {
            if (!TraversalHelper.getStepsOfAssignableClass(IoStep.class, traversal).isEmpty()) {
                throw new IllegalStateException("io(): expected a graph in this process; the server touches no files");
            }
        }
    }
}
