package dev.annals;

/** The two kinds of instances. */
public enum Kind {
    /** An entity. */
    ENTITY("entity", "entities"),
    /** A relationship. */
    RELATIONSHIP("relationship", "relationships");

    private final String text;
    private final String path;

    Kind(String text, String path) {
        this.text = text;
        this.path = path;
    }

    /** The segment of its endpoints. */
    String path() {
        return path;
    }

    static Kind of(String text) {
        return text.equals("relationship") ? RELATIONSHIP : ENTITY;
    }

    /**
     * The name in JSON.
     *
     * @return {@code entity} or {@code relationship}
     */
    @Override
    public String toString() {
        return text;
    }
}
