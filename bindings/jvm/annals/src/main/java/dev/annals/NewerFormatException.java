package dev.annals;

/**
 * The kind {@code newer-format}: stored bytes were written by a newer version of Annals. Remedy: use that version, or a
 * later one.
 */
public final class NewerFormatException extends AnnalsException {
    private static final long serialVersionUID = 1L;

    NewerFormatException(String message, String details) {
        super("newer-format", message, details);
    }
}
