package dev.annals;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Transactions, candidates, and threads. */
class TransactionsTest {
    @Test
    void readsSeeOwnWrites(@TempDir Path folder) {
        try (Way.Opened opened = Way.PROCESS.open(folder);
                Transaction transaction = opened.repository().begin()) {
            String ada = transaction.create(NewEntity.of("person").set("name", "Ada"));
            String bob = transaction.create(NewEntity.of("person").set("name", "Bob"));
            String knows =
                    transaction.create(NewRelationship.of("knows", ada, bob).set("since", 1833));
            assertEquals(
                    "Ada",
                    transaction.entity(ada).orElseThrow().property("name").orElseThrow());
            assertEquals(bob, transaction.relationship(knows).orElseThrow().to());
            assertEquals(2, transaction.count(Find.entities("person")));
            assertEquals(2, transaction.find(Find.entities("person")).count());
            assertEquals(
                    bob,
                    transaction
                            .neighbors(List.of(ada), Links.out())
                            .get(ada)
                            .get(0)
                            .entity()
                            .id());
            transaction.delete(InstanceId.entity(bob));
            assertTrue(transaction.entity(bob).isEmpty());
            assertTrue(transaction.relationship(knows).isEmpty());
            assertEquals(1, transaction.commit().position());
        }
    }

    @ParameterizedTest
    @EnumSource
    void everyMethodMakesItsChange(Way way, @TempDir Path folder) {
        InstanceId a = InstanceId.entity("a");
        try (Way.Opened opened = way.open(folder)) {
            Repository repository = opened.repository();
            Receipt receipt = repository.transact(t -> {
                t.author("ada ä").message("why\nnot");
                t.create(NewEntity.of("t").id("a").set("n", 1).status("draft").classified("c", Map.of("x", 1)));
                t.create(NewEntity.of("t").id("b"));
                t.create(NewRelationship.of("k", "a", "b").id("r"));
                t.classify("b", "c", Map.of("level", 5));
                t.define(TypeDefinition.entity("u"));
            });
            assertEquals(List.of("a", "b", "r"), receipt.ids().subList(0, 3));
            repository.transact(t -> {
                t.replace(a, Map.of("m", 2));
                t.setStatus(a, "active");
                t.retype(a, "u");
                t.reclassify("c", Patch.of("b").set("level", 6));
                t.relinkTo("r", "a");
            });
            repository.transact(t -> t.reidentify(a, "z"));
            repository.transact(t -> t.upsert(NewEntity.of("t").id("b").set("up", true)));
            try (Snapshot snapshot = repository.snapshot()) {
                Entity z = snapshot.entity("z").orElseThrow();
                assertEquals(Map.of("m", 2L), z.properties());
                assertEquals("u", z.type());
                assertEquals("active", z.status());
                assertEquals(Set.of("c"), z.classifications().keySet());
                assertEquals("ada ä", z.created().author());
                assertEquals("z", snapshot.relationship("r").orElseThrow().to());
                Entity b = snapshot.entity("b").orElseThrow();
                assertEquals(Map.of("level", 6L), b.classifications().get("c").properties());
                assertEquals(Map.of("up", true), b.properties());
                assertEquals(
                        "a",
                        z.provenance().reidentifiedFrom().orElseThrow());
                assertEquals(
                        "why\nnot",
                        snapshot.history("b").reduce((x, y) -> y).orElseThrow().message());
            }
            repository.transact(t -> t.declassify("b", "c"));
            repository.transact(t -> t.undo(InstanceId.entity("b")));
            repository.transact(t -> t.delete(InstanceId.entity("z")));
            repository.transact(t -> t.restoreAlone("z"));
            try (Snapshot snapshot = repository.snapshot()) {
                assertEquals(
                        Set.of("c"),
                        snapshot.entity("b").orElseThrow().classifications().keySet());
                assertTrue(snapshot.relationship("r").isEmpty());
                assertEquals(
                        1, snapshot.find(Find.relationships().onlyDeleted()).count());
                assertTrue(snapshot.find(Find.relationships().withDeleted())
                        .findFirst()
                        .orElseThrow()
                        .isDeleted());
            }
            repository.transact(t -> t.purge(InstanceId.entity("z")));
            try (Snapshot snapshot = repository.snapshot()) {
                assertThrows(
                        NotFoundException.class, () -> snapshot.history("z").toList());
            }
            assertTrue(repository.compact().changes() > 0);
        }
    }

