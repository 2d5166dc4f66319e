package dev.annals;

import java.nio.charset.StandardCharsets;
import java.util.Objects;

/**
 * The id of an entity or of a relationship. An entity and a relationship may have the same id.
 *
 * @param kind entity or relationship
 * @param id a UUID or a text of 1 to 255 bytes
 */
public record InstanceId(Kind kind, String id) {
    private static final int BYTES_MAX = 255;

    /**
     * Checks the id.
     *
     * @param kind entity or relationship
     * @param id a UUID or a text of 1 to 255 bytes
     * @throws AnnalsException kind {@code invalid-argument}: empty, longer than 255 bytes, or no Unicode
     */
    public InstanceId {
        Objects.requireNonNull(kind, "kind");
        check(id);
    }

    /**
     * An entity.
     *
     * @param id its id
     * @return the id with its kind
     */
    public static InstanceId entity(String id) {
        return new InstanceId(Kind.ENTITY, id);
    }

    /**
     * A relationship.
     *
     * @param id its id
     * @return the id with its kind
     */
    public static InstanceId relationship(String id) {
        return new InstanceId(Kind.RELATIONSHIP, id);
    }

    static String check(String id) {
        Objects.requireNonNull(id, "id");
        Utf8.check(id);
        int length = id.length() > BYTES_MAX ? id.length() : id.getBytes(StandardCharsets.UTF_8).length;
        if (length == 0 || length > BYTES_MAX) {
            throw AnnalsException.invalid("id: expected 1 to " + BYTES_MAX + " bytes, found " + length);
        }
        return id;
    }

    @Override
    public String toString() {
        return kind + " " + id;
    }
}
