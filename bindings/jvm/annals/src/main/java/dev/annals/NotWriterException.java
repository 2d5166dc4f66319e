package dev.annals;

/**
 * The kind {@code not-writer}: another server writes to the log of this one at present; {@code writer} is its address, if
 * it tells it; nothing was written. Remedy: send the change to that server.
 */
public final class NotWriterException extends AnnalsException {
    private static final long serialVersionUID = 1L;

    NotWriterException(String message, String details) {
        super("not-writer", message, details);
    }
}
