import static org.apache.tinkerpop.gremlin.process.traversal.AnonymousTraversalSource.traversal;

import java.util.List;
import java.util.Map;
import org.apache.tinkerpop.gremlin.driver.Cluster;
import org.apache.tinkerpop.gremlin.driver.remote.DriverRemoteConnection;
import org.apache.tinkerpop.gremlin.process.traversal.dsl.graph.GraphTraversalSource;

/** Asks a Gremlin Server on a repository of Annals what its users ask: java Driver.java PORT [NAME TOKEN CERTIFICATE]. */
public final class Driver {
    public static void main(String[] arguments) throws Exception {
        Cluster.Builder builder = Cluster.build("localhost").port(Integer.parseInt(arguments[0]));
        if (arguments.length == 4) {
            builder.credentials(arguments[1], arguments[2])
                    .enableSsl(true)
                    .trustStore(arguments[3])
                    .trustStorePassword("changeit");
        }
        Cluster cluster = builder.create();
        try {
            GraphTraversalSource g = traversal().withRemote(DriverRemoteConnection.using(cluster, "g"));
            g.addV("river").property("name", "Seine").iterate();
            expect(List.of("Seine"), g.V().hasLabel("river").values("name").toList());
            expect(1L, cluster.connect().submit("g.V().hasLabel('river').count()").one().getLong());
            // With a token its name signs, and no other.
            String author = arguments.length == 4 ? arguments[1] : "carl";
            g.with("author", author).with("message", "longer").V().hasLabel("river").property("length", 777).iterate();
            Map<?, ?> latest = (Map<?, ?>) g.V().hasLabel("river").call("history").next();
            expect(author + ": longer", latest.get("author") + ": " + latest.get("message"));
            g.V().hasLabel("river").drop().iterate();
        } finally {
            cluster.close();
        }
        System.out.println("java: all as expected");
        System.exit(0);
    }

    private static void expect(Object expected, Object found) {
        if (!expected.equals(found)) {
            throw new AssertionError("expected " + expected + ", found " + found);
        }
    }
}
