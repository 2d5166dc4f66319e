package dev.annals;

/**
 * The kind {@code missing-end}: an end of a relationship does not exist, or does not exist yet at that valid time; or
 * no item has the value to which an attribute refers. Remedy: create or restore the entity first; use a later valid
 * time; keep the item that another one refers to, or change the reference in the same transaction.
 */
public final class MissingEndException extends AnnalsException {
    private static final long serialVersionUID = 1L;

    MissingEndException(String message, String details) {
        super("missing-end", message, details);
    }
}
