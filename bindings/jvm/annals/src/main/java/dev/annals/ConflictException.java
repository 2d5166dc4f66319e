package dev.annals;

/**
 * The kind {@code conflict}: another transaction changed an instance that this one wrote (or, if serializable, read);
 * or another writer took the position. Remedy: begin a new transaction, read again, decide again; {@code transact} does
 * it for you.
 */
public final class ConflictException extends AnnalsException {
    private static final long serialVersionUID = 1L;

    ConflictException(String message, String details) {
        super("conflict", message, details);
    }
}
