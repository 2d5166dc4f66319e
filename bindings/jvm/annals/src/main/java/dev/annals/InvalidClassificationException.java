package dev.annals;

/**
 * The kind {@code invalid-classification}: the classification does not fit the type of the entity, or differs from a
 * declared one in upper and lower case only. Remedy: classify another entity, or extend the types to which the
 * classification applies; write the declared name, or declare the other one.
 */
public final class InvalidClassificationException extends AnnalsException {
    private static final long serialVersionUID = 1L;

    InvalidClassificationException(String message, String details) {
        super("invalid-classification", message, details);
    }
}
