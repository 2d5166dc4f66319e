package dev.annals;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Reads through snapshots: pages, times, many at once. */
class ReadsTest {
    /** A hub with spokes: more than two pages of them. */
    private static final int SPOKES = 600;

    private static String spoke(int number) {
        return "s%03d".formatted(number);
    }

    private static void fill(Repository repository) {
        repository.transact(t -> {
            t.author("ada").message("a wheel");
            t.create(NewEntity.of("hub").id("hub"));
            for (int number = 0; number < SPOKES; number++) {
                t.create(NewEntity.of("spoke").id(spoke(number)).set("number", number));
                t.create(NewRelationship.of("to", "hub", spoke(number))
                        .id("r" + number)
                        .set("number", number));
            }
        });
    }

    @ParameterizedTest
    @EnumSource
    void exchangeSendsAnyRequest(Way way, @TempDir Path folder) {
        try (Way.Opened opened = way.open(folder)) {
            Repository repository = opened.repository();
            String body = "{\"id\": \"a b\", \"type\": \"person\", \"properties\": {\"name\": \"Zoë\"}}";
            repository.exchange("POST", "/v1/entities", body);
            Answer read = repository.exchange("GET", "/v1/entities/a%20b", "");
            assertEquals(1, read.position().orElseThrow());
            assertTrue(read.json().contains("\"name\":\"Zoë\""), read.json());
            assertThrows(NotFoundException.class, () -> repository.exchange("GET", "/v1/entities/b", ""));
            assertThrows(AlreadyExistsException.class, () -> repository.exchange("POST", "/v1/entities", body));
        }
    }

    /** What the packed form and the JSON form say of an instance. */
    @ParameterizedTest
    @EnumSource
    void instancesHaveTheirProvenanceAndDeletedOnesAndProxiesAreKnown(Way way, @TempDir Path folder) {
        try (Way.Opened opened = way.open(folder)) {
            Repository repository = opened.repository();
            repository.exchange("PUT", "/v1/collection", "{\"collection\": \"here\"}");
            repository.exchange("POST", "/v1/transactions", KNOWN_OPERATIONS);
            try (Snapshot snapshot = repository.snapshot()) {
                Map<String, Instance> known =
                        snapshot.known(Kind.ENTITY, List.of("own", "copy", "gone", "proxy", "nowhere"));
                assertEquals(List.of("own", "copy", "gone", "proxy"), List.copyOf(known.keySet()));
                assertEquals(Provenance.LOCAL, known.get("own").provenance());
                assertEquals(
                        new Provenance(
                                "content-pack",
                                Optional.of("there"),
                                OptionalInt.of(7),
                                Optional.of("else"),
                                Optional.of("CC0"),
                                List.of("ada", "bob"),
                                Map.of("key", "5"),
                                Optional.of(Instant.parse("2026-01-01T00:00:00Z")),
                                Optional.of(Instant.parse("2027-01-01T00:00:00Z")),
                                Optional.empty(),
                                Optional.empty(),
                                Optional.empty(),
                                false),
                        known.get("copy").provenance());
                assertEquals(
                        new Stamp(Instant.parse("2025-01-01T00:00:00Z"), "zoe"),
                        known.get("copy").created());
                Classification marked =
                        ((Entity) known.get("own")).classifications().get("marked");
                assertEquals(Optional.of("copy"), marked.provenance().propagatedFrom());
                assertEquals("ada", marked.created().author());
                assertEquals(marked.created(), marked.updated());
                assertEquals(Map.of("level", 3L), marked.properties());
                assertTrue(known.get("gone").isDeleted());
                assertEquals(Optional.of("active"), known.get("gone").provenance().statusOnDelete());
                assertTrue(known.get("proxy").provenance().isProxy());
                for (Instance one : known.values()) {
                    assertEquals(Optional.of(one), snapshot.known(one.instanceId()));
                }
                assertEquals(Optional.empty(), snapshot.known(InstanceId.entity("nowhere")));
                Instance link = snapshot.known(InstanceId.relationship("link")).orElseThrow();
                assertTrue(link.isDeleted());
                assertEquals("copy", ((Relationship) link).to());
                assertEquals(
                        List.of(known.get("copy"), known.get("own")),
                        snapshot.find(Find.json("{\"kind\": \"entity\", \"orderBy\": [\"@id\"]}"))
                                .toList());
            }
        }
    }

