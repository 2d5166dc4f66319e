package dev.annals;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** One client of several addresses: what it sends again, and where. */
class ServersTest {
    private static final Set<String> OWN = Set.of("connection", "content-length", "host", "transfer-encoding", "upgrade");

    /** What becomes of a request. */
    private enum Fate {
        /** The server answers. */
        ANSWERED,
        /** The server answers, and the answer is lost. */
        ANSWER_LOST,
        /** Nobody reads it. */
        HELD,
        /** The server does not write; the answer names the one that does. */
        NOT_WRITER,
        /** The server does not know what became of it. */
        UNKNOWN
    }

    /** Stands before a server; the first requests meet these fates, later ones are answered. */
    private static final class Relay implements AutoCloseable {
        private final HttpServer server;
        private final URI target;
        private final String writer;
        private final ConcurrentLinkedQueue<Fate> fates;
        private final HttpClient client = HttpClient.newHttpClient();
        private volatile int count;

        Relay(URI target, String writer, Fate... fates) throws IOException {
            this.target = target;
            this.writer = writer;
            this.fates = new ConcurrentLinkedQueue<>(List.of(fates));
            server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 10);
            server.setExecutor(Executors.newCachedThreadPool(work -> {
                Thread thread = new Thread(work, "relay");
                thread.setDaemon(true);
                return thread;
            }));
            server.createContext("/", this::meet);
            server.start();
        }

        URI uri() {
            return URI.create("http://127.0.0.1:" + server.getAddress().getPort());
        }

        private void meet(HttpExchange exchange) throws IOException {
            count++;
            Fate fate = fates.isEmpty() ? Fate.ANSWERED : fates.remove();
            switch (fate) {
                case ANSWERED -> answer(exchange, forward(exchange));
                case ANSWER_LOST -> {
                    forward(exchange);
                    exchange.close();
                }
                case HELD -> {}
                case NOT_WRITER -> {
                    exchange.getResponseHeaders().set("Annals-Writer", writer);
                    problem(exchange, 503, "not-writer");
                }
                case UNKNOWN -> {
                    forward(exchange);
                    problem(exchange, 504, "outcome-unknown");
                }
            }
        }

        private static void problem(HttpExchange exchange, int status, String kind) throws IOException {
            exchange.getRequestBody().readAllBytes();
            exchange.getResponseHeaders().set("Content-Type", "application/problem+json");
            byte[] body = Utf8.encode("{\"kind\": \"" + kind + "\", \"detail\": \"" + kind + "\"}");
            exchange.sendResponseHeaders(status, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        }

        private HttpResponse<byte[]> forward(HttpExchange exchange) throws IOException {
            byte[] body = exchange.getRequestBody().readAllBytes();
            HttpRequest.Builder request = HttpRequest.newBuilder(target.resolve(exchange.getRequestURI()))
                    .method(exchange.getRequestMethod(), BodyPublishers.ofByteArray(body));
            exchange.getRequestHeaders().forEach((name, values) -> {
                if (!OWN.contains(name.toLowerCase(java.util.Locale.ROOT)) && !name.startsWith("Http2")) {
                    request.setHeader(name, values.get(0));
                }
            });
            try {
                return client.send(request.build(), BodyHandlers.ofByteArray());
            } catch (InterruptedException error) {
                throw new IOException(error);
            }
        }

        private static void answer(HttpExchange exchange, HttpResponse<byte[]> answer) throws IOException {
            answer.headers().map().forEach((name, values) -> {
                if (!OWN.contains(name)) {
                    exchange.getResponseHeaders().set(name, values.get(0));
                }
            });
            exchange.sendResponseHeaders(answer.statusCode(), answer.body().length == 0 ? -1 : answer.body().length);
            exchange.getResponseBody().write(answer.body());
            exchange.close();
        }

        @Override
        public void close() {
            server.stop(0);
        }
    }

    private static Repository connect(Duration time, URI... servers) {
        return Annals.connect(List.of(servers), ConnectOptions.defaults().requestTime(time));
    }

    private static Receipt create(Repository repository, String id) {
        return repository.transact(t -> t.create(NewEntity.of("t").id(id)));
    }

    @Test
    void aWriteWhoseAnswerIsLostIsCommittedOnce(@TempDir Path folder) throws IOException {
        for (Fate fate : new Fate[] {Fate.ANSWER_LOST, Fate.UNKNOWN, Fate.HELD}) {
            try (ServerProcess server = new ServerProcess(folder.resolve(fate.name()));
                    Relay first = new Relay(server.uri(), "", fate);
                    Relay second = new Relay(server.uri(), "");
                    Repository repository = connect(Duration.ofSeconds(3), first.uri(), second.uri())) {
                assertEquals(1, create(repository, "a").position(), fate.name());
                assertEquals(1, second.count, fate.name());
                assertEquals(2, create(repository, "b").position(), fate.name());
                assertEquals(1, first.count, "the one that answered is asked first");
            }
        }
    }

    @Test
    void aWriteGoesToTheWriterThatAnAnswerNames(@TempDir Path folder) throws IOException {
        try (ServerProcess server = new ServerProcess(folder.resolve("data"));
                Relay writer = new Relay(server.uri(), "");
                Relay other = new Relay(server.uri(), "", Fate.NOT_WRITER);
                Relay standby = new Relay(server.uri(), writer.uri() + "/", Fate.NOT_WRITER);
                Repository repository = connect(Duration.ofSeconds(3), standby.uri(), other.uri(), writer.uri())) {
            assertEquals(1, create(repository, "a").position());
            assertEquals(List.of(1, 0, 1), List.of(standby.count, other.count, writer.count));
        }
    }

    @Test
    void aDeadServerIsPassedOver(@TempDir Path folder) throws IOException {
        URI dead;
        try (Relay gone = new Relay(URI.create("http://127.0.0.1:1"), "")) {
            dead = gone.uri();
        }
        try (ServerProcess server = new ServerProcess(folder.resolve("data"));
                Repository repository = connect(Duration.ofSeconds(3), dead, server.uri())) {
            assertEquals(1, create(repository, "a").position());
            try (Snapshot now = repository.snapshot()) {
                assertTrue(now.entity("a").isPresent());
            }
        }
    }

    @Test
    void whenNobodyAnswersARequestEndsInTime() throws IOException {
        try (Relay first = new Relay(URI.create("http://127.0.0.1:1"), "", Fate.HELD, Fate.HELD, Fate.HELD);
                Repository repository = connect(Duration.ofMillis(600), first.uri())) {
            long start = System.nanoTime();
            assertThrows(AnnalsException.class, repository::candidates);
            long millis = (System.nanoTime() - start) / 1_000_000;
            assertTrue(millis >= 600 && millis < 5_000, millis + " ms");
        }
        AnnalsException none = assertThrows(AnnalsException.class, () -> connect(Duration.ofSeconds(1)));
        assertEquals("invalid-argument", none.kind());
    }
}
