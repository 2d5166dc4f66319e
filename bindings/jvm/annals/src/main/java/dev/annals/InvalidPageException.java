package dev.annals;

/**
 * The kind {@code invalid-page}: a page size out of its range, or a cursor of another search. Remedy: give a size
 * within the bounds; start from the first page.
 */
public final class InvalidPageException extends AnnalsException {
    private static final long serialVersionUID = 1L;

    InvalidPageException(String message, String details) {
        super("invalid-page", message, details);
    }
}
