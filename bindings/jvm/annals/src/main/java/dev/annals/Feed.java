package dev.annals;

import com.google.gson.JsonObject;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.Spliterator;
import java.util.Spliterators;
import java.util.function.Function;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/** Reads server-sent events. Closing the stream or the repository, by any thread, ends it. */
final class Feed<T> implements Iterator<T> {
    private final InputStream body;
    private final BufferedReader lines;
    private final Function<JsonObject, T> event;
    private volatile boolean isClosed;
    private T next;

    private Feed(InputStream body, Function<JsonObject, T> event) {
        this.body = body;
        this.lines = new BufferedReader(new InputStreamReader(body, StandardCharsets.UTF_8));
        this.event = event;
    }

    static <T> Stream<T> stream(InputStream body, Function<JsonObject, T> event) {
        Feed<T> feed = new Feed<>(body, event);
        int traits = Spliterator.ORDERED | Spliterator.NONNULL;
        return StreamSupport.stream(Spliterators.spliteratorUnknownSize(feed, traits), false)
                .onClose(feed::close);
    }

    @Override
    public boolean hasNext() {
        try {
            while (next == null && !isClosed) {
                next = read();
                if (next == null) {
                    return false;
                }
            }
            return next != null;
        } catch (ClosedException error) {
            // Somebody closed the feed or the repository.
            return false;
        } catch (AnnalsException error) {
            if (isClosed) {
                return false;
            }
            throw error;
        } catch (IOException error) {
            if (isClosed) {
                return false;
            }
            throw AnnalsException.of("unavailable", "the feed broke off: " + error.getMessage(), error);
        }
    }

    /** The next event, or null at the end. */
    private T read() throws IOException {
        StringBuilder data = new StringBuilder();
        String name = "";
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            if (line.startsWith("data:")) {
                data.append(data.isEmpty() ? "" : "\n").append(line.substring(5).stripLeading());
            } else if (line.startsWith("event:")) {
                name = line.substring(6).strip();
            } else if (line.isEmpty() && !data.isEmpty()) {
                return event(name, Json.object(Json.parse(data.toString())));
            }
        }
        return null;
    }

    private T event(String name, JsonObject json) {
        if (name.equals("error")) {
            String kind = Json.optional(json, "kind").orElse("internal");
            throw AnnalsException.of(kind, Json.text(json, "detail"), json.toString());
        }
        return event.apply(json.getAsJsonObject("data"));
    }

    @Override
    public T next() {
        if (!hasNext()) {
            throw new NoSuchElementException();
        }
        T found = next;
        next = null;
        return found;
    }

    private void close() {
        isClosed = true;
        try {
            body.close();
        } catch (IOException error) {
            throw AnnalsException.of("io", "closing the feed: " + error.getMessage(), error);
        }
    }
}
