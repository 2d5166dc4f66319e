package dev.annals;

import com.google.gson.JsonObject;
import java.io.IOException;
import java.io.InputStream;
import java.lang.ref.Reference;

/** The HTTP door of a repository in this process. */
final class NativeDoor implements Door {
    private static final int PART_BYTES = 64 * 1024;

    private final Handle repository;

    NativeDoor(Handle repository) {
        this.repository = repository;
    }

    Handle repository() {
        return repository;
    }

    @Override
    public Answer exchange(Request request, byte[] body) {
        byte[] answer;
        try {
            answer = Native.exchange(repository.number(), request.json(), body.length == 0 ? null : body);
        } catch (AnnalsException error) {
            throw error.exact();
        } finally {
            Reference.reachabilityFence(repository);
        }
        PackReader reader = new PackReader(answer);
        JsonObject head = Json.object(Json.parse(reader.text()));
        return new Answer(Head.of(head), reader.rest());
    }

    @Override
    public Streamed send(Request request, InputStream body) {
        Handle exchange = null;
        try {
            exchange = new Handle("stream", Native.send(repository.number(), request.json(), body != null));
            if (body != null) {
                write(exchange, body);
            }
            Head head = Head.of(Json.object(Json.parse(Native.head(exchange.number()))));
            Streamed streamed = new Streamed(head, new Body(exchange, repository));
            exchange = null;
            return streamed;
        } catch (AnnalsException error) {
            throw error.exact();
        } catch (IOException error) {
            throw AnnalsException.of("io", "reading the bytes to send: " + error.getMessage(), error);
        } finally {
            if (exchange != null) {
                exchange.close();
            }
            Reference.reachabilityFence(repository);
        }
    }

    private static void write(Handle exchange, InputStream body) throws IOException {
        byte[] part = new byte[PART_BYTES];
        for (int length = body.read(part); length >= 0; length = body.read(part)) {
            Native.write(exchange.number(), part, length);
        }
        Native.finish(exchange.number());
    }

    @Override
    public void close() {
        repository.close();
    }

    /** The body of an answer. It keeps the repository open while it is read. */
    private static final class Body extends InputStream {
        private final Handle exchange;
        private final Handle repository;

        Body(Handle exchange, Handle repository) {
            this.exchange = exchange;
            this.repository = repository;
        }

        @Override
        public int read() {
            byte[] one = new byte[1];
            return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
        }

        @Override
        public int read(byte[] into, int offset, int length) {
            java.util.Objects.checkFromIndexSize(offset, length, into.length);
            if (length == 0) {
                return 0;
            }
            try {
                return Native.read(exchange.number(), into, offset, length);
            } catch (AnnalsException error) {
                throw error.exact();
            } finally {
                Reference.reachabilityFence(exchange);
                Reference.reachabilityFence(repository);
            }
        }

        @Override
        public void close() {
            exchange.close();
        }
    }
}
