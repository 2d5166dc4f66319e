package dev.annals.gremlin;

import org.apache.tinkerpop.gremlin.GraphProviderClass;
import org.apache.tinkerpop.gremlin.process.ProcessLimitedStandardSuite;
import org.junit.runner.RunWith;
import org.junit.runners.model.InitializationError;
import org.junit.runners.model.RunnerBuilder;

/** TinkerPop's suite for traversals that Gherkin cannot express. */
@RunWith(ProcessLimitedSuiteTest.Chosen.class)
@GraphProviderClass(provider = AnnalsGraphProvider.class, graph = AnnalsGraph.class)
@SuppressWarnings("deprecation") // Declared deprecated, and still judges a graph.
public class ProcessLimitedSuiteTest {
    /** The suite, or the part of it that is chosen. */
    public static final class Chosen extends Part {
        public Chosen(Class<?> test, RunnerBuilder builder) throws InitializationError {
            super(new ProcessLimitedStandardSuite(test, builder));
        }
    }
}
