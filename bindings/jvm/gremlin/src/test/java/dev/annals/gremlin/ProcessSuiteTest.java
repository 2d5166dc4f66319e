package dev.annals.gremlin;

import org.apache.tinkerpop.gremlin.GraphProviderClass;
import org.apache.tinkerpop.gremlin.process.ProcessStandardSuite;
import org.junit.runner.RunWith;
import org.junit.runners.model.InitializationError;
import org.junit.runners.model.RunnerBuilder;

/** TinkerPop's suite for all steps. */
@RunWith(ProcessSuiteTest.Chosen.class)
@GraphProviderClass(provider = AnnalsGraphProvider.class, graph = AnnalsGraph.class)
@SuppressWarnings("deprecation") // Declared deprecated, and still judges a graph.
public class ProcessSuiteTest {
    /** The suite, or the part of it that is chosen. */
    public static final class Chosen extends Part {
        public Chosen(Class<?> test, RunnerBuilder builder) throws InitializationError {
            super(new ProcessStandardSuite(test, builder));
        }
    }
}
