package dev.annals;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Input that nobody writes by hand gets a clear error, or works. */
class HostileInputTest {
    private static final String LONE = "a\ud800b";

    @ParameterizedTest
    @EnumSource
    void oddIdsAndNamesWork(Way way, @TempDir Path folder) {
        List<String> ids = List.of("a/b", "a//b/../c", "ä ö%2F?#&=+", "\"'\\", "😀", "x".repeat(255));
        try (Way.Opened opened = way.open(folder)) {
            Repository repository = opened.repository();
            repository.transact(t -> ids.forEach(
                    id -> t.create(NewEntity.of("t/" + id.codePointAt(0)).id(id).set(id, id))));
            repository.transact(t -> ids.forEach(
                    id -> t.create(NewRelationship.of("k", id, ids.get(0)).id(id))));
            try (Snapshot snapshot = repository.snapshot()) {
                for (String id : ids) {
                    assertEquals(
                            Map.of(id, id), snapshot.entity(id).orElseThrow().properties());
                    assertEquals(1, snapshot.history(id).count());
                    assertEquals(
                            ids.get(0),
                            snapshot.neighbors(id)
                                    .findFirst()
                                    .orElseThrow()
                                    .entity()
                                    .id());
                    assertTrue(snapshot.path(id, ids.get(0), Walk.all()).isPresent());
                }
                assertEquals(ids, List.copyOf(snapshot.entities(ids).keySet()));
                assertEquals(ids, List.copyOf(snapshot.relationships(ids).keySet()));
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void idsOutOfBoundsAreRefused(Way way, @TempDir Path folder) {
        try (Way.Opened opened = way.open(folder);
                Snapshot snapshot = opened.repository().snapshot()) {
            for (String unfit : List.of("", "x".repeat(256), "é".repeat(128), "x".repeat(2_000_000), LONE)) {
                assertThrows(InvalidArgumentException.class, () -> snapshot.entity(unfit));
                assertThrows(InvalidArgumentException.class, () -> snapshot.entities(List.of(unfit)));
                assertThrows(InvalidArgumentException.class, () -> snapshot.reach(unfit, Walk.all())
                        .toList());
                assertThrows(
                        InvalidArgumentException.class, () -> NewEntity.of("t").id(unfit));
                assertThrows(InvalidArgumentException.class, () -> NewRelationship.of("k", "a", unfit));
            }
            for (String unfit : List.of("a\nb", "\u0000", ".", "..")) {
                assertThrows(InvalidArgumentException.class, () -> opened.repository()
                        .transact(t -> t.create(NewEntity.of("t").id(unfit))));
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void longTextsWork(Way way, @TempDir Path folder) {
        String text = "é".repeat(1_000_000);
        try (Way.Opened opened = way.open(folder)) {
            Repository repository = opened.repository();
            repository.transact(t -> t.create(NewEntity.of("t").id("a").set("text", text)));
            try (Snapshot snapshot = repository.snapshot()) {
                assertEquals(
                        text,
                        snapshot.entity("a").orElseThrow().property("text").orElseThrow());
                AnnalsException error = assertThrows(
                        AnnalsException.class,
                        () -> snapshot.reach("a", Walk.all().type(text)).toList());
                assertTrue(
                        List.of("too-large", "not-found", "invalid-argument").contains(error.kind()), error.toString());
                Find<Entity> long2 = Find.entities().equal("text", text);
                assertEquals(1, snapshot.find(long2).count());
                Find<Entity> inWords = Find.entities().where("text = '" + text + "'");
                assertThrows(
                        TooLargeException.class, () -> snapshot.find(inWords).toList());
            }
            AnnalsException error = assertThrows(
                    AnnalsException.class,
                    () -> repository.transact(t -> t.create(NewEntity.of("t").set("text", "x".repeat(17 << 20)))));
            assertEquals("too-large", error.kind(), error.toString());
        }
    }

    @ParameterizedTest
    @EnumSource
    void deepValuesAreRefused(Way way, @TempDir Path folder) {
        Object deep = "leaf";
        for (int level = 0; level < 1_000; level++) {
            deep = Map.of("m", deep);
        }
        Object value = deep;
        assertThrows(TooLargeException.class, () -> NewEntity.of("t").set("deep", value));
        List<Object> circle = new ArrayList<>();
        circle.add(circle);
        assertThrows(TooLargeException.class, () -> NewEntity.of("t").set("circle", circle));
        try (Way.Opened opened = way.open(folder)) {
            Repository repository = opened.repository();
            assertThrows(
                    TooLargeException.class,
                    () -> repository.transact(t -> t.tree().put("/a", value)));
            Object fit = "leaf";
            for (int level = 0; level < Values.DEPTH_MAX; level++) {
                fit = List.of(fit);
            }
            Object deepest = fit;
            repository.transact(t -> t.create(NewEntity.of("t").id("fit").set("deep", deepest)));
            try (Snapshot snapshot = repository.snapshot()) {
                assertEquals(
                        deepest,
                        snapshot.entity("fit").orElseThrow().property("deep").orElseThrow());
            }
            String json = "[".repeat(100_000) + "]".repeat(100_000);
            assertThrows(InvalidArgumentException.class, () -> repository.transact(t -> t.operation(json)));
        }
    }

    @ParameterizedTest
    @EnumSource
    void loneSurrogatesAreRefused(Way way, @TempDir Path folder) {
        InvalidArgumentException named = assertThrows(
                InvalidArgumentException.class, () -> NewEntity.of("t").set("name", LONE));
        assertTrue(named.getMessage().contains("property name"), named.getMessage());
        assertTrue(named.getMessage().contains("U+D800"), named.getMessage());
        assertThrows(InvalidArgumentException.class, () -> NewEntity.of("t").set("l", List.of(LONE)));
        assertThrows(InvalidArgumentException.class, () -> NewEntity.of("t").set("m", Map.of(LONE, 1)));
        try (Way.Opened opened = way.open(folder)) {
            Repository repository = opened.repository();
            for (NewEntity unfit : List.of(NewEntity.of(LONE), NewEntity.of("t").set(LONE, 1))) {
                assertThrows(InvalidArgumentException.class, () -> repository.transact(t -> t.create(unfit)));
            }
            assertThrows(InvalidArgumentException.class, () -> repository.transact(t -> t.author(LONE)));
            try (Snapshot snapshot = repository.snapshot()) {
                Find<Entity> unfit = Find.entities().where("a = '" + LONE + "'");
                assertThrows(InvalidArgumentException.class, () -> snapshot.find(unfit)
                        .toList());
                assertThrows(
                        InvalidArgumentException.class, () -> snapshot.tree().get("/" + LONE));
            }
            try (Snapshot snapshot = repository.snapshot()) {
                assertEquals(0, snapshot.count(Find.entities()));
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void jsonThatDoesNotReadIsRefused(Way way, @TempDir Path folder) {
        try (Way.Opened opened = way.open(folder)) {
            for (String unfit :
                    List.of("", "{", "[]", "1", "{\"action\": 1}", "{\"a\": 1, \"a\": 2}", "{} {}", "{a: 1}")) {
                AnnalsException error = assertThrows(
                        InvalidArgumentException.class,
                        () -> opened.repository().transact(t -> t.operation(unfit)),
                        unfit);
                assertTrue(error.getMessage().length() > 30, error.getMessage());
            }
        }
    }
}
