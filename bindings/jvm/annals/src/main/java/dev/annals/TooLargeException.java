package dev.annals;

/**
 * The kind {@code too-large}: a bound was exceeded: record, transaction, value, properties of an instance, names of a
 * repository, result, visited elements, or, while opening, the memory budget. Remedy: commit in parts, ask for less, or
 * give a larger memory budget; the text names the bound.
 */
public final class TooLargeException extends AnnalsException {
    private static final long serialVersionUID = 1L;

    TooLargeException(String message, String details) {
        super("too-large", message, details);
    }
}
