package dev.annals;

import java.util.Objects;

/**
 * A value of the kind IRI, such as {@code urn:x}. A string is never an IRI.
 *
 * @param text the IRI after RFC 3987; a commit refuses another text (kind {@code invalid-argument})
 */
public record Iri(String text) {
    /**
     * Keeps the text.
     *
     * @param text the IRI after RFC 3987; a commit refuses another text (kind {@code invalid-argument})
     */
    public Iri {
        Objects.requireNonNull(text, "text");
    }

    @Override
    public String toString() {
        return text;
    }
}
