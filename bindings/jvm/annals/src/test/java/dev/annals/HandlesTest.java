package dev.annals;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Handles that nobody closes. */
class HandlesTest {
    private static final int ROUND = 2_000;
    private static final long PAGE_BYTES = 4_096;

    /** Resident bytes of this process. */
    private static long resident() throws IOException {
        return Long.parseLong(Files.readString(Path.of("/proc/self/statm")).split(" ")[1]) * PAGE_BYTES;
    }

    private static void forget(Repository repository, int count) throws InterruptedException {
        for (int number = 0; number < count; number++) {
            Snapshot snapshot = repository.snapshot();
            assertTrue(snapshot.entity("a").isPresent());
            Transaction transaction = repository.begin();
            transaction.create(NewEntity.of("t").set("text", "x".repeat(1_000)));
            snapshot.find(Find.entities("t")).findFirst();
        }
        System.gc();
        Thread.sleep(200);
    }

    @Test
    void forgottenHandlesAreFreedAndNeverCommitted(@TempDir Path folder) throws IOException, InterruptedException {
        try (Way.Opened opened = Way.PROCESS.open(folder)) {
            Repository repository = opened.repository();
            repository.transact(t -> t.create(NewEntity.of("t").id("a")));
            forget(repository, 2 * ROUND);
            long before = resident();
            for (int round = 0; round < 5; round++) {
                forget(repository, ROUND);
                // Other writes let the engine drop what only the forgotten snapshots held.
                repository.transact(t -> t.update(Patch.of("a").set("n", System.nanoTime())));
            }
            long grown = resident() - before;
            assertTrue(grown < 48L << 20, () -> "10,000 forgotten snapshots and transactions keep " + grown + " bytes");
            try (Snapshot snapshot = repository.snapshot()) {
                assertEquals(1, snapshot.count(Find.entities("t")));
            }
        }
    }

    @Test
    void aRepositoryInMemoryWorks() {
        Way.useBuiltLibrary();
        try (Repository repository = Annals.inMemory()) {
            repository.transact(t -> t.create(NewEntity.of("t").id("a")));
            try (Snapshot snapshot = repository.snapshot()) {
                assertTrue(snapshot.entity("a").isPresent());
            }
        }
    }
}
