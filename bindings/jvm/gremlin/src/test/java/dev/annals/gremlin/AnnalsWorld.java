package dev.annals.gremlin;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.EnumMap;
import java.util.Map;
import org.apache.tinkerpop.gremlin.LoadGraphWith.GraphData;
import org.apache.tinkerpop.gremlin.TestHelper;
import org.apache.tinkerpop.gremlin.features.TestFiles;
import org.apache.tinkerpop.gremlin.features.World;
import org.apache.tinkerpop.gremlin.process.traversal.dsl.graph.GraphTraversalSource;
import org.apache.tinkerpop.gremlin.structure.Element;
import org.apache.tinkerpop.gremlin.structure.io.graphml.GraphMLResourceAccess;
import org.apache.tinkerpop.gremlin.structure.io.gryo.GryoResourceAccess;

/** Gives the scenarios of TinkerPop their graphs: the usual ones once for all, an empty one to each that asks for it. */
public final class AnnalsWorld implements World {
    private static final Map<GraphData, AnnalsGraph> LOADED = new EnumMap<>(GraphData.class);

    private AnnalsGraph empty;

    @Override
    public GraphTraversalSource getGraphTraversalSource(GraphData data) {
        if (data != null) {
            return LOADED.computeIfAbsent(data, AnnalsWorld::loaded).traversal();
        }
        if (empty == null) {
            empty = AnnalsGraph.open();
        }
        return empty.traversal();
    }

    private static AnnalsGraph loaded(GraphData data) {
        AnnalsGraph graph = AnnalsGraph.open();
        String name = new File(data.location()).getName();
        try {
            File file = TestHelper.generateTempFileFromResource(
                    AnnalsWorld.class, GryoResourceAccess.class, name, "", false);
            graph.traversal().io(file.getAbsolutePath()).read().iterate();
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
        graph.tx().commit();
        return graph;
    }

    @Override
    public void afterEachScenario() {
        LOADED.values().forEach(graph -> graph.tx().rollback());
        if (empty != null) {
            empty.close();
            empty = null;
        }
    }

    @Override
    public String changePathToDataFile(String path) {
        String name = new File(path).getName();
        try {
            return name.endsWith(".xml")
                    ? TestHelper.generateTempFileFromResource(GraphMLResourceAccess.class, name, "").getAbsolutePath()
                    : TestFiles.PATHS.get(name.replace(".", "-v3."));
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }

    @Override
    public String convertIdToScript(Object id, Class<? extends Element> kind) {
        return id instanceof String ? "\"" + id + "\"" : id.toString();
    }
}