    private static final String KNOWN_OPERATIONS =
            """
            {"author": "ada", "operations": [
              {"action": "save-copy", "kind": "entity", "id": "copy", "type": "t", "properties": {}, "home": "there",
               "provenance": "content-pack", "replicatedBy": "else", "license": "CC0", "maintainedBy": ["ada", "bob"],
               "mappings": {"key": "5"}, "effectiveFrom": "2026-01-01T00:00:00Z", "effectiveTo": "2027-01-01T00:00:00Z",
               "version": 7, "created": {"instant": "2025-01-01T00:00:00Z", "author": "zoe"},
               "updated": {"instant": "2025-01-02T00:00:00Z", "author": "zoe"}},
              {"action": "save-proxy", "kind": "entity", "id": "proxy", "type": "t", "properties": {}, "home": "there"},
              {"action": "create", "kind": "entity", "id": "own", "type": "t", "properties": {}, "classifications": [
                {"name": "marked", "properties": {"level": 3}, "propagatedFrom": "copy"}]},
              {"action": "create", "kind": "entity", "id": "gone", "type": "t", "properties": {}},
              {"action": "create", "kind": "relationship", "id": "link", "type": "r", "from": "gone", "to": "copy",
               "properties": {}},
              {"action": "delete", "kind": "entity", "id": "gone"}]}
            """;

