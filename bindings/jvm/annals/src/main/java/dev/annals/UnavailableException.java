package dev.annals;

/**
 * The kind {@code unavailable}: the log did not answer; or nobody knows whether the last append became durable; or the
 * thread of the indexes panicked, and the repository refuses writes. Remedy: reopen the repository; then check whether
 * the change is there before you repeat it.
 */
public final class UnavailableException extends AnnalsException {
    private static final long serialVersionUID = 1L;

    UnavailableException(String message, String details) {
        super("unavailable", message, details);
    }
}
