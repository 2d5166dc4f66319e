package dev.annals;

/**
 * The kind {@code not-home}: the instance or classification belongs to another collection, and only its home may write
 * it. Remedy: write it at its home, save a newer copy, or re-home it.
 */
public final class NotHomeException extends AnnalsException {
    private static final long serialVersionUID = 1L;

    NotHomeException(String message, String details) {
        super("not-home", message, details);
    }
}
