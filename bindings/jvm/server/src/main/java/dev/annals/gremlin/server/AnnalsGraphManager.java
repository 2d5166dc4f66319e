package dev.annals.gremlin.server;

import java.util.List;
import java.util.Set;
import org.apache.tinkerpop.gremlin.process.traversal.Traversal;
import org.apache.tinkerpop.gremlin.process.traversal.TraversalStrategies;
import org.apache.tinkerpop.gremlin.process.traversal.TraversalStrategy;
import org.apache.tinkerpop.gremlin.process.traversal.dsl.graph.GraphTraversalSource;
import org.apache.tinkerpop.gremlin.process.traversal.step.sideEffect.IoStep;
import org.apache.tinkerpop.gremlin.process.traversal.strategy.AbstractTraversalStrategy;
import org.apache.tinkerpop.gremlin.process.traversal.strategy.decoration.OptionsStrategy;
import org.apache.tinkerpop.gremlin.process.traversal.util.DefaultTraversalStrategies;
import org.apache.tinkerpop.gremlin.process.traversal.util.TraversalHelper;
import org.apache.tinkerpop.gremlin.server.Settings;
import org.apache.tinkerpop.gremlin.server.util.DefaultGraphManager;
import org.apache.tinkerpop.gremlin.structure.Graph;
import org.apache.tinkerpop.gremlin.util.Tokens;
import org.apache.tinkerpop.gremlin.util.message.RequestMessage;

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

    @Override
    public void beforeQueryStart(RequestMessage request) {
        TokenAuthor.ofThread(request.<String>optionalArgs(TokenAuthor.ARGUMENT).orElse(""));
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
        fence.addStrategies(NoFiles.INSTANCE, KnownOptions.INSTANCE, TokenAuthor.OF_THREAD);
        return fence;
    }

    /** Strategies of which a request can remove all but three. */
    private static final class Fence extends DefaultTraversalStrategies {
        private static final long serialVersionUID = 1L;

        @Override
        @SafeVarargs
        @SuppressWarnings({"rawtypes", "varargs", "unchecked"})
        public final TraversalStrategies removeStrategies(Class<? extends TraversalStrategy>... kinds) {
            super.removeStrategies(kinds);
            return addStrategies(NoFiles.INSTANCE, KnownOptions.INSTANCE, TokenAuthor.OF_THREAD);
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

    /** Refuses options that nothing here knows: one with a slip, such as {@code positon}, would read the present. */
    private static final class KnownOptions extends AbstractTraversalStrategy<TraversalStrategy.VerificationStrategy>
            implements TraversalStrategy.VerificationStrategy {
        private static final long serialVersionUID = 1L;
        private static final KnownOptions INSTANCE = new KnownOptions();
        private static final List<String> OWN = List.of("at", "position", "author", "message");
        /** Of TinkerPop: drivers also send them beside the traversal. */
        private static final List<String> OF_DRIVERS = List.of(
                Tokens.ARGS_EVAL_TIMEOUT,
                Tokens.ARGS_BATCH_SIZE,
                Tokens.ARGS_MATERIALIZE_PROPERTIES,
                Tokens.ARGS_USER_AGENT,
                Tokens.REQUEST_ID);

        @Override
        public void apply(Traversal.Admin<?, ?> traversal) {
            traversal.getStrategies().getStrategy(OptionsStrategy.class).ifPresent(given -> {
                for (String key : given.getOptions().keySet()) {
                    if (!OWN.contains(key) && !OF_DRIVERS.contains(key)) {
                        throw new IllegalArgumentException("with: expected " + String.join(", ", OWN) + ", or "
                                + String.join(", ", OF_DRIVERS) + " of TinkerPop, found " + key);
                    }
                }
            });
        }
    }
}
