package dev.annals;

/** The kind {@code closed}: the repository was closed. Remedy: open it again. */
public final class ClosedException extends AnnalsException {
    private static final long serialVersionUID = 1L;

    ClosedException(String message, String details) {
        super("closed", message, details);
    }
}
