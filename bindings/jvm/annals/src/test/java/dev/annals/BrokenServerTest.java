package dev.annals;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;

/** Servers that answer half, late, or something else: each call ends in time with a clear error. */
class BrokenServerTest {
    private static final Duration SHORT = Duration.ofMillis(300);
    private static final String HALF = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
            + "Content-Length: 1000\r\nAnnals-Position: 1\r\n\r\n{\"items\": [";

    /** Gives every connection this answer; then waits, or closes the connection. */
    private static final class Answering implements AutoCloseable {
        private final ServerSocket socket;
        // The machine closes sockets that nobody holds.
        private final List<Socket> open = new CopyOnWriteArrayList<>();

        Answering(String answer, boolean isClosing) throws IOException {
            socket = new ServerSocket(0, 10, InetAddress.getLoopbackAddress());
            Thread thread = new Thread(() -> serve(answer, isClosing), "broken server");
            thread.setDaemon(true);
            thread.start();
        }

        private void serve(String answer, boolean isClosing) {
            try {
                while (true) {
                    Socket connection = socket.accept();
                    open.add(connection);
                    connection.getInputStream().read(new byte[64 * 1024]);
                    connection.getOutputStream().write(answer.getBytes(StandardCharsets.UTF_8));
                    connection.getOutputStream().flush();
                    if (isClosing) {
                        connection.close();
                    }
                }
            } catch (IOException error) {
                // The test has closed the socket.
            }
        }

        Repository connect() {
            ConnectOptions options = new ConnectOptions(SHORT, SHORT, SHORT, SHORT, Map.of(), Optional.empty(), Optional.empty());
            return Annals.connect(URI.create("http://127.0.0.1:" + socket.getLocalPort()), options);
        }

        @Override
        public void close() throws IOException {
            socket.close();
        }
    }

    @Test
    void halfAnAnswerEndsInTime() throws IOException {
        try (Answering server = new Answering(HALF, false);
                Repository repository = server.connect()) {
            assertEquals(
                    "time-out",
                    assertThrows(AnnalsException.class, repository::candidates).kind());
            try (InputStream lines = repository.exportLines()) {
                AnnalsException error = assertThrows(AnnalsException.class, lines::readAllBytes);
                assertEquals("time-out", error.kind(), error.toString());
            }
        }
    }

    @Test
    void anAnswerThatBreaksOffIsUnavailable() throws IOException {
        try (Answering server = new Answering(HALF, true);
                Repository repository = server.connect()) {
            assertThrows(UnavailableException.class, repository::candidates);
            try (InputStream lines = repository.exportLines()) {
                assertThrows(UnavailableException.class, lines::readAllBytes);
            }
        }
    }

    @Test
    void somethingElseThanAnnalsIsNamed() throws IOException {
        String page = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 4\r\n\r\n<p/>";
        try (Answering server = new Answering(page, true);
                Repository repository = server.connect()) {
            AnnalsException error = assertThrows(AnnalsException.class, repository::candidates);
            assertEquals("internal", error.kind());
            assertTrue(error.getMessage().contains("text/html"), error.getMessage());
        }
    }

    @Test
    void aRefusalOfAProxyIsShown() throws IOException {
        String page = "HTTP/1.1 502 Bad Gateway\r\nContent-Type: text/html\r\nContent-Length: 8\r\n\r\nupstream";
        try (Answering server = new Answering(page, true);
                Repository repository = server.connect()) {
            UnavailableException error = assertThrows(UnavailableException.class, repository::snapshot);
            assertTrue(error.getMessage().contains("upstream"), error.getMessage());
        }
    }

    @Test
    void anInterruptEndsAWait() throws IOException {
        try (Answering server = new Answering("", false);
                Repository repository = server.connect()) {
            Thread.currentThread().interrupt();
            assertThrows(CancelledException.class, repository::candidates);
            assertTrue(Thread.interrupted());
        }
    }
}
