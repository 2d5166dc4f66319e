package dev.annals;

/**
 * The kind {@code future-instant}: an argument is an instant in the future, where only the past is allowed. Remedy:
 * give an earlier instant, or leave it out; check the clock.
 */
public final class FutureInstantException extends AnnalsException {
    private static final long serialVersionUID = 1L;

    FutureInstantException(String message, String details) {
        super("future-instant", message, details);
    }
}
