package dev.annals;

/**
 * The kind {@code home-conflict}: the instance with this id belongs to another home than stated, or to this repository.
 * Remedy: check its home; state that home, or choose another id.
 */
public final class HomeConflictException extends AnnalsException {
    private static final long serialVersionUID = 1L;

    HomeConflictException(String message, String details) {
        super("home-conflict", message, details);
    }
}
