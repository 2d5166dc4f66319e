package dev.annals;

/**
 * The kind {@code type-violation}: the declaration of a type removes something, or contradicts itself or another
 * declaration; or existing instances do not fit it. Remedy: correct the declaration, or first correct the data that the
 * text names.
 */
public final class TypeViolationException extends AnnalsException {
    private static final long serialVersionUID = 1L;

    TypeViolationException(String message, String details) {
        super("type-violation", message, details);
    }
}
