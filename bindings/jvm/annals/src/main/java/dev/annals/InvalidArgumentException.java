package dev.annals;

/**
 * The kind {@code invalid-argument}: an argument is malformed, out of its range, or cannot be combined with another
 * one. Remedy: correct the call; the text says what is expected.
 */
public final class InvalidArgumentException extends AnnalsException {
    private static final long serialVersionUID = 1L;

    InvalidArgumentException(String message, String details) {
        super("invalid-argument", message, details);
    }
}
