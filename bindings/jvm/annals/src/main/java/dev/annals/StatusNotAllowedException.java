package dev.annals;

/**
 * The kind {@code status-not-allowed}: the type of the instance does not have this status; no type has {@code deleted},
 * because only a delete gives that status. Remedy: choose a status that the text names, or add this one to the type.
 */
public final class StatusNotAllowedException extends AnnalsException {
    private static final long serialVersionUID = 1L;

    StatusNotAllowedException(String message, String details) {
        super("status-not-allowed", message, details);
    }
}
