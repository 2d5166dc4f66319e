package dev.annals.gremlin;

import org.apache.tinkerpop.gremlin.GraphProviderClass;
import org.apache.tinkerpop.gremlin.process.ProcessStandardSuite;
import org.junit.runner.RunWith;

/** TinkerPop's suite for all steps. */
@RunWith(ProcessStandardSuite.class)
@GraphProviderClass(provider = AnnalsGraphProvider.class, graph = AnnalsGraph.class)
@SuppressWarnings("deprecation") // Declared deprecated, and still judges a graph.
public class ProcessSuiteTest {}
