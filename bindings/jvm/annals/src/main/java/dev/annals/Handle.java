package dev.annals;

import java.lang.ref.Cleaner;
import java.util.concurrent.atomic.AtomicBoolean;

/** A handle of the native library. A cleaner closes what was forgotten. */
final class Handle implements AutoCloseable {
    private static final Cleaner CLEANER = Cleaner.create();

    private final String noun;
    private final Closing closing;
    private final Cleaner.Cleanable cleanable;

    /** The noun is for the error of a closed handle. */
    Handle(String noun, long number) {
        this.noun = noun;
        this.closing = new Closing(number);
        this.cleanable = CLEANER.register(this, closing);
    }

    /** Errors: {@code closed}. */
    long number() {
        if (closing.isClosed.get()) {
            throw AnnalsException.closed(noun);
        }
        return closing.number;
    }

    @Override
    public void close() {
        cleanable.clean();
    }

    /** Must not refer to the handle, or it would never be forgotten. */
    private record Closing(long number, AtomicBoolean isClosed) implements Runnable {
        Closing(long number) {
            this(number, new AtomicBoolean());
        }

        @Override
        public void run() {
            if (isClosed.compareAndSet(false, true)) {
                Native.close(number);
            }
        }
    }
}
