package dev.annals;

import java.util.function.Function;

/** Repeats transactions that were refused for now. */
final class Retry {
    private static final int ATTEMPTS_MAX = 100;
    private static final int PAUSE_MAX_MS = 200;

    private Retry() {}

    /** A result with its commit. */
    record Done<T>(T result, Receipt receipt) {}

    static <T> Done<T> transact(Repository repository, Isolation isolation, Function<Transaction, T> work) {
        for (int attempt = 1; ; attempt++) {
            try (Transaction transaction = repository.begin(isolation)) {
                T result = work.apply(transaction);
                return new Done<>(result, transaction.commit());
            } catch (ConflictException error) {
                if (attempt == ATTEMPTS_MAX) {
                    throw error;
                }
            } catch (BusyException error) {
                if (attempt == ATTEMPTS_MAX) {
                    throw error;
                }
                pause(Math.min(attempt * 10, PAUSE_MAX_MS));
            }
        }
    }

    private static void pause(int milliseconds) {
        try {
            Thread.sleep(milliseconds);
        } catch (InterruptedException error) {
            Thread.currentThread().interrupt();
            throw AnnalsException.of("cancelled", "the thread was interrupted before it repeated a transaction", error);
        }
    }
}
