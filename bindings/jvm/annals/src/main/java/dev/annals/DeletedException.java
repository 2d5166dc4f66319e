package dev.annals;

/** The kind {@code deleted}: the instance is deleted. Remedy: restore it first, or read its history. */
public final class DeletedException extends AnnalsException {
    private static final long serialVersionUID = 1L;

    DeletedException(String message, String details) {
        super("deleted", message, details);
    }
}
