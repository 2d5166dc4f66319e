package dev.annals;

import java.io.InputStream;
import java.net.http.HttpResponse.BodySubscriber;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;

/**
 * The body of an answer as a stream: it holds one part at a time, waits a bounded time for the next one, and may be
 * closed by another thread.
 */
final class TimedBody extends InputStream implements BodySubscriber<InputStream> {
    private final Duration idle;

    // All below are locked by this.
    private final Deque<ByteBuffer> parts = new ArrayDeque<>();
    private Flow.Subscription subscription;
    private Throwable failure;
    private boolean isWhole;
    private boolean isClosed;

    TimedBody(Duration idle) {
        this.idle = idle;
    }

    @Override
    public CompletionStage<InputStream> getBody() {
        return CompletableFuture.completedFuture(this);
    }

    @Override
    public synchronized void onSubscribe(Flow.Subscription subscription) {
        this.subscription = subscription;
        if (isClosed) {
            subscription.cancel();
        } else {
            subscription.request(1);
        }
    }

    @Override
    public synchronized void onNext(List<ByteBuffer> more) {
        more.stream().filter(ByteBuffer::hasRemaining).forEach(parts::add);
        if (parts.isEmpty() && !isClosed) {
            subscription.request(1);
        }
        notifyAll();
    }

    @Override
    public synchronized void onError(Throwable error) {
        failure = error;
        notifyAll();
    }

    @Override
    public synchronized void onComplete() {
        isWhole = true;
        notifyAll();
    }

    @Override
    public int read() {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    /** Errors: {@code closed}, {@code time-out}, {@code unavailable} if the answer broke off. */
    @Override
    public synchronized int read(byte[] into, int offset, int length) {
        if (length == 0) {
            return 0;
        }
        if (!hasPart()) {
            return -1;
        }
        ByteBuffer part = parts.peek();
        int count = Math.min(length, part.remaining());
        part.get(into, offset, count);
        if (!part.hasRemaining()) {
            parts.remove();
            if (parts.isEmpty()) {
                subscription.request(1);
            }
        }
        return count;
    }

    private boolean hasPart() {
        long deadline = System.nanoTime() + idle.toNanos();
        while (true) {
            if (isClosed) {
                throw AnnalsException.closed("stream");
            }
            if (!parts.isEmpty()) {
                return true;
            }
            if (isWhole) {
                return false;
            }
            if (failure != null) {
                throw AnnalsException.of("unavailable", "the answer broke off: " + failure.getMessage(), failure);
            }
            long left = (deadline - System.nanoTime()) / 1_000_000;
            if (left <= 0) {
                subscription.cancel();
                throw AnnalsException.of(
                        "time-out", "expected the next part of the answer within " + idle, (String) null);
            }
            try {
                wait(left);
            } catch (InterruptedException error) {
                Thread.currentThread().interrupt();
                throw AnnalsException.of("cancelled", "the thread was interrupted while it read an answer", error);
            }
        }
    }

    @Override
    public synchronized int available() {
        return parts.isEmpty() ? 0 : parts.peek().remaining();
    }

    @Override
    public synchronized void close() {
        if (isClosed) {
            return;
        }
        isClosed = true;
        parts.clear();
        if (subscription != null) {
            subscription.cancel();
        }
        notifyAll();
    }
}
