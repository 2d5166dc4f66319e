package dev.annals;

/**
 * The kind {@code invalid-ends}: an entity of this type cannot be at that end of the relationship. Remedy: link other
 * entities, or extend the type.
 */
public final class InvalidEndsException extends AnnalsException {
    private static final long serialVersionUID = 1L;

    InvalidEndsException(String message, String details) {
        super("invalid-ends", message, details);
    }
}
