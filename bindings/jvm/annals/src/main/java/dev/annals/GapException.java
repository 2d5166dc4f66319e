package dev.annals;

/** The kind {@code gap}: the log misses a position. Remedy: put the missing segment back, or restore from a backup. */
public final class GapException extends AnnalsException {
    private static final long serialVersionUID = 1L;

    GapException(String message, String details) {
        super("gap", message, details);
    }
}
