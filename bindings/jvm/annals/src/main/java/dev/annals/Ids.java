package dev.annals;

import java.security.SecureRandom;
import java.util.UUID;

/** Makes ids as the engine does: UUIDs of version 7, which begin with the time. */
final class Ids {
    private static final SecureRandom RANDOM = new SecureRandom();

    private Ids() {}

    /** Source: RFC 9562, section 5.7. */
    static String make() {
        long high = System.currentTimeMillis() << 16 | 0x7000L | RANDOM.nextInt(0x1000);
        long low = RANDOM.nextLong() & 0x3fff_ffff_ffff_ffffL | 0x8000_0000_0000_0000L;
        return new UUID(high, low).toString();
    }
}
