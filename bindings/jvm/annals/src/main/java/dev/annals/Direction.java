package dev.annals;

/** A direction of relationships, seen from an entity. */
public enum Direction {
    /** Relationships that lead out of the entity. */
    OUT,
    /** Relationships that lead to the entity. */
    IN,
    /** Both. */
    BOTH;

    static Direction of(String text) {
        return text.equals("in") ? IN : text.equals("both") ? BOTH : OUT;
    }

    /**
     * The name in JSON.
     *
     * @return {@code out}, {@code in} or {@code both}
     */
    @Override
    public String toString() {
        return name().toLowerCase(java.util.Locale.ROOT);
    }
}
