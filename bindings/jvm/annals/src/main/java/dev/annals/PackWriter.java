package dev.annals;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;

/**
 * Writes the packed form that the native library reads: numbers with their lowest byte first, texts with their length.
 */
final class PackWriter {
    private byte[] bytes = new byte[256];
    private int length;

    byte[] bytes() {
        return Arrays.copyOf(bytes, length);
    }

    private void reserve(int more) {
        if (bytes.length - length < more) {
            long wanted = Math.max(2L * bytes.length, (long) length + more);
            if (wanted > Integer.MAX_VALUE - 8) {
                throw AnnalsException.of("too-large", "request: expected at most 2 GiB, found more", (String) null);
            }
            bytes = Arrays.copyOf(bytes, (int) wanted);
        }
    }

    PackWriter u8(int number) {
        reserve(1);
        bytes[length++] = (byte) number;
        return this;
    }

    PackWriter u32(int number) {
        reserve(4);
        for (int shift = 0; shift < 32; shift += 8) {
            bytes[length++] = (byte) (number >> shift);
        }
        return this;
    }

    PackWriter i64(long number) {
        reserve(8);
        for (int shift = 0; shift < 64; shift += 8) {
            bytes[length++] = (byte) (number >> shift);
        }
        return this;
    }

    PackWriter blob(byte[] blob) {
        u32(blob.length);
        reserve(blob.length);
        System.arraycopy(blob, 0, bytes, length, blob.length);
        length += blob.length;
        return this;
    }

    PackWriter text(String text) {
        int units = text.length();
        reserve(units + 4);
        int start = length;
        length += 4;
        for (int index = 0; index < units; index++) {
            char unit = text.charAt(index);
            if (unit >= 0x80) {
                length = start;
                Utf8.check(text);
                return blob(text.getBytes(StandardCharsets.UTF_8));
            }
            bytes[length++] = (byte) unit;
        }
        int end = length;
        length = start;
        u32(units);
        length = end;
        return this;
    }

    PackWriter texts(Collection<String> texts) {
        u32(texts.size());
        texts.forEach(this::text);
        return this;
    }

    PackWriter properties(Map<String, Object> properties) {
        u32(properties.size());
        properties.forEach((name, value) -> text(name).value(value));
        return this;
    }

    /** A canonical value. */
    PackWriter value(Object value) {
        if (value instanceof String text) {
            return u8(5).text(text);
        }
        if (value instanceof Long number) {
            return u8(3).i64(number);
        }
        if (value instanceof Boolean flag) {
            return u8(flag ? 2 : 1);
        }
        if (value instanceof Double number) {
            return u8(4).i64(Double.doubleToRawLongBits(number));
        }
        if (value instanceof byte[] blob) {
            return u8(6).blob(blob);
        }
        if (value instanceof Instant instant) {
            return u8(7).i64(micros(instant));
        }
        if (value instanceof UUID uuid) {
            return u8(8).i64(Long.reverseBytes(uuid.getMostSignificantBits()))
                    .i64(Long.reverseBytes(uuid.getLeastSignificantBits()));
        }
        if (value instanceof List<?> list) {
            return u8(9).items(list);
        }
        if (value instanceof Set<?> set) {
            return u8(11).items(set);
        }
        if (value instanceof Map<?, ?> map) {
            u8(10).u32(map.size());
            map.forEach((name, item) -> text((String) name).value(item));
            return this;
        }
        return u8(12).text(Values.json(value).toString());
    }

    private PackWriter items(Collection<?> items) {
        u32(items.size());
        items.forEach(this::value);
        return this;
    }

    private static long micros(Instant instant) {
        try {
            return Math.addExact(Math.multiplyExact(instant.getEpochSecond(), 1_000_000L), instant.getNano() / 1_000);
        } catch (ArithmeticException error) {
            throw AnnalsException.of(
                    "invalid-argument", "instant " + instant + ": expected one of the years 0 to 9999", error);
        }
    }
}
