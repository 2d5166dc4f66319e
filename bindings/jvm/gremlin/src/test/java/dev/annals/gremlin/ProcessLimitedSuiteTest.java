package dev.annals.gremlin;

import org.apache.tinkerpop.gremlin.GraphProviderClass;
import org.apache.tinkerpop.gremlin.process.ProcessLimitedStandardSuite;
import org.junit.runner.RunWith;

/** TinkerPop's suite for traversals that Gherkin cannot express. */
@RunWith(ProcessLimitedStandardSuite.class)
@GraphProviderClass(provider = AnnalsGraphProvider.class, graph = AnnalsGraph.class)
@SuppressWarnings("deprecation") // Declared deprecated, and still judges a graph.
public class ProcessLimitedSuiteTest {}
