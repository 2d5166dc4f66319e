package dev.annals;

/**
 * The kind {@code cancelled}: the caller cancelled the read, or its time was over. Remedy: ask for less, or give it
 * more time.
 */
public final class CancelledException extends AnnalsException {
    private static final long serialVersionUID = 1L;

    CancelledException(String message, String details) {
        super("cancelled", message, details);
    }
}
