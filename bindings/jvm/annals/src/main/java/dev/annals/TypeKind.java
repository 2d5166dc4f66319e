package dev.annals;

/** The kinds of types. */
public enum TypeKind {
    /** The type of entities. */
    ENTITY,
    /** The type of relationships. */
    RELATIONSHIP,
    /** A classification. */
    CLASSIFICATION,
    /** A set of named elements for attributes. */
    ENUM;

    static TypeKind of(String text) {
        return valueOf(text.toUpperCase(java.util.Locale.ROOT));
    }

    /**
     * The name in JSON.
     *
     * @return {@code entity}, {@code relationship}, {@code classification} or {@code enum}
     */
    @Override
    public String toString() {
        return name().toLowerCase(java.util.Locale.ROOT);
    }
}
