package dev.annals;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Writers that state what they read, and results that say what happened. */
class RevisionsTest {
    private static final InstanceId A = InstanceId.entity("a");

    private static Entity read(Repository repository, String id) {
        try (Snapshot snapshot = repository.snapshot()) {
            return snapshot.entity(id).orElseThrow();
        }
    }

    /** The log that a revision names. */
    private static String log(String revision) {
        assertTrue(revision.matches("[0-9.]+@[0-9a-f]{8}"), revision);
        return revision.substring(revision.indexOf('@'));
    }

    private static void create(Repository repository, String owner) {
        repository.transact(t -> t.create(NewEntity.of("account").id("a").set("owner", owner)));
    }

    // An id is a name that a later instance may get after a purge. A writer that had read version 1 of the first instance
    // changed version 1 of the second one.
    @ParameterizedTest
    @EnumSource
    void aWriterWithARevisionNeverChangesALaterInstanceWithTheSameId(Way way, @TempDir Path folder) {
        try (Way.Opened opened = way.open(folder)) {
            Repository repository = opened.repository();
            create(repository, "ada");
            String before = read(repository, "a").revision().orElseThrow();
            repository.transact(t -> t.purge(A));
            create(repository, "bob");
            String after = read(repository, "a").revision().orElseThrow();
            String log = log(before);
            assertEquals(List.of("1.1" + log, "3.1" + log), List.of(before, after));
            List.<java.util.function.Consumer<Transaction>>of(
                            t -> t.update(Patch.of(A).set("owner", "eve").ifRevision(before)),
                            t -> {
                                t.expect(A, before);
                                t.delete(A);
                            },
                            t -> t.operation("{\"action\": \"delete\", \"kind\": \"entity\", \"id\": \"a\", \"ifVersion\": \""
                                    + before + "\"}"))
                    .forEach(work -> {
                        AnnalsException error =
                                assertThrows(PreconditionFailedException.class, () -> repository.transact(work));
                        assertEquals(after, error.details().get("revision"));
                    });
            assertEquals(Optional.of("bob"), read(repository, "a").property("owner"));
            repository.transact(t -> t.update(Patch.of(A).set("owner", "eve").ifRevision(after)));
            assertEquals(Optional.of("3.2" + log), read(repository, "a").revision());
        }
    }

    @ParameterizedTest
    @EnumSource
    void everyReadOfOneSaysItsRevision(Way way, @TempDir Path folder) {
        try (Way.Opened opened = way.open(folder)) {
            Repository repository = opened.repository();
            repository.transact(t -> {
                t.create(NewEntity.of("t").id("a"));
                t.create(NewRelationship.of("k", "a", "a").id("r"));
            });
            repository.transact(t -> t.update(Patch.of("a").set("n", 1)));
            try (Snapshot now = repository.snapshot();
                    Snapshot then = repository.asOf(1)) {
                String log = log(now.entity("a").orElseThrow().revision().orElseThrow());
                assertEquals(Optional.of("1.2" + log), now.entity("a").orElseThrow().revision());
                assertEquals(Optional.of("1.1" + log), then.entity("a").orElseThrow().revision());
                assertEquals(Optional.of("1.1" + log), now.relationship("r").orElseThrow().revision());
                assertEquals(Optional.of("1.2" + log), now.known(A).orElseThrow().revision());
                // A page of a search over a connection has no tags.
                assertEquals(
                        way == Way.PROCESS ? Optional.of("1.2" + log) : Optional.empty(),
                        now.find(Find.entities("t")).findFirst().orElseThrow().revision());
            }
            Candidate candidate = repository.openCandidate("c");
            String known = read(repository, "a").revision().orElseThrow();
            candidate.edit(t -> t.update(Patch.of("a").set("n", 2).ifRevision(known)));
            try (Snapshot planned = candidate.snapshot()) {
                String revision = planned.entity("a").orElseThrow().revision().orElseThrow();
                assertNotEquals("1.3" + log(known), revision);
                candidate.edit(t -> t.update(Patch.of("a").set("n", 3).ifRevision(revision)));
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void bothEndsChangeInOneVersion(Way way, @TempDir Path folder) {
        try (Way.Opened opened = way.open(folder)) {
            Repository repository = opened.repository();
            repository.transact(t -> {
                List.of("a", "b", "c", "d").forEach(id -> t.create(NewEntity.of("t").id(id)));
                t.create(NewRelationship.of("k", "a", "b").id("r"));
            });
            repository.transact(t -> t.relink("r", "c", "d"));
            try (Snapshot now = repository.snapshot()) {
                Relationship r = now.relationship("r").orElseThrow();
                assertEquals(List.of("c", "d", 2), List.of(r.from(), r.to(), r.version()));
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void aRebaseSaysWhichEditsItDropped(Way way, @TempDir Path folder) {
        try (Way.Opened opened = way.open(folder)) {
            Repository repository = opened.repository();
            create(repository, "ada");
            Candidate candidate = repository.openCandidate("c");
            candidate.edit(t -> t.update(Patch.of(A).set("owner", "mine")));
            repository.transact(t -> t.update(Patch.of(A).set("owner", "theirs")));
            assertEquals(
                    List.of(A),
                    candidate.rebase(Keep.THEIRS).stream()
                            .map(one -> one.instance().orElseThrow())
                            .toList());
            assertEquals(0, candidate.state().changes());
            assertEquals(List.of(), candidate.rebase(Keep.THEIRS));
        }
    }

    @ParameterizedTest
    @EnumSource
    void aTakeBackSaysWhatStays(Way way, @TempDir Path folder) {
        try (Way.Opened opened = way.open(folder)) {
            Repository repository = opened.repository();
            create(repository, "ada");
            long position = repository
                    .transact(t -> t.update(Patch.of(A).set("owner", "bob")))
                    .position();
            repository.transact(t -> t.update(Patch.of(A).set("owner", "eve")));
            TakenBack taken = repository.takeBack(position, position, Keep.THEIRS);
            assertEquals(1, taken.staysCount());
            assertEquals(A, taken.stays().get(0).instance());
            assertTrue(!taken.stays().get(0).detail().isEmpty());

            Candidate candidate = repository.openCandidate("c");
            candidate.edit(t -> t.update(Patch.of(A).set("owner", "planned")));
            candidate.commitToConfirm(java.time.Duration.ofMinutes(10));
            repository.transact(t -> t.update(Patch.of(A).set("owner", "later")));
            assertThrows(PreconditionFailedException.class, candidate::takeBack);
            assertEquals(1, candidate.takeBack(Keep.THEIRS).staysCount());
            assertEquals(Optional.of("later"), read(repository, "a").property("owner"));
        }
    }

    @Test
    void aBudgetOfMemoryIsInForce(@TempDir Path folder) {
        Way.useBuiltLibrary();
        try (Repository repository = Annals.open(folder, OpenOptions.defaults().memoryBytesMax(4L << 30))) {
            String metrics = repository.exchange("GET", "/metrics", "").json();
            assertTrue(metrics.contains("memory_bytes_max " + (4L << 30)), metrics);
        }
        assertThrows(
                InvalidArgumentException.class,
                () -> Annals.open(folder, OpenOptions.defaults().memoryBytesMax(1)).close());
    }
}
