package dev.annals;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A place is a folder, or the URL of a log in a store. */
@Timeout(180)
class OpenPlaceTest {
    @BeforeAll
    static void library() {
        Way.useBuiltLibrary();
    }

    private static void create(Repository repository, String id) {
        repository.transact(t -> t.create(NewEntity.of("person").id(id)));
    }

    private static boolean has(Repository repository, String id) {
        try (Snapshot snapshot = repository.snapshot()) {
            return snapshot.entity(id).isPresent();
        }
    }

    @Test
    void aTextNamesAFolder(@TempDir Path folder) {
        String place = folder.resolve("library").toString();
        try (Repository repository = Annals.open(place)) {
            create(repository, "ada");
        }
        try (Repository repository = Annals.open(Path.of(place))) {
            assertTrue(has(repository, "ada"));
        }
        try (Repository repository = Annals.open(place, OpenOptions.defaults().readOnly())) {
            assertTrue(has(repository, "ada"));
        }
    }

    @Test
    void aPlaceOfNoLogIsRefusedAndNoPasswordIsShown(@TempDir Path folder) {
        for (String wrong : List.of(
                "postgres://annals:hunter2@127.0.0.1/library", "redis://hunter2@127.0.0.1/0", "postgres://x/y?hunter=2")) {
            AnnalsException refused = assertThrows(AnnalsException.class, () -> Annals.open(wrong));
            assertEquals("invalid-argument", refused.kind(), refused.getMessage());
            assertFalse(refused.getMessage().contains("hunter2"), refused.getMessage());
        }
        OpenOptions objects = OpenOptions.defaults().objects("s3://library/annals");
        AnnalsException refused = assertThrows(
                AnnalsException.class, () -> Annals.open(folder.resolve("library").toString(), objects));
        assertTrue(refused.getMessage().contains("expected a log in a store"), refused.getMessage());
        AnnalsException key = assertThrows(
                AnnalsException.class,
                () -> Annals.open("postgres://x@127.0.0.1:1/y", OpenOptions.defaults().objects("s3://a:hunter2@b/c")));
        assertFalse(key.getMessage().contains("hunter2"), key.getMessage());
    }

    @Test
    void aUrlNamesALogInPostgreSql() {
        Optional<PostgresProcess> started = PostgresProcess.start();
        Assumptions.assumeTrue(started.isPresent(), "there is no PostgreSQL");
        try (PostgresProcess postgres = started.get()) {
            String place = postgres.place("java");
            try (Repository repository = Annals.open(place)) {
                create(repository, "ada");
                try (Repository reader = Annals.open(place, OpenOptions.defaults().readOnly())) {
                    assertTrue(has(reader, "ada"));
                    AnnalsException refused = assertThrows(AnnalsException.class, () -> create(reader, "bob"));
                    assertEquals("read-only", refused.kind(), refused.getMessage());
                }
                AnnalsException locked = assertThrows(AnnalsException.class, () -> Annals.open(place));
                assertEquals("locked", locked.kind(), locked.getMessage());
            }
            // A Path loses one of the slashes.
            try (Repository repository = Annals.open(Path.of(place))) {
                assertTrue(has(repository, "ada"));
                create(repository, "bob");
            }
            try (ServerProcess server = new ServerProcess(place);
                    Repository connected = server.connect()) {
                assertTrue(has(connected, "bob"));
                AnnalsException locked = assertThrows(AnnalsException.class, () -> Annals.open(place));
                assertTrue(locked.getMessage().contains(server.uri().toString()), locked.getMessage());
            }
        }
    }
}
