package dev.annals;

/**
 * The kind {@code invalid-property}: a property does not fit the declared type: unknown to a closed one, of another
 * value type, no element of its enum, or required and missing. Remedy: correct the property, or extend the type.
 */
public final class InvalidPropertyException extends AnnalsException {
    private static final long serialVersionUID = 1L;

    InvalidPropertyException(String message, String details) {
        super("invalid-property", message, details);
    }
}
