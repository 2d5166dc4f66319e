package dev.annals;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Every kind of value, there and back. */
class ValuesTest {
    private static Map<String, Object> everyKind() {
        Map<String, Object> all = new LinkedHashMap<>();
        all.put("boolean", true);
        all.put("no", false);
        all.put("least", Long.MIN_VALUE);
        all.put("most", Long.MAX_VALUE);
        all.put("float", 1.5);
        all.put("whole float", 33.0);
        all.put("small float", Double.MIN_VALUE);
        all.put("negative zero", -0.0);
        all.put("not a number", Double.NaN);
        all.put("infinite", Double.POSITIVE_INFINITY);
        all.put("minus infinite", Double.NEGATIVE_INFINITY);
        all.put("decimal", new BigDecimal("1.20"));
        all.put("long decimal", new BigDecimal("-1234567890123456789.012345678"));
        all.put("string", "Käse 🧀 \u0000 \" \\ \n <&> \u2028");
        all.put("empty", "");
        all.put("date", LocalDate.of(2025, 8, 9));
        all.put("timestamp", Instant.parse("2025-08-09T10:00:00.123456Z"));
        all.put("early", Instant.parse("1815-12-10T00:00:00.000001Z"));
        all.put("duration", Duration.ofDays(3).plusMinutes(5).plusMillis(250));
        all.put("negative", Duration.ofMillis(-93_784_005));
        all.put("uuid", UUID.fromString("6ba7b810-9dad-11d1-80b4-00c04fd430c8"));
        all.put("iri", new Iri("https://example.org/a"));
        all.put("word", Literal.inLanguage("chat", "fr"));
        all.put("year", Literal.ofType("1789", new Iri("http://www.w3.org/2001/XMLSchema#gYear")));
        all.put("list", List.of(1L, List.of(2L, "x"), Map.of("k", false), List.of()));
        all.put("map", Map.of("a", 1L, "b", Map.of("c", List.of(1.0))));
        all.put("odd map", Map.of("$x", 1L));
        all.put("set", Set.of(1L, 2L, "a", LocalDate.of(2025, 1, 1)));
        all.put("$odd name / \"", "x");
        return all;
    }

    @ParameterizedTest
    @EnumSource
    void everyKindReturnsAsItWas(Way way, @TempDir Path folder) {
        try (Way.Opened opened = way.open(folder)) {
            Repository repository = opened.repository();
            repository.transact(t -> t.create(NewEntity.of("t").id("v").setAll(everyKind())));
            try (Snapshot snapshot = repository.snapshot()) {
                assertEquals(everyKind(), snapshot.entity("v").orElseThrow().properties());
                Find<Entity> all = Find.entities("t");
                assertEquals(
                        everyKind(),
                        snapshot.find(all).findFirst().orElseThrow().properties());
                assertEquals(
                        everyKind(), snapshot.version(InstanceId.entity("v"), 1).properties());
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void bytesReturnAsTheyWere(Way way, @TempDir Path folder) {
        byte[] bytes = {0, 1, 2, -1, 127, -128};
        try (Way.Opened opened = way.open(folder)) {
            Repository repository = opened.repository();
            repository.transact(
                    t -> t.create(NewEntity.of("t").id("v").set("b", bytes).set("l", List.of(bytes))));
            try (Snapshot snapshot = repository.snapshot()) {
                Entity found = snapshot.entity("v").orElseThrow();
                assertArrayEquals(bytes, found.property("b", byte[].class).orElseThrow());
                assertArrayEquals(bytes, (byte[]) ((List<?>) found.property("l").orElseThrow()).get(0));
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void narrowNumbersAreWidened(Way way, @TempDir Path folder) {
        try (Way.Opened opened = way.open(folder)) {
            Repository repository = opened.repository();
            Map<String, Object> narrow = Map.of("i", 7, "s", (short) 7, "b", (byte) 7, "f", 0.5f);
            repository.transact(t -> t.create(NewEntity.of("t").id("v").setAll(narrow)));
            try (Snapshot snapshot = repository.snapshot()) {
                Map<String, Object> wide = Map.of("i", 7L, "s", 7L, "b", 7L, "f", 0.5);
                assertEquals(wide, snapshot.entity("v").orElseThrow().properties());
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void patchStepsChangeSingleValues(Way way, @TempDir Path folder) {
        try (Way.Opened opened = way.open(folder)) {
            Repository repository = opened.repository();
            repository.transact(
                    t -> t.create(NewEntity.of("t").id("v").set("a", 1).set("b", Set.of("x", "y"))));
            repository.transact(t -> t.update(Patch.of("v")
                    .set("c", Instant.EPOCH)
                    .unset("a")
                    .add("b", "z")
                    .remove("b", "x")));
            try (Snapshot snapshot = repository.snapshot()) {
                Map<String, Object> expected = Map.of("b", Set.of("y", "z"), "c", Instant.EPOCH);
                assertEquals(expected, snapshot.entity("v").orElseThrow().properties());
            }
            repository.transact(t -> t.update(Patch.of("v").clear().set("d", true)));
            try (Snapshot snapshot = repository.snapshot()) {
                assertEquals(
                        Map.of("d", true), snapshot.entity("v").orElseThrow().properties());
            }
        }
    }

    @Test
    void otherClassesAreNamed() {
        for (Object unfit : new Object[] {
            BigInteger.ONE,
            'c',
            LocalDateTime.MIN,
            new int[] {1},
            new Object(),
            List.of(new int[0]),
            Map.of(1, "a"),
            Map.of("a", Map.of("b", new Object())),
            (Collection<?>) new java.util.ArrayDeque<>(List.of(1))
        }) {
            AnnalsException error = assertThrows(
                    InvalidArgumentException.class, () -> NewEntity.of("t").set("size", unfit));
            assertEquals("invalid-argument", error.kind());
            assertTrue(error.getMessage().contains("property size"), error.getMessage());
            assertTrue(error.getMessage().contains("found "), error.getMessage());
        }
        assertThrows(InvalidArgumentException.class, () -> Patch.of("v").set("size", null));
        assertThrows(InvalidArgumentException.class, () -> Find.entities().equal("size", new Object()));
        assertThrows(InvalidArgumentException.class, () -> NewEntity.of("t").set("l", Arrays.asList(1, null)));
    }

    @Test
    void laterChangesOfACollectionDoNotCount() {
        Map<String, Object> inner = new HashMap<>(Map.of("a", 1L));
        NewEntity entity = NewEntity.of("t").set("m", inner);
        inner.put("b", 2L);
        assertEquals(Map.of("m", Map.of("a", 1L)), entity.properties());
    }

    @Test
    void aPropertyOfAnotherClassIsAnError() {
        Entity entity = new Entity("a", "t", Map.of("n", 1L), Header.Fixed.of(new com.google.gson.JsonObject()));
        assertEquals(1L, entity.property("n", Long.class).orElseThrow());
        assertTrue(entity.property("m", Long.class).isEmpty());
        assertThrows(InvalidArgumentException.class, () -> entity.property("n", String.class));
        assertThrows(
                UnsupportedOperationException.class, () -> entity.properties().put("n", 2L));
    }

    @Test
    void weeksAreRead() {
        assertEquals(Duration.ofDays(8), Durations.parse("P1W1D"));
        assertEquals(Duration.ofDays(-14), Durations.parse("-P2W"));
        assertEquals(Duration.ofHours(168).plusHours(2), Durations.parse("P1WT2H"));
    }
}
