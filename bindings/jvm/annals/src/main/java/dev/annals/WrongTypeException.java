package dev.annals;

/**
 * The kind {@code wrong-type}: the instance has another type than stated, or the new type is not declared. Remedy:
 * check its type; state the type that it has, or declare the new type.
 */
public final class WrongTypeException extends AnnalsException {
    private static final long serialVersionUID = 1L;

    WrongTypeException(String message, String details) {
        super("wrong-type", message, details);
    }
}
