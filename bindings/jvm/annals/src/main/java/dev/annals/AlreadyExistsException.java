package dev.annals;

/**
 * The kind {@code already-exists}: the id or the classification already exists. Remedy: update the existing one, or
 * choose another id.
 */
public final class AlreadyExistsException extends AnnalsException {
    private static final long serialVersionUID = 1L;

    AlreadyExistsException(String message, String details) {
        super("already-exists", message, details);
    }
}
