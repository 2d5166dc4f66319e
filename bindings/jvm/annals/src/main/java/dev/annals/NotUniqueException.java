package dev.annals;

/**
 * The kind {@code not-unique}: another live instance holds this value of a unique attribute, or a sibling has the same
 * values that are unique together. Remedy: choose another value; the text names the holder.
 */
public final class NotUniqueException extends AnnalsException {
    private static final long serialVersionUID = 1L;

    NotUniqueException(String message, String details) {
        super("not-unique", message, details);
    }
}