    @ParameterizedTest
    @EnumSource
    void streamsReadPageByPage(Way way, @TempDir Path folder) {
        List<String> all = IntStream.range(0, SPOKES).mapToObj(ReadsTest::spoke).toList();
        try (Way.Opened opened = way.open(folder)) {
            Repository repository = opened.repository();
            fill(repository);
            try (Snapshot snapshot = repository.snapshot()) {
                Find<Entity> spokes = Find.entities("spoke").orderBy("number");
                assertEquals(all, snapshot.find(spokes).map(Entity::id).toList());
                assertEquals(
                        all.subList(0, 300),
                        snapshot.find(spokes.limit(300)).map(Entity::id).toList());
                assertEquals(
                        all.subList(10, SPOKES),
                        snapshot.find(spokes.offset(10)).map(Entity::id).toList());
                assertEquals(
                        all.subList(590, SPOKES),
                        snapshot.find(spokes.atLeast("number", 590))
                                .map(Entity::id)
                                .toList());
                assertEquals(
                        SPOKES,
                        snapshot.find(Find.relationships("to")).distinct().count());
                assertEquals(SPOKES, snapshot.count(Find.relationships("to")));
                assertEquals(new Counts(SPOKES + 1, SPOKES, 0), snapshot.counts());
                Set<String> expected = new HashSet<>(all);
                assertEquals(expected, ids(snapshot.neighbors("hub").map(Neighbor::entity)));
                assertEquals(expected, ids(snapshot.reach("hub", Walk.out()).map(Reached::entity)));
                assertEquals(expected, ids(snapshot.related("hub", Walk.both()).map(Reached::entity)));
                assertEquals(
                        SPOKES,
                        snapshot.relationships("hub", Links.both()).distinct().count());
                assertEquals(
                        SPOKES - 5,
                        snapshot.relationships(
                                        "hub", Links.out().orderBy("number").skip(5))
                                .count());
                assertEquals(
                        SPOKES + 1,
                        snapshot.neighborhood("hub", Walk.both()).entities().size());
                assertEquals(
                        SPOKES,
                        snapshot.neighborhood("hub", Walk.both())
                                .relationships()
                                .size());
                assertEquals(SPOKES, snapshot.degree("hub", Links.out()));
                assertEquals(2 * SPOKES + 1, snapshot.changes(0, 1).count());
                assertEquals(
                        300,
                        snapshot.groups("hub", "number", Walk.out().limit(300))
                                .groups()
                                .size());
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void aWholeSearchIsAText(Way way, @TempDir Path folder) {
        try (Way.Opened opened = way.open(folder)) {
            fill(opened.repository());
            try (Snapshot snapshot = opened.repository().snapshot()) {
                assertEquals(
                        List.of("s599", "s598"),
                        snapshot.find(Find.text("spoke where number > 500 order by number desc").limit(2))
                                .map(Entity::id)
                                .toList());
                assertEquals(3, snapshot.count(Find.textOfRelationships("`to` where number < 3")));
                Find<Entity> unread = Find.text("spoke wehre");
                assertThrows(InvalidExpressionException.class, () -> snapshot.count(unread));
            }
        }
    }

    private static Set<String> ids(Stream<Entity> entities) {
        return entities.map(Entity::id).collect(Collectors.toSet());
    }

    @ParameterizedTest
    @EnumSource
    void aStreamReadsOnlyWhatIsAskedFor(Way way, @TempDir Path folder) {
        try (Way.Opened opened = way.open(folder)) {
            fill(opened.repository());
            Snapshot snapshot = opened.repository().snapshot();
            var items = snapshot.find(Find.entities("spoke")).iterator();
            for (int count = 0; count < Pages.SIZE; count++) {
                items.next();
            }
            snapshot.close();
            assertThrows(ClosedException.class, items::next);
        }
    }

    @ParameterizedTest
    @EnumSource
    void manyAreReadAtOnce(Way way, @TempDir Path folder) {
        try (Way.Opened opened = way.open(folder)) {
            Repository repository = opened.repository();
            fill(repository);
            repository.transact(t -> t.delete(InstanceId.entity("s007")));
            List<String> asked = new ArrayList<>(
                    IntStream.range(0, SPOKES).mapToObj(ReadsTest::spoke).toList());
            asked.add("nobody");
            try (Snapshot snapshot = repository.snapshot()) {
                Map<String, Entity> found = snapshot.entities(asked);
                assertEquals(SPOKES - 1, found.size());
                assertFalse(found.containsKey("s007"));
                assertEquals(5L, found.get("s005").property("number").orElseThrow());
                Map<String, List<Neighbor>> neighbors = snapshot.neighbors(
                        List.of("hub", "s001", "nobody"), Links.both().type("to"));
                assertEquals(List.of("hub", "s001", "nobody"), List.copyOf(neighbors.keySet()));
                assertEquals(SPOKES - 1, neighbors.get("hub").size());
                assertEquals(Direction.IN, neighbors.get("s001").get(0).direction());
                assertEquals("hub", neighbors.get("s001").get(0).entity().id());
                assertEquals(List.of(), neighbors.get("nobody"));
                List<String> repeated = List.of("hub", "s001", "hub");
                Map<String, List<Neighbor>> twice = snapshot.neighbors(repeated, Links.out());
                assertEquals(List.of("hub", "s001"), List.copyOf(twice.keySet()));
                assertEquals(SPOKES - 1, twice.get("hub").size());
                assertEquals(
                        twice.get("hub").stream().map(Neighbor::entity).toList(),
                        snapshot.neighborEntities(repeated, Links.out()).get("hub"));
                assertEquals(
                        twice.get("hub").stream().map(Neighbor::relationship).toList(),
                        snapshot.neighborRelationships(repeated, Links.out()).get("hub"));
                assertEquals(List.of(), snapshot.neighborEntities(repeated, Links.out()).get("s001"));
                assertEquals(
                        3,
                        snapshot.neighbors(List.of("hub"), Links.out().limit(3))
                                .get("hub")
                                .size());
                assertEquals(
                        0,
                        snapshot.neighbors(List.of("hub"), Links.out().type("from"))
                                .get("hub")
                                .size());
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void pagesOfNeighboursAreThoseOfTheDoor(Way way, @TempDir Path folder) {
        try (Way.Opened opened = way.open(folder)) {
            Repository repository = opened.repository();
            repository.define(List.of(
                    TypeDefinition.relationship("to"),
                    TypeDefinition.relationship("near").supertype("to")));
            fill(repository);
            repository.transact(t -> {
                t.create(NewRelationship.of("near", "hub", "s000").id("nearby"));
                t.delete(InstanceId.entity("s007"));
            });
            try (Snapshot snapshot = repository.snapshot()) {
                Links all = Links.out().type("to");
                assertEquals(SPOKES, snapshot.neighbors("hub", all).count());
                assertEquals(List.of("nearby"), snapshot.neighbors("hub", Links.out().type("near"))
                        .map(found -> found.relationship().id())
                        .toList());
                Page<Neighbor> first = snapshot.neighborsPage("hub", Links.all());
                assertEquals(100, first.items().size());
                Page<Neighbor> second = snapshot.neighborsPage("hub", all.limit(2).after(first.next().orElseThrow()));
                assertEquals(
                        snapshot.neighbors("hub", all).skip(100).limit(2).toList(), second.items());
                assertEquals(Direction.OUT, first.items().get(0).direction());
                Neighbor back = snapshot.neighborsPage("s001", Links.in()).items().get(0);
                assertEquals(Direction.IN, back.direction());
                assertEquals("hub", back.entity().id());
                assertEquals(Optional.empty(), snapshot.neighborsPage("s001", Links.in()).next());
                assertThrows(NotFoundException.class, () -> snapshot.neighborsPage("nobody", all));
                assertThrows(NotFoundException.class, () -> snapshot.neighborsPage("s007", all));
                assertThrows(NotFoundException.class, () -> snapshot.neighborsPage("hub", Links.out().type("from")));
                for (Links refused : List.of(
                        Links.both(),
                        all.limit(0),
                        all.after("r7777"),
                        all.after(""),
                        all.orderBy("number"),
                        Links.out().type("to", "near"))) {
                    String kind = assertThrows(AnnalsException.class, () -> snapshot.neighborsPage("hub", refused))
                            .kind();
                    assertTrue(kind.equals("invalid-argument") || kind.equals("invalid-page"), kind);
                }
            }
            try (Snapshot before = repository.asOf(2)) {
                assertEquals(SPOKES, before.neighbors("hub").count());
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void aSnapshotStaysAtItsPosition(Way way, @TempDir Path folder) throws InterruptedException {
        try (Way.Opened opened = way.open(folder)) {
            Repository repository = opened.repository();
            Receipt first =
                    repository.transact(t -> t.create(NewEntity.of("t").id("a").set("n", 1)));
            try (Snapshot before = repository.snapshot()) {
                Thread.sleep(5);
                Instant between = Instant.now();
                Thread.sleep(5);
                Receipt second = repository.transact(t -> t.update(Patch.of("a").set("n", 2)));
                repository.transact(t -> t.create(NewEntity.of("t").id("b")));
                assertEquals(first.position(), before.position().orElseThrow());
                assertEquals(1L, before.entity("a").orElseThrow().property("n").orElseThrow());
                assertEquals(1, before.find(Find.entities("t")).count());
                assertEquals(1, before.count(Find.entities("t")));
                assertEquals(1, before.history("a").count());
                try (Snapshot then = repository.asOf(between);
                        Snapshot at = repository.asOf(second.position());
                        Snapshot now = repository.asOf(AsOf.NOW)) {
                    assertEquals(1L, then.position().orElseThrow());
                    assertEquals(
                            1L, then.entity("a").orElseThrow().property("n").orElseThrow());
                    assertEquals(2L, at.entity("a").orElseThrow().property("n").orElseThrow());
                    assertTrue(at.entity("b").isEmpty());
                    assertEquals(3L, now.position().orElseThrow());
                    assertEquals(
                            List.of(2, 1),
                            now.history("a").map(Version::version).toList());
                    Difference difference = now.difference(InstanceId.entity("a"), 1, 2);
                    assertEquals(1L, difference.properties().get("n").before().orElseThrow());
                }
            }
        }
    }

    @Test
    void aStateOfLastMonthIsTakenOverAtItsTime(@TempDir Path folder) throws Exception {
        Instant lastMonth = Instant.parse("2025-03-01T00:00:00Z");
        try (Repository repository = Annals.open(folder)) {
            repository.transact(t -> t.committedAt(lastMonth).create(NewEntity.of("person").id("ada").set("age", 35)));
            repository.transact(t -> t.update(Patch.of("ada").set("age", 36)));
            try (Snapshot then = repository.asOf(lastMonth.plusSeconds(1))) {
                assertEquals(35L, then.entity("ada").orElseThrow().property("age").orElseThrow());
            }
            AnnalsException before = assertThrows(AnnalsException.class, () -> repository.transact(
                    t -> t.committedAt(lastMonth).create(NewEntity.of("person"))));
            assertEquals("invalid-argument", before.kind());
            try (Transaction begun = repository.begin()) {
                begun.create(NewEntity.of("person"));
                assertEquals("invalid-argument",
                        assertThrows(AnnalsException.class, () -> begun.committedAt(lastMonth)).kind());
            }
        }
        try (Way.Opened opened = Way.CONNECTION.open(folder.resolve("served"))) {
            AnnalsException served = assertThrows(AnnalsException.class, () -> opened.repository().transact(
                    t -> t.committedAt(lastMonth).create(NewEntity.of("person"))));
            assertTrue(served.getMessage().contains("embedded"), served.getMessage());
        }
    }

    @ParameterizedTest
    @EnumSource
    void validTimeIsReadBack(Way way, @TempDir Path folder) {
        Instant march = Instant.parse("2025-03-01T00:00:00Z");
        try (Way.Opened opened = way.open(folder)) {
            Repository repository = opened.repository();
            repository.transact(t -> t.validFrom(Instant.parse("2025-01-01T00:00:00Z"))
                    .create(NewEntity.of("person").id("ada").set("city", "London")));
            repository.transact(t -> t.validFrom(Instant.parse("2025-04-01T00:00:00Z"))
                    .update(Patch.of("ada").set("city", "Paris")));
            repository.transact(t -> t.validFrom(Instant.parse("2025-02-01T00:00:00Z"))
                    .update(Patch.of("ada").set("city", "Bath")));
            assertEquals("Paris", city(repository, AsOf.NOW));
            assertEquals("Bath", city(repository, AsOf.valid(march)));
            assertEquals("London", city(repository, AsOf.position(2).andValid(march)));
            try (Snapshot snapshot = repository.snapshot()) {
                Entity ada = snapshot.entity("ada").orElseThrow();
                assertEquals(List.of(2, 3), List.of(ada.version(), ada.latestVersion()));
                assertEquals(Instant.parse("2025-04-01T00:00:00Z"), ada.validFrom());
            }
        }
    }

    private static Object city(Repository repository, AsOf time) {
        try (Snapshot snapshot = repository.asOf(time)) {
            return snapshot.entity("ada").orElseThrow().property("city").orElseThrow();
        }
    }

    @ParameterizedTest
    @EnumSource
    void typesAreDeclaredAndRead(Way way, @TempDir Path folder) {
        TypeDefinition person = TypeDefinition.entity("person")
                .description("a human")
                .attribute(Attribute.of("name", ValueType.STRING).required())
                .attribute(Attribute.of("email", ValueType.STRING).unique())
                .attribute(Attribute.of("score", ValueType.DECIMAL).defaultValue(new java.math.BigDecimal("1.50")))
                .closed();
        TypeDefinition knows =
                TypeDefinition.relationship("knows").from("person", true).to("person", true);
        try (Way.Opened opened = way.open(folder)) {
            Repository repository = opened.repository();
            repository.define(
                    List.of(person, knows, TypeDefinition.enumeration("Colour").element(0, "red")));
            assertThrows(
                    InvalidPropertyException.class,
                    () -> repository.transact(
                            t -> t.create(NewEntity.of("person").set("age", 1).set("name", "x"))));
            repository.transact(t ->
                    t.create(NewEntity.of("person").id("ada").set("name", "Ada").set("email", "a")));
            assertThrows(
                    NotUniqueException.class,
                    () -> repository.transact(t ->
                            t.create(NewEntity.of("person").set("name", "b").set("email", "a"))));
            try (Snapshot snapshot = repository.snapshot()) {
                TypeDefinition found = snapshot.type(TypeKind.ENTITY, "person").orElseThrow();
                assertTrue(found.isClosed());
                assertEquals(
                        List.of("name", "email", "score"),
                        found.attributes().stream().map(Attribute::name).toList());
                assertTrue(found.attributes().get(1).isUnique());
                assertEquals("equal", snapshot.verify(person).outcome());
                assertEquals(3, snapshot.types().size());
                assertTrue(snapshot.type(TypeKind.ENTITY, "robot").isEmpty());
                assertEquals(
                        new java.math.BigDecimal("1.50"),
                        snapshot.entity("ada").orElseThrow().property("score").orElseThrow());
                assertThrows(NotFoundException.class, () -> snapshot.find(Find.entities("robot"))
                        .toList());
            }
        }
    }
}
