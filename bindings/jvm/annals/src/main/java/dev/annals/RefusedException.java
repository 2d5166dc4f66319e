package dev.annals;

/**
 * The kind {@code refused}: a hook of the application refused the transaction before it was durable; nothing was
 * written. Remedy: read its reason in the text.
 */
public final class RefusedException extends AnnalsException {
    private static final long serialVersionUID = 1L;

    RefusedException(String message, String details) {
        super("refused", message, details);
    }
}
