package dev.annals;

import java.util.Objects;
import java.util.Optional;

/**
 * A value of the kind literal: a text with a language, or a text with a datatype. Exactly one of the two is present.
 *
 * @param text the text
 * @param language a tag of BCP 47, such as {@code fr}
 * @param datatype the IRI of a datatype
 */
public record Literal(String text, Optional<String> language, Optional<Iri> datatype) {
    /**
     * Checks that there is a language or a datatype.
     *
     * @param text the text
     * @param language a tag of BCP 47, such as {@code fr}
     * @param datatype the IRI of a datatype
     * @throws AnnalsException kind {@code invalid-argument}: both or none
     */
    public Literal {
        Objects.requireNonNull(text, "text");
        if (language.isPresent() == datatype.isPresent()) {
            throw AnnalsException.invalid("literal: expected a language or a datatype, found both or none");
        }
    }

    /**
     * A text in a language.
     *
     * @param text the text
     * @param language a tag of BCP 47
     * @return the literal
     */
    public static Literal inLanguage(String text, String language) {
        return new Literal(text, Optional.of(language), Optional.empty());
    }

    /**
     * A text with a datatype.
     *
     * @param text the text
     * @param datatype the IRI of the datatype
     * @return the literal
     */
    public static Literal ofType(String text, Iri datatype) {
        return new Literal(text, Optional.empty(), Optional.of(datatype));
    }
}