    @ParameterizedTest
    @EnumSource
    void aDryRunWritesNothing(Way way, @TempDir Path folder) {
        try (Way.Opened opened = way.open(folder)) {
            Repository repository = opened.repository();
            DryRun run = repository.dryRun(t -> t.create(NewEntity.of("t").id("a")));
            assertEquals(new DryRun(List.of("a"), 1, 0), run);
            assertThrows(NotFoundException.class, () -> repository.dryRun(t -> t.delete(InstanceId.entity("b"))));
            try (Snapshot snapshot = repository.snapshot()) {
                assertEquals(0, snapshot.position().orElseThrow());
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void recordsAreTakenBack(Way way, @TempDir Path folder) {
        try (Way.Opened opened = way.open(folder)) {
            Repository repository = opened.repository();
            repository.transact(t -> t.create(NewEntity.of("t").id("a").set("n", 1)));
            repository.transact(t -> t.update(Patch.of("a").set("n", 2)));
            repository.transact(t -> t.update(Patch.of("a").set("n", 3)));
            assertThrows(PreconditionFailedException.class, () -> repository.takeBack(2));
            repository.takeBack(2, 3);
            try (Snapshot snapshot = repository.snapshot()) {
                assertEquals(
                        1L, snapshot.entity("a").orElseThrow().property("n").orElseThrow());
            }
            repository.takeBack(1, 1, Keep.MINE);
            try (Snapshot snapshot = repository.snapshot()) {
                assertTrue(snapshot.entity("a").isEmpty());
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void aCandidateShowsItsEditsAndCommitsThem(Way way, @TempDir Path folder) {
        try (Way.Opened opened = way.open(folder)) {
            Repository repository = opened.repository();
            repository.transact(t -> t.create(NewEntity.of("t").id("a").set("n", 1)));
            Candidate candidate = repository.openCandidate("c 1 ä");
            candidate.edit(t -> {
                t.update(Patch.of("a").set("n", 2));
                t.create(NewEntity.of("t").id("b"));
            });
            assertEquals(
                    List.of("c 1 ä"),
                    repository.candidates().stream().map(Candidate.State::name).toList());
            assertEquals(2, candidate.state().changes());
            assertEquals(
                    List.of("update", "create"),
                    candidate.edits().map(LogRecord.Change::action).toList());
            try (Snapshot present = repository.snapshot();
                    Snapshot planned = candidate.snapshot()) {
                assertEquals(1L, present.entity("a").orElseThrow().property("n").orElseThrow());
                assertEquals(2L, planned.entity("a").orElseThrow().property("n").orElseThrow());
                assertEquals(2, planned.find(Find.entities("t")).count());
                assertEquals(2, planned.count(Find.entities("t")));
                assertEquals(2, planned.entities(List.of("a", "b", "it's \\")).size());
                assertEquals(1, planned.count(Find.entities("t").where("n = 2")));
                assertThrows(
                        InvalidArgumentException.class,
                        () -> planned.count(Find.entities("t").equal("n", 2)));
            }
            candidate.check();
            repository.transact(t -> t.update(Patch.of("a").set("n", 7)));
            assertEquals(
                    "a", candidate.conflicts().get(0).instance().orElseThrow().id());
            assertThrows(AnnalsException.class, candidate::commit);
            candidate.rebase(Keep.MINE);
            candidate.commit();
            try (Snapshot snapshot = repository.snapshot()) {
                assertEquals(
                        2L, snapshot.entity("a").orElseThrow().property("n").orElseThrow());
            }
            assertThrows(NotFoundException.class, () -> repository.candidate("c 1 ä"));
            repository.openCandidate("c2").discard();
            assertEquals(List.of(), repository.candidates());
        }
    }

    @Test
    void transactRepeatsConflicts(@TempDir Path folder) {
        try (Way.Opened opened = Way.PROCESS.open(folder)) {
            Repository repository = opened.repository();
            repository.transact(t -> t.create(NewEntity.of("t").id("a").set("n", 0)));
            AtomicInteger attempts = new AtomicInteger();
            long result = repository.transactAndGet(t -> {
                long n = t.entity("a").orElseThrow().property("n", Long.class).orElseThrow();
                if (attempts.incrementAndGet() < 3) {
                    repository.transact(other -> other.update(Patch.of("a").set("n", n + 10)));
                }
                t.update(Patch.of("a").set("n", n + 1));
                return n + 1;
            });
            assertEquals(3, attempts.get());
            assertEquals(21, result);
            AtomicInteger endless = new AtomicInteger();
            assertThrows(
                    ConflictException.class,
                    () -> repository.transact(t -> {
                        t.update(Patch.of("a").set("n", -1));
                        int n = 1_000 + endless.incrementAndGet();
                        repository.transact(other -> other.update(Patch.of("a").set("n", n)));
                    }));
            assertEquals(100, endless.get());
        }
    }

    @Test
    void aSerializableTransactionLosesAgainstAWriteOfWhatItRead(@TempDir Path folder) {
        try (Way.Opened opened = Way.PROCESS.open(folder)) {
            Repository repository = opened.repository();
            repository.transact(t -> t.create(NewEntity.of("t").id("a")));
            try (Transaction transaction = repository.begin(Isolation.SERIALIZABLE)) {
                assertTrue(transaction.entity("a").isPresent());
                repository.transact(t -> t.update(Patch.of("a").set("n", 1)));
                transaction.create(NewEntity.of("t").id("b"));
                assertThrows(ConflictException.class, transaction::commit);
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void twoThreadsWriteAndRead(Way way, @TempDir Path folder) throws InterruptedException, ExecutionException {
        try (Way.Opened opened = way.open(folder)) {
            Repository repository = opened.repository();
            repository.transact(t -> t.create(NewEntity.of("t").id("shared").set("n", 0)));
            ExecutorService threads = Executors.newFixedThreadPool(2);
            try (Snapshot empty = repository.snapshot()) {
                List<Future<?>> done = IntStream.range(0, 2)
                        .<Future<?>>mapToObj(thread -> threads.submit(() -> {
                            for (int number = 0; number < 50; number++) {
                                String id = thread + "-" + number;
                                repository.transact(t -> {
                                    t.create(NewEntity.of("t").id(id));
                                    t.update(Patch.of("shared").set("n", id));
                                });
                                assertEquals(1, empty.count(Find.entities("t")));
                                try (Snapshot snapshot = repository.snapshot()) {
                                    assertTrue(snapshot.entity(id).isPresent());
                                }
                            }
                        }))
                        .toList();
                for (Future<?> one : done) {
                    one.get();
                }
            } finally {
                threads.shutdownNow();
            }
            try (Snapshot snapshot = repository.snapshot()) {
                assertEquals(101, snapshot.find(Find.entities("t")).count());
                assertEquals(101, snapshot.history("shared").count());
            }
        }
    }
}
