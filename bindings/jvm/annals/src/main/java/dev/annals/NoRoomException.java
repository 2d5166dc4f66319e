package dev.annals;

/**
 * The kind {@code no-room}: the storage or the memory budget has no room; nothing was written. Remedy: free space, or
 * give a larger quota or memory budget; then repeat the change.
 */
public final class NoRoomException extends AnnalsException {
    private static final long serialVersionUID = 1L;

    NoRoomException(String message, String details) {
        super("no-room", message, details);
    }
}
