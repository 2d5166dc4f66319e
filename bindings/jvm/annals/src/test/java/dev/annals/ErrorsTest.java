package dev.annals;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Kinds of errors, and what they say. */
class ErrorsTest {
    @Test
    void everyKindOfTheListHasItsClass() throws IOException {
        List<String> rows = Files.readAllLines(Places.workspace().resolve("docs/errors.md")).stream()
                .filter(line -> line.startsWith("| `"))
                .toList();
        assertTrue(rows.size() > 30);
        for (String row : rows) {
            String[] cells = row.split("\\|");
            String kind = cells[1].strip().replace("`", "");
            String name = cells[6].strip().replace("`", "");
            AnnalsException error = AnnalsException.of(kind, "x", (String) null);
            assertEquals(name, error.getClass().getSimpleName(), row);
            assertEquals(kind, error.kind());
            assertEquals(cells[3].strip().equals("yes"), error.isRetryable(), row);
        }
    }

    @ParameterizedTest
    @EnumSource
    void kindsAreClasses(Way way, @TempDir Path folder) {
        try (Way.Opened opened = way.open(folder)) {
            Repository repository = opened.repository();
            repository.transact(t -> t.create(NewEntity.of("t").id("a")));
            assertThrows(
                    AlreadyExistsException.class,
                    () -> repository.transact(t -> t.create(NewEntity.of("t").id("a"))));
            assertThrows(
                    NotFoundException.class,
                    () -> repository.transact(t -> t.update(Patch.of("b").set("x", 1))));
            assertThrows(
                    MissingEndException.class,
                    () -> repository.transact(t -> t.create(NewRelationship.of("k", "a", "nobody"))));
            repository.transact(t -> t.delete(InstanceId.entity("a")));
            assertThrows(
                    DeletedException.class,
                    () -> repository.transact(t -> t.update(Patch.of("a").set("x", 1))));
            assertThrows(NotFoundException.class, () -> repository.asOf(99));
            assertThrows(
                    FutureInstantException.class,
                    () -> repository.asOf(Instant.now().plusSeconds(3_600)));
            assertThrows(
                    InvalidArgumentException.class, () -> repository.transact(t -> t.operation("{\"action\": \"x\"}")));
            try (Snapshot snapshot = repository.snapshot()) {
                Find<Entity> unread = Find.entities().where("(");
                assertThrows(InvalidExpressionException.class, () -> snapshot.find(unread)
                        .toList());
                assertThrows(InvalidExpressionException.class, () -> snapshot.count(unread));
                assertThrows(
                        InvalidPageException.class,
                        () -> snapshot.findPage(Find.entities().limit(0)));
                assertThrows(NotFoundException.class, () -> snapshot.neighbors("nobody")
                        .toList());
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void aVersionThatDoesNotHoldNamesTheLatestOne(Way way, @TempDir Path folder) {
        try (Way.Opened opened = way.open(folder)) {
            Repository repository = opened.repository();
            repository.transact(t -> t.create(NewEntity.of("t").id("a").set("n", 1)));
            repository.transact(t -> t.update(Patch.of("a").set("n", 2)));
            PreconditionFailedException error = assertThrows(
                    PreconditionFailedException.class,
                    () -> repository.transact(
                            t -> t.update(Patch.of("a").set("n", 3).ifVersion(1))));
            assertEquals("2", error.details().get("latestVersion"), error::toString);
            assertThrows(
                    PreconditionFailedException.class,
                    () -> repository.transact(t -> {
                        t.expect(InstanceId.entity("a"), 1);
                        t.create(NewEntity.of("t").id("b"));
                    }));
            assertThrows(
                    PreconditionFailedException.class,
                    () -> repository.transact(
                            t -> t.create(NewEntity.of("t").id("a").ifNew())));
            repository.transact(t -> t.update(Patch.of("a").set("n", 3).ifVersion(2)));
        }
    }

    @ParameterizedTest
    @EnumSource
    void anythingClosedSaysSo(Way way, @TempDir Path folder) {
        try (Way.Opened opened = way.open(folder)) {
            Repository repository = opened.repository();
            Snapshot snapshot = repository.snapshot();
            snapshot.close();
            snapshot.close();
            assertThrows(ClosedException.class, () -> snapshot.entity("a"));
            assertThrows(
                    ClosedException.class, () -> snapshot.find(Find.entities()).toList());
            assertThrows(ClosedException.class, () -> snapshot.history("a").toList());
            assertThrows(ClosedException.class, snapshot::types);
            assertThrows(ClosedException.class, () -> snapshot.count(Find.entities()));
            Transaction transaction = repository.begin();
            transaction.commit();
            assertThrows(ClosedException.class, transaction::commit);
            assertThrows(ClosedException.class, () -> transaction.create(NewEntity.of("t")));
            transaction.close();
            Transaction discarded = repository.begin();
            discarded.create(NewEntity.of("t").id("discarded"));
            discarded.close();
            assertThrows(ClosedException.class, () -> discarded.create(NewEntity.of("t")));
            Snapshot open = repository.snapshot();
            assertTrue(open.entity("discarded").isEmpty());
            repository.close();
            repository.close();
            assertThrows(ClosedException.class, repository::snapshot);
            assertThrows(ClosedException.class, repository::compact);
            assertThrows(ClosedException.class, () -> repository.transact(t -> t.create(NewEntity.of("t"))));
            assertThrows(ClosedException.class, () -> open.types());
            assertThrows(ClosedException.class, () -> open.entity("discarded"));
            assertThrows(ClosedException.class, () -> open.count(Find.entities()));
            open.close();
        }
    }

    @Test
    void aServerThatIsNotThereIsUnavailable() throws IOException {
        int port;
        try (ServerSocket socket = new ServerSocket(0)) {
            port = socket.getLocalPort();
        }
        try (Repository repository = Annals.connect(URI.create("http://127.0.0.1:" + port))) {
            UnavailableException error = assertThrows(UnavailableException.class, repository::snapshot);
            assertTrue(error.getMessage().contains("annals serve"), error.getMessage());
        }
    }

    @Test
    void aServerThatDoesNotAnswerEndsInTime() throws IOException {
        try (ServerSocket silent = new ServerSocket(0)) {
            URI uri = URI.create("http://127.0.0.1:" + silent.getLocalPort());
            ConnectOptions options = ConnectOptions.defaults().requestTime(Duration.ofMillis(200));
            try (Repository repository = Annals.connect(uri, options)) {
                AnnalsException error = assertThrows(AnnalsException.class, repository::snapshot);
                assertEquals("time-out", error.kind());
            }
        }
    }

    @Test
    void addressesAreChecked() {
        for (String unfit : new String[] {"ftp://x", "localhost:8280", "http:///x", "http://x/?a", "x"}) {
            assertThrows(InvalidArgumentException.class, () -> Annals.connect(URI.create(unfit)), unfit);
        }
    }

    @Test
    void aTransactionOverAConnectionCannotReadItsOwnWrites(@TempDir Path folder) {
        try (Way.Opened opened = Way.CONNECTION.open(folder);
                Transaction transaction = opened.repository().begin()) {
            transaction.create(NewEntity.of("t").id("a"));
            InvalidArgumentException error =
                    assertThrows(InvalidArgumentException.class, () -> transaction.entity("a"));
            assertTrue(error.getMessage().contains("expected an embedded repository"), error.getMessage());
            assertEquals(Map.of(), error.details());
        }
    }

    @Test
    void anOperationThatIsRefusedIsNamed(@TempDir Path folder) {
        try (Way.Opened opened = Way.CONNECTION.open(folder)) {
            InvalidArgumentException error = assertThrows(
                    InvalidArgumentException.class, () -> opened.repository().transact(t -> {
                        t.create(NewEntity.of("t"));
                        t.operation("{\"action\": \"explode\"}");
                    }));
            assertEquals("1", error.details().get("operation"));
        }
    }

    @Test
    void theSecondWriterIsLockedOut(@TempDir Path folder) {
        try (Way.Opened opened = Way.PROCESS.open(folder)) {
            Path repository = folder.resolve("repository");
            opened.repository().transact(t -> t.create(NewEntity.of("t").id("a")));
            assertThrows(LockedException.class, () -> Annals.open(repository));
            try (Repository reader =
                            Annals.open(repository, OpenOptions.defaults().readOnly());
                    Snapshot snapshot = reader.snapshot()) {
                assertTrue(snapshot.entity("a").isPresent());
                assertThrows(ReadOnlyException.class, () -> reader.transact(t -> t.create(NewEntity.of("t"))));
            }
        }
    }
}
