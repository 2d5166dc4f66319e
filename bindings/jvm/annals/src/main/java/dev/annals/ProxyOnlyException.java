package dev.annals;

/**
 * The kind {@code proxy-only}: the repository stores only a proxy of the entity: id, type and unique properties.
 * Remedy: read its summary, or save a copy of the whole entity.
 */
public final class ProxyOnlyException extends AnnalsException {
    private static final long serialVersionUID = 1L;

    ProxyOnlyException(String message, String details) {
        super("proxy-only", message, details);
    }
}
