package dev.annals;

/**
 * The kind {@code invalid-expression}: a search or a regular expression has a syntax error, or compares values that
 * cannot be compared; the text points at the character. Remedy: correct it; docs/search.md has the grammar.
 */
public final class InvalidExpressionException extends AnnalsException {
    private static final long serialVersionUID = 1L;

    InvalidExpressionException(String message, String details) {
        super("invalid-expression", message, details);
    }
}
