package dev.annals;

/**
 * The kind {@code digest-mismatch}: the bytes of a content, or the body of a request, have another digest than the
 * writer stated; nothing was stored. Remedy: send the bytes again; check the digest.
 */
public final class DigestMismatchException extends AnnalsException {
    private static final long serialVersionUID = 1L;

    DigestMismatchException(String message, String details) {
        super("digest-mismatch", message, details);
    }
}
