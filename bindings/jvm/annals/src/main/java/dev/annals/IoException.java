package dev.annals;

/**
 * The kind {@code io}: the operating system refused: no permission, missing folder, broken device; nothing was written.
 * Remedy: read the text of the system; correct permissions, check the disk.
 */
public final class IoException extends AnnalsException {
    private static final long serialVersionUID = 1L;

    IoException(String message, String details) {
        super("io", message, details);
    }
}
