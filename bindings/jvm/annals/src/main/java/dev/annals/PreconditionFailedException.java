package dev.annals;

/**
 * The kind {@code precondition-failed}: an instance has another version than the transaction or {@code If-Match}
 * expects; {@code latestVersion} is its version. Remedy: read it again, decide again.
 */
public final class PreconditionFailedException extends AnnalsException {
    private static final long serialVersionUID = 1L;

    PreconditionFailedException(String message, String details) {
        super("precondition-failed", message, details);
    }
}
