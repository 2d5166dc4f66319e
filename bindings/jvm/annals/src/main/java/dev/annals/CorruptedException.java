package dev.annals;

/**
 * The kind {@code corrupted}: stored bytes before the tail are damaged; the text names file, offset and position.
 * Remedy: run {@code annals check}; restore from a backup; check the disk.
 */
public final class CorruptedException extends AnnalsException {
    private static final long serialVersionUID = 1L;

    CorruptedException(String message, String details) {
        super("corrupted", message, details);
    }
}
