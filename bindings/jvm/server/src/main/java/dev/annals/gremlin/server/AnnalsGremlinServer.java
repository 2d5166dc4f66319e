package dev.annals.gremlin.server;

import java.util.concurrent.CompletableFuture;
import org.apache.tinkerpop.gremlin.server.GremlinServer;
import org.apache.tinkerpop.gremlin.server.Settings;

/** Starts a Gremlin Server: {@code java … dev.annals.gremlin.server.AnnalsGremlinServer annals.yaml}. */
public final class AnnalsGremlinServer {
    private AnnalsGremlinServer() {}

    /**
     * Starts the server. It ends with the exit code 1 if its settings or its repository do not allow a start.
     *
     * @param arguments the file of settings
     */
    public static void main(String[] arguments) {
        if (arguments.length != 1) {
            System.err.println("usage: AnnalsGremlinServer FILE.yaml");
            System.exit(2);
        }
        GremlinServer server = null;
        try {
            Settings settings = Settings.read(arguments[0]);
            int threads = settings.gremlinPool > 0
                    ? settings.gremlinPool
                    : Runtime.getRuntime().availableProcessors();
            server = new GremlinServer(settings, new RequestExecutor(threads, settings.maxWorkQueueSize));
            server.start().join();
        } catch (Exception error) {
            Throwable cause = error;
            while (cause.getCause() != null && cause.getCause() != cause) {
                cause = cause.getCause();
            }
            System.err.println("Gremlin Server does not start: " + cause.getMessage());
            if (server != null) {
                stop(server.stop());
            }
            System.exit(1);
        }
    }

    private static void stop(CompletableFuture<Void> stopped) {
        try {
            stopped.join();
        } catch (RuntimeException error) {
            System.err.println("Gremlin Server does not stop cleanly: " + error.getMessage());
        }
    }
}
