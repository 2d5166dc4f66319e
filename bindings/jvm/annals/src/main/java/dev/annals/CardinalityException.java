package dev.annals;

/**
 * The kind {@code cardinality}: the relationship exceeds the number that its type allows, or a required child is
 * missing. Remedy: delete the existing relationship first, or create the child, in the same transaction.
 */
public final class CardinalityException extends AnnalsException {
    private static final long serialVersionUID = 1L;

    CardinalityException(String message, String details) {
        super("cardinality", message, details);
    }
}
