package example;

import dev.annals.Version;
import dev.annals.gremlin.AnnalsGraph;
import dev.annals.gremlin.AnnalsIoRegistry;
import dev.annals.gremlin.AnnalsTransaction;
import java.nio.file.Path;
import java.time.Instant;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import org.apache.tinkerpop.gremlin.process.traversal.IO;
import org.apache.tinkerpop.gremlin.process.traversal.P;
import org.apache.tinkerpop.gremlin.process.traversal.dsl.graph.GraphTraversalSource;
import org.apache.tinkerpop.gremlin.process.traversal.dsl.graph.__;
import org.apache.tinkerpop.gremlin.structure.Edge;
import org.apache.tinkerpop.gremlin.structure.Element;
import org.apache.tinkerpop.gremlin.structure.Property;
import org.apache.tinkerpop.gremlin.structure.Vertex;
import org.apache.tinkerpop.gremlin.tinkergraph.structure.TinkerGraph;

/** Moves two exports of one graph into Annals, of last month and of today, and asks about both times. */
public final class Move {
    private static final Instant LAST_MONTH = Instant.parse("2026-10-27T00:00:00Z");

    private Move() {}

    public static void main(String[] arguments) {
        try (AnnalsGraph graph = AnnalsGraph.open(Path.of(arguments[0]))) {
            move(graph, Path.of(arguments[1]), LAST_MONTH);
            move(graph, Path.of(arguments[2]), Instant.now());
            GraphTraversalSource g = graph.traversal();
            System.out.println("Hercules battled by last month: " + battled(g.with("at", LAST_MONTH)));
            System.out.println("Hercules battled until today:   " + battled(g));
            Vertex pluto = g.V().has("name", "pluto").next();
            for (Version version : graph.history(pluto)) {
                System.out.println("Pluto, version " + version.version() + ", from " + version.author() + ": age "
                        + graph.asOf(version.position()).traversal().V(pluto.id()).values("age").next());
            }
        }
    }

    private static List<Object> battled(GraphTraversalSource g) {
        return g.V().has("name", "hercules").out("battled").values("name").order().toList();
    }

    /**
     * Makes the graph equal to an export, in one transaction. Elements that both have keep their history. Vertices with
     * one name are the same, and edges of one label between the same vertices.
     */
    static void move(AnnalsGraph graph, Path export, Instant exportedAt) {
        TinkerGraph wanted = TinkerGraph.open();
        wanted.traversal().io(export.toString()).with(IO.registry, AnnalsIoRegistry.instance()).read().iterate();
        AnnalsTransaction transaction = (AnnalsTransaction) graph.tx();
        transaction.author(export.getFileName().toString()).committedAt(exportedAt);
        GraphTraversalSource g = graph.traversal();
        for (Vertex vertex : wanted.traversal().V().toList()) {
            String name = vertex.value("name");
            Vertex same = g.V().has("name", name).tryNext().orElseGet(() -> graph.addVertex(vertex.label()));
            take(vertex, same);
        }
        Set<Edge> stay = new HashSet<>();
        for (Edge edge : wanted.traversal().E().toList()) {
            Vertex from = g.V().has("name", edge.outVertex().<String>value("name")).next();
            Vertex to = g.V().has("name", edge.inVertex().<String>value("name")).next();
            Edge same = g.V(from)
                    .outE(edge.label())
                    .where(__.inV().hasId(to.id()))
                    .tryNext()
                    .orElseGet(() -> from.addEdge(edge.label(), to));
            take(edge, same);
            stay.add(same);
        }
        g.E().toStream().filter(edge -> !stay.contains(edge)).forEach(Edge::remove);
        List<Object> names = wanted.traversal().V().values("name").toList();
        g.V().filter(__.values("name").is(P.without(names)))
                .drop()
                .iterate();
        transaction.commit();
    }

    /** Gives an element the properties of another. */
    private static void take(Element from, Element to) {
        for (Iterator<? extends Property<Object>> known = to.properties(); known.hasNext(); ) {
            Property<Object> property = known.next();
            if (!from.property(property.key()).isPresent()) {
                property.remove();
            }
        }
        from.properties().forEachRemaining(property -> to.property(property.key(), property.value()));
    }
}
