package dev.annals;

/**
 * The kind {@code unavailable}: the log does not answer, and nothing was written; or the log, or the thread of the
 * indexes, has failed, and the repository refuses writes. Remedy: send the change again later; if the text says so,
 * reopen the repository first.
 */
public final class UnavailableException extends AnnalsException {
    private static final long serialVersionUID = 1L;

    UnavailableException(String message, String details) {
        super("unavailable", message, details);
    }
}
