package dev.annals;

import java.io.IOException;
import java.io.InputStream;
import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpConnectTimeoutException;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Sends requests to the servers of one log: to the one that answered last, and to the next one when it does not.
 *
 * <p>503 says that nothing was written, so any request is sent again. A request whose answer is lost is sent again if it
 * only reads, or if it has a key by which the servers know it.
 */
final class ServersDoor implements Door {
    private static final String WAIT = "annals-wait-position";
    private static final String KEY = "idempotency-key";
    private static final Set<String> READS = Set.of("GET", "HEAD");
    /** Reads by POST. */
    private static final List<String> READING =
            List.of("/v1/find", "/v1/count", "/v1/groups", "/v1/explain", "/v1/types/verify");
    /** Writes whose answer to a repeat is the one to the first try. */
    private static final List<String> KEYED = List.of("/v1/transactions", "/v1/types");

    private static final long PAUSE_MIN_MS = 20;
    private static final long PAUSE_MAX_MS = 500;
    private static final int UNAVAILABLE = 503;
    private static final int UNKNOWN = 504;

    private final List<HttpDoor> doors;
    private final Duration time;
    private final Duration tryTime;
    /** The last position that this client has seen: no server that is behind it answers. */
    private final AtomicLong seen = new AtomicLong();

    private volatile int preferred;

    ServersDoor(List<URI> servers, ConnectOptions options) {
        List<URI> each = List.copyOf(new LinkedHashSet<>(servers));
        if (each.isEmpty()) {
            throw AnnalsException.invalid("servers: expected at least one address, found none");
        }
        this.time = options.requestTime();
        // A server that takes connections and says nothing must not take all the time of a request.
        Duration part = time.dividedBy(each.size() + 1L);
        this.tryTime = part.isZero() ? time : part;
        this.doors = each.stream().map(server -> new HttpDoor(server, options)).toList();
    }

    @Override
    public Answer exchange(Request request, byte[] body) {
        Request sent = marked(request);
        return somewhere(sent, isRepeatable(sent), door -> door.exchange(sent, body, tryTime), Answer::head);
    }

    @Override
    public Streamed send(Request request, InputStream body) {
        Request sent = marked(request);
        if (body != null) {
            // Nobody can send a stream of the caller again.
            Streamed streamed = doors.get(preferred).send(sent, body);
            note(streamed.head());
            return streamed;
        }
        return somewhere(sent, isRepeatable(sent), door -> door.send(sent, null), Streamed::head);
    }

    /** Sends to one server. */
    private interface Try<T> {
        T at(HttpDoor door);
    }

    /** The head of an answer. */
    private interface HeadOf<T> {
        Head of(T answer);
    }

    /** Tries the servers in turn until one has answered, or the time of a request is over. */
    private <T> T somewhere(Request request, boolean isRepeatable, Try<T> attempt, HeadOf<T> headOf) {
        long end = System.nanoTime() + time.toNanos();
        long pause = PAUSE_MIN_MS;
        int at = preferred;
        for (int tries = 1; ; tries++) {
            AnnalsException failure = null;
            T answer = null;
            Head head = null;
            try {
                answer = attempt.at(doors.get(at));
                head = headOf.of(answer);
            } catch (AnnalsException error) {
                failure = error;
            }
            boolean isOver = System.nanoTime() >= end;
            if (failure != null && (isOver || !(isRepeatable && isLost(failure)) && !isUnsent(failure))) {
                throw failure;
            }
            if (head != null && (isOver || !isElsewhere(head, isRepeatable && !isRead(request)))) {
                if (head.status() < UNAVAILABLE) {
                    preferred = at;
                }
                note(head);
                return answer;
            }
            end(answer);
            int writer = head == null || isRead(request) ? -1 : writer(head);
            at = writer >= 0 && writer != at ? writer : (at + 1) % doors.size();
            if (tries % doors.size() == 0) {
                rest(pause);
                pause = Math.min(2 * pause, PAUSE_MAX_MS);
            }
        }
    }

    private static boolean isElsewhere(Head head, boolean isKeyed) {
        return head.status() == UNAVAILABLE || isKeyed && head.status() == UNKNOWN;
    }

    /** True if no server has seen the request. */
    private static boolean isUnsent(AnnalsException failure) {
        Throwable cause = failure.getCause();
        return cause instanceof ConnectException || cause instanceof HttpConnectTimeoutException;
    }

    /** True if a server may have seen the request. */
    private static boolean isLost(AnnalsException failure) {
        return failure.kind().equals("unavailable") || failure.kind().equals("time-out");
    }

    private int writer(Head head) {
        return head.header("annals-writer")
                .map(address -> {
                    for (int at = 0; at < doors.size(); at++) {
                        if (doors.get(at).isAt(address)) {
                            return at;
                        }
                    }
                    return -1;
                })
                .orElse(-1);
    }

    private void note(Head head) {
        head.header("annals-position").ifPresent(position -> {
            try {
                seen.accumulateAndGet(Long.parseLong(position), Math::max);
            } catch (NumberFormatException error) {
                // Another server stands in between; its answers have no positions.
            }
        });
    }

    /** The request with its key, and with the position that its server must have. */
    private Request marked(Request request) {
        Map<String, String> headers = new TreeMap<>(request.headers());
        String path = path(request);
        boolean isCandidate = request.target().contains("candidate=");
        if (request.method().equals("POST") && KEYED.contains(path) && !isCandidate) {
            headers.putIfAbsent(KEY, UUID.randomUUID().toString());
        }
        long position = seen.get();
        if (position > 0 && path.startsWith("/v1/")) {
            headers.putIfAbsent(WAIT, Long.toString(position));
        }
        return new Request(request.method(), request.target(), headers);
    }

    private static String path(Request request) {
        return request.target().split("\\?", 2)[0];
    }

    private static boolean isRead(Request request) {
        return READS.contains(request.method()) || READING.contains(path(request));
    }

    private static boolean isRepeatable(Request request) {
        return isRead(request) || request.headers().containsKey(KEY);
    }

    private static void end(Object answer) {
        if (answer instanceof Streamed streamed) {
            try {
                streamed.body().close();
            } catch (IOException error) {
                // It is not read any more.
            }
        }
    }

    private static void rest(long pause) {
        try {
            TimeUnit.MILLISECONDS.sleep(pause);
        } catch (InterruptedException error) {
            Thread.currentThread().interrupt();
            throw AnnalsException.of("cancelled", "the thread was interrupted; a write may still take effect", error);
        }
    }

    @Override
    public void close() {
        doors.forEach(HttpDoor::close);
    }
}
