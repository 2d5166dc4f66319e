package dev.annals;

import java.nio.charset.StandardCharsets;

/** Encodes texts, and refuses those that have no encoding. */
final class Utf8 {
    private static final String PLAIN = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";

    private Utf8() {}

    /** Errors: {@code invalid-argument} on a lone surrogate, which UTF-8 does not have. */
    static byte[] encode(String text) {
        check(text);
        return text.getBytes(StandardCharsets.UTF_8);
    }

    static void check(String text) {
        for (int index = 0; index < text.length(); index++) {
            char unit = text.charAt(index);
            if (!Character.isSurrogate(unit)) {
                continue;
            }
            boolean isPair = Character.isHighSurrogate(unit)
                    && index + 1 < text.length()
                    && Character.isLowSurrogate(text.charAt(index + 1));
            if (!isPair) {
                throw AnnalsException.invalid(
                        "text: expected Unicode, found the lone surrogate U+%04X at index %d; use pairs of them"
                                .formatted((int) unit, index));
            }
            index++;
        }
    }

    /** Percent-encodes everything but letters, digits and {@code -._~}, for segments of paths, queries and headers. */
    static String percent(String text) {
        return percent(text, PLAIN);
    }

    /** Percent-encodes everything but letters, digits and the characters of {@code kept}. */
    static String percentKeeping(String text, String kept) {
        return percent(text, PLAIN + kept);
    }

    private static String percent(String text, String kept) {
        StringBuilder encoded = new StringBuilder(text.length() + 16);
        for (byte unit : encode(text)) {
            if (unit > 0 && kept.indexOf(unit) >= 0) {
                encoded.append((char) unit);
            } else {
                encoded.append('%')
                        .append(Character.toUpperCase(Character.forDigit((unit >> 4) & 15, 16)))
                        .append(Character.toUpperCase(Character.forDigit(unit & 15, 16)));
            }
        }
        return encoded.toString();
    }
}
