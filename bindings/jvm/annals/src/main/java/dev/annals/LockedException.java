package dev.annals;

/**
 * The kind {@code locked}: another process has the repository open for writing. Remedy: stop the other writer, or open
 * read-only and follow it.
 */
public final class LockedException extends AnnalsException {
    private static final long serialVersionUID = 1L;

    LockedException(String message, String details) {
        super("locked", message, details);
    }
}
