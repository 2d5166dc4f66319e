package dev.annals;

/**
 * The kind {@code not-found}: no such entity, relationship, classification, type, version or position; or a search
 * names a property that none of its declared types has and no instance has. Remedy: check the id or name; create it
 * first; read as of a time at which it existed: {@code validAt}, if the error has it.
 */
public final class NotFoundException extends AnnalsException {
    private static final long serialVersionUID = 1L;

    NotFoundException(String message, String details) {
        super("not-found", message, details);
    }
}
