package dev.annals;

/** The types of attributes. */
public enum ValueType {
    /** Any value. */
    ANY,
    /** Boolean. */
    BOOLEAN,
    /** Long. */
    INTEGER,
    /** Double. */
    FLOAT,
    /** BigDecimal, at most 28 digits. */
    DECIMAL,
    /** String. */
    STRING,
    /** byte[]. */
    BYTES,
    /** LocalDate. */
    DATE,
    /** Instant, in microseconds. */
    TIMESTAMP,
    /** Duration. */
    DURATION,
    /** UUID. */
    UUID,
    /** {@link Iri}. */
    IRI,
    /** {@link Literal}. */
    LITERAL,
    /** {@link Content}. */
    CONTENT,
    /** List. */
    LIST,
    /** Map. */
    MAP;

    static ValueType of(String text) {
        return valueOf(text.toUpperCase(java.util.Locale.ROOT));
    }

    /**
     * The name in JSON.
     *
     * @return the name in small letters
     */
    @Override
    public String toString() {
        return name().toLowerCase(java.util.Locale.ROOT);
    }
}
