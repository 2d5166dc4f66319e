package dev.annals;

import java.nio.charset.StandardCharsets;

/** The names of types, properties and authors that were read lately, so that a page does not make each name anew. */
final class Names {
    private static final int PLACES = 1_024;
    private static final int LENGTH_MAX = 64;

    /** Races are harmless: each place holds a whole immutable text, and a reader compares it. */
    private static final String[] KNOWN = new String[PLACES];

    private Names() {}

    static String of(byte[] bytes, int offset, int length) {
        if (length > LENGTH_MAX) {
            return new String(bytes, offset, length, StandardCharsets.UTF_8);
        }
        int hash = length;
        for (int index = offset; index < offset + length; index++) {
            hash = 31 * hash + bytes[index];
        }
        int place = (hash ^ (hash >>> 16)) & (PLACES - 1);
        String known = KNOWN[place];
        if (known != null && isSame(known, bytes, offset, length)) {
            return known;
        }
        String made = new String(bytes, offset, length, StandardCharsets.UTF_8);
        KNOWN[place] = made;
        return made;
    }

    private static boolean isSame(String known, byte[] bytes, int offset, int length) {
        if (known.length() != length) {
            return false;
        }
        for (int index = 0; index < length; index++) {
            // Bytes beyond ASCII are negative and equal no unit: such names are made anew.
            if (known.charAt(index) != bytes[offset + index]) {
                return false;
            }
        }
        return true;
    }
}
