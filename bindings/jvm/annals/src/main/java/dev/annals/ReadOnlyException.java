package dev.annals;

/**
 * The kind {@code read-only}: the repository was opened read-only and refuses writes. Remedy: send the write to the
 * process that has it open for writing.
 */
public final class ReadOnlyException extends AnnalsException {
    private static final long serialVersionUID = 1L;

    ReadOnlyException(String message, String details) {
        super("read-only", message, details);
    }
}
