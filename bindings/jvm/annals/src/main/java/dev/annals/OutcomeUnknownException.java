package dev.annals;

/**
 * The kind {@code outcome-unknown}: the log did not answer while the change was written: whether it is durable, or
 * becomes so later, is unknown. Remedy: look for the change before you repeat it.
 */
public final class OutcomeUnknownException extends AnnalsException {
    private static final long serialVersionUID = 1L;

    OutcomeUnknownException(String message, String details) {
        super("outcome-unknown", message, details);
    }
}
