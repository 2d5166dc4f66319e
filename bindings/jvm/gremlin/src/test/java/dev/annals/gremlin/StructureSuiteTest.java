package dev.annals.gremlin;

import org.apache.tinkerpop.gremlin.GraphProviderClass;
import org.apache.tinkerpop.gremlin.structure.StructureStandardSuite;
import org.junit.runner.RunWith;
import org.junit.runners.model.InitializationError;
import org.junit.runners.model.RunnerBuilder;

/** TinkerPop's suite for the structure of graphs. */
@RunWith(StructureSuiteTest.Chosen.class)
@GraphProviderClass(provider = AnnalsGraphProvider.class, graph = AnnalsGraph.class)
public class StructureSuiteTest {
    /** The suite, or the part of it that is chosen. */
    public static final class Chosen extends Part {
        public Chosen(Class<?> test, RunnerBuilder builder) throws InitializationError {
            super(new StructureStandardSuite(test, builder));
        }
    }
}
