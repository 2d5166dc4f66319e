package dev.annals;

import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandler;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.HttpTimeoutException;
import java.time.Duration;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Sends requests to a server. Every wait has a bound: connecting, an answer, and the next part of a streamed answer.
 */
final class HttpDoor implements Door {
    private final HttpClient client;
    private final String base;
    private final ConnectOptions options;

    /** Bodies that may still be read; closing the door ends them. */
    private final Set<TimedBody> bodies = Collections.synchronizedSet(Collections.newSetFromMap(new WeakHashMap<>()));

    HttpDoor(URI uri, ConnectOptions options) {
        boolean isHttp = "http".equals(uri.getScheme()) || "https".equals(uri.getScheme());
        if (!isHttp || uri.getHost() == null || uri.getQuery() != null || uri.getFragment() != null) {
            throw AnnalsException.invalid("expected an address such as http://127.0.0.1:8280, found " + uri);
        }
        String text = uri.toString();
        this.base = text.endsWith("/") ? text.substring(0, text.length() - 1) : text;
        this.options = options;
        HttpClient.Builder builder = HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_1_1)
                .connectTimeout(options.connectTime());
        Tls.context(options).ifPresent(builder::sslContext);
        this.client = builder.build();
    }

    @Override
    public Answer exchange(Request request, byte[] body) {
        return exchange(request, body, options.requestTime());
    }

    /** As the other one, with a wait of its own. */
    Answer exchange(Request request, byte[] body, Duration time) {
        BodyPublisher publisher = body.length == 0 ? BodyPublishers.noBody() : BodyPublishers.ofByteArray(body);
        HttpResponse<byte[]> response = send(request, publisher, BodyHandlers.ofByteArray(), time);
        return new Answer(head(response), response.body());
    }

    /** True if the address is the one of this server. */
    boolean isAt(String address) {
        return base.equals(address.endsWith("/") ? address.substring(0, address.length() - 1) : address);
    }

    @Override
    public Streamed send(Request request, InputStream body) {
        BodyPublisher publisher = body == null ? BodyPublishers.noBody() : BodyPublishers.ofInputStream(() -> body);
        // The server refuses a body that does not flow; a large one may take long.
        Duration time = body == null ? options.requestTime() : options.uploadTime();
        HttpResponse<InputStream> response = send(request, publisher, head -> body(), time);
        return new Streamed(head(response), response.body());
    }

    private TimedBody body() {
        TimedBody body = new TimedBody(options.idleTime());
        bodies.add(body);
        return body;
    }

    private <T> HttpResponse<T> send(Request request, BodyPublisher publisher, BodyHandler<T> handler, Duration time) {
        CompletableFuture<HttpResponse<T>> answer = client.sendAsync(http(request, publisher), handler);
        try {
            return answer.get(time.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException error) {
            answer.cancel(true);
            Thread.currentThread().interrupt();
            throw AnnalsException.of("cancelled", "the thread was interrupted; a write may still take effect", error);
        } catch (TimeoutException error) {
            answer.cancel(true);
            throw late(request, time, error);
        } catch (ExecutionException error) {
            throw failure(request, time, error.getCause());
        }
    }

    private HttpRequest http(Request request, BodyPublisher publisher) {
        try {
            HttpRequest.Builder builder =
                    HttpRequest.newBuilder(URI.create(base + request.target())).method(request.method(), publisher);
            options.headers().forEach(builder::setHeader);
            request.headers().forEach(builder::setHeader);
            return builder.build();
        } catch (IllegalArgumentException error) {
            throw AnnalsException.of("invalid-argument", "request: " + error.getMessage(), error);
        }
    }

    private AnnalsException failure(Request request, Duration time, Throwable error) {
        if (error instanceof AnnalsException known) {
            return known;
        }
        if (error instanceof HttpTimeoutException && !(error instanceof HttpConnectTimeoutException)) {
            return late(request, time, error);
        }
        if (error instanceof IOException) {
            String reason = error.getMessage() == null ? error.getClass().getSimpleName() : error.getMessage();
            return AnnalsException.of(
                    "unavailable",
                    "no answer from " + base + " (" + reason + "); check that annals serve runs at this address. "
                            + "If this was a write, check whether it took effect before you repeat it",
                    error);
        }
        return AnnalsException.of("internal", request.method() + " " + request.target() + ": " + error, error);
    }

    private AnnalsException late(Request request, Duration time, Throwable error) {
        return AnnalsException.of(
                "time-out",
                request.method() + " at " + base + ": expected an answer within " + time
                        + "; a write may still take effect: check before you repeat it",
                error);
    }

    private static Head head(HttpResponse<?> response) {
        Map<String, String> headers = new HashMap<>();
        response.headers().map().forEach((name, values) -> headers.put(name.toLowerCase(Locale.ROOT), values.get(0)));
        return new Head(response.statusCode(), headers);
    }

    /** Ends the bodies that are still read. Connections that are not in use end by themselves. */
    @Override
    public void close() {
        List<TimedBody> open;
        synchronized (bodies) {
            open = List.copyOf(bodies);
        }
        open.forEach(TimedBody::close);
    }
}
