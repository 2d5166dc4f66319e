package dev.annals;

/**
 * The kind {@code not-deleted}: the instance is not deleted, and only a deleted one can be restored. Remedy: nothing to
 * do: the instance is already live.
 */
public final class NotDeletedException extends AnnalsException {
    private static final long serialVersionUID = 1L;

    NotDeletedException(String message, String details) {
        super("not-deleted", message, details);
    }
}
