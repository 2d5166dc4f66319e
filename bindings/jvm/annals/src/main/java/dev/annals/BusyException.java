package dev.annals;

/**
 * The kind {@code busy}: a bounded queue is full, and the caller asked not to wait. Remedy: try later, send less at
 * once, or use the call that waits.
 */
public final class BusyException extends AnnalsException {
    private static final long serialVersionUID = 1L;

    BusyException(String message, String details) {
        super("busy", message, details);
    }
}
