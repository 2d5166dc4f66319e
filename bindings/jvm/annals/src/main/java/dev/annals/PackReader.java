package dev.annals;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/** Reads the packed form that the native library writes. */
final class PackReader {
    private static final VarHandle INT = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle LONG = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    private final byte[] bytes;
    private int at;

    PackReader(byte[] bytes) {
        this(bytes, 0);
    }

    PackReader(byte[] bytes, int at) {
        this.bytes = bytes;
        this.at = at;
    }

    int at() {
        return at;
    }

    int u8() {
        return bytes[at++] & 0xff;
    }

    int u32() {
        at += 4;
        return (int) INT.get(bytes, at - 4);
    }

    long i64() {
        at += 8;
        return (long) LONG.get(bytes, at - 8);
    }

    byte[] blob() {
        int length = u32();
        at += length;
        return Arrays.copyOfRange(bytes, at - length, at);
    }

    String text() {
        int length = u32();
        at += length;
        return new String(bytes, at - length, length, StandardCharsets.UTF_8);
    }

    /** A text that many instances share, such as the name of a type: each such text is made once. */
    String name() {
        int length = u32();
        at += length;
        return Names.of(bytes, at - length, length);
    }

    void skipText() {
        int length = u32();
        at += length;
    }

    byte[] rest() {
        return Arrays.copyOfRange(bytes, at, bytes.length);
    }

    Instant instant() {
        long micros = i64();
        return Instant.ofEpochSecond(Math.floorDiv(micros, 1_000_000L), Math.floorMod(micros, 1_000_000L) * 1_000L);
    }

    Map<String, Object> properties() {
        int count = u32();
        if (count == 0) {
            return Map.of();
        }
        String[] names = new String[count];
        Object[] values = new Object[count];
        for (int index = 0; index < count; index++) {
            names[index] = name();
            values[index] = value();
        }
        return new Fields(names, values);
    }

    Object value() {
        int tag = u8();
        return switch (tag) {
            case 1 -> false;
            case 2 -> true;
            case 3 -> i64();
            case 4 -> Double.longBitsToDouble(i64());
            case 5 -> text();
            case 6 -> blob();
            case 7 -> instant();
            case 8 -> new UUID(Long.reverseBytes(i64()), Long.reverseBytes(i64()));
            case 9 -> Collections.unmodifiableList(items());
            case 10 -> properties();
            case 11 -> Collections.unmodifiableSet(new LinkedHashSet<>(items()));
            case 12 -> Values.value(Json.parse(text()));
            default -> throw AnnalsException.of("newer-format", "value: unknown tag " + tag, (String) null);
        };
    }

    private List<Object> items() {
        int count = u32();
        List<Object> items = new ArrayList<>(Math.min(count, 1_024));
        for (int index = 0; index < count; index++) {
            items.add(value());
        }
        return items;
    }

    /** Reads an instance; the reader is then behind it. */
    Instance instance() {
        boolean isRelationship = u8() == 1;
        String id = text();
        String type = name();
        String from = isRelationship ? text() : "";
        String to = isRelationship ? text() : "";
        Map<String, Object> properties = properties();
        int length = u32();
        Header header = new Header.Packed(bytes, at, !isRelationship);
        at += length;
        return isRelationship
                ? new Relationship(id, type, from, to, properties, header)
                : new Entity(id, type, properties, header);
    }

    Stamp stamp() {
        return new Stamp(instant(), name());
    }

    Provenance provenance() {
        at += 2;
        int flags = (bytes[at - 2] & 0xff) | (bytes[at - 1] & 0xff) << 8;
        return flags == 0 ? Provenance.LOCAL : Provenance.of(flags, this);
    }

    List<String> texts() {
        int count = u32();
        List<String> texts = new ArrayList<>(Math.min(count, 1_024));
        for (int index = 0; index < count; index++) {
            texts.add(text());
        }
        return texts;
    }
}
