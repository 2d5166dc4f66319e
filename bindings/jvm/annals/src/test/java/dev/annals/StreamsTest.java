package dev.annals;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Contents, the feed, exports and imports. */
class StreamsTest {
    private static final int LARGE = 20 << 20;

    @ParameterizedTest
    @EnumSource
    void largeContentsFlow(Way way, @TempDir Path folder) throws IOException, NoSuchAlgorithmException {
        byte[] bytes = new byte[LARGE];
        new Random(7).nextBytes(bytes);
        String sha256 =
                HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
        try (Way.Opened opened = way.open(folder)) {
            Repository repository = opened.repository();
            ContentUpload upload = ContentUpload.to("page/1")
                    .type("page")
                    .mediaType("image/tiff")
                    .name("scän 1.tif")
                    .digest("sha-256", sha256)
                    .author("ada");
            StoredContent stored = repository.putContent(upload, new ByteArrayInputStream(bytes));
            assertEquals(sha256, stored.content().sha256());
            assertEquals(LARGE, stored.content().size());
            try (Snapshot snapshot = repository.snapshot()) {
                Content found = snapshot.entity("page/1")
                        .orElseThrow()
                        .property("content", Content.class)
                        .orElseThrow();
                assertEquals("image/tiff", found.mediaType());
                assertEquals("scän 1.tif", found.name().orElseThrow());
                assertEquals(sha256, found.sha256());
                try (InputStream content = snapshot.content("page/1")) {
                    assertArrayEquals(bytes, content.readAllBytes());
                }
                try (InputStream part = snapshot.content("page/1", "content", LARGE - 3, 100)) {
                    assertEquals(3, part.readAllBytes().length);
                }
                try (InputStream part = snapshot.content("page/1", "content", 1_000, 10)) {
                    assertEquals(bytes[1_000], (byte) part.read());
                    assertEquals(9, part.readAllBytes().length);
                }
                InputStream closed = snapshot.content("page/1");
                assertTrue(closed.read() >= 0);
                closed.close();
                assertThrows(ClosedException.class, closed::read);
                assertThrows(NotFoundException.class, () -> snapshot.content("nobody"));
            }
            assertThrows(
                    DigestMismatchException.class,
                    () -> repository.putContent(
                            ContentUpload.to("page/1").digest("sha-256", "00".repeat(32)),
                            new ByteArrayInputStream(bytes)));
            try (Snapshot snapshot = repository.asOf(stored.receipt().position())) {
                assertEquals(1, snapshot.history("page/1").count());
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void aBodyThatFailsStoresNothing(Way way, @TempDir Path folder) throws InterruptedException {
        InputStream broken = new InputStream() {
            private int left = 100_000;

            @Override
            public int read() throws IOException {
                if (left-- > 0) {
                    return 7;
                }
                throw new IOException("the disk of the caller broke");
            }
        };
        try (Way.Opened opened = way.open(folder)) {
            Repository repository = opened.repository();
            assertThrows(
                    AnnalsException.class,
                    () -> repository.putContent(ContentUpload.to("a").type("t"), broken));
            // A door that took the body for a whole one would now store it.
            Thread.sleep(500);
            try (Snapshot snapshot = repository.snapshot()) {
                assertTrue(snapshot.entity("a").isEmpty());
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void followSeesLaterCommits(Way way, @TempDir Path folder) throws Exception {
        try (Way.Opened opened = way.open(folder)) {
            Repository repository = opened.repository();
            repository.transact(t -> t.author("ada").create(NewEntity.of("t").id("a")));
            CompletableFuture<List<LogRecord>> followed;
            Stream<LogRecord> records = repository.follow(0);
            followed = CompletableFuture.supplyAsync(() -> records.limit(3).toList());
            repository.transact(t -> t.message("later").update(Patch.of("a").set("n", 1)));
            repository.transact(t -> t.delete(InstanceId.entity("a")));
            List<LogRecord> found = followed.get(20, TimeUnit.SECONDS);
            records.close();
            assertEquals(
                    List.of(1L, 2L, 3L), found.stream().map(LogRecord::position).toList());
            assertEquals("ada", found.get(0).author());
            assertEquals("later", found.get(1).message());
            assertEquals("delete", found.get(2).changes().get(0).action());
            assertEquals(
                    InstanceId.entity("a"),
                    found.get(2).changes().get(0).instance().orElseThrow());
            assertThrows(NotFoundException.class, () -> repository.follow(99));
        }
    }

    @ParameterizedTest
    @EnumSource
    void closingAFeedEndsItsReader(Way way, @TempDir Path folder) {
        try (Way.Opened opened = way.open(folder)) {
            Stream<LogRecord> records = opened.repository().follow(0);
            CompletableFuture<Long> reader = CompletableFuture.supplyAsync(records::count);
            // The door sends something every 15 s: the end must not wait for it.
            assertTimeoutPreemptively(Duration.ofSeconds(5), () -> {
                Thread.sleep(300);
                records.close();
                assertEquals(0, reader.get());
            });
        }
    }

    @ParameterizedTest
    @EnumSource
    void closingTheRepositoryEndsItsFeeds(Way way, @TempDir Path folder) {
        try (Way.Opened opened = way.open(folder)) {
            Stream<LogRecord> records = opened.repository().follow(0);
            CompletableFuture<Long> reader = CompletableFuture.supplyAsync(records::count);
            assertTimeoutPreemptively(Duration.ofSeconds(5), () -> {
                Thread.sleep(300);
                opened.repository().close();
                assertEquals(0, reader.get());
            });
        }
    }

    @ParameterizedTest
    @EnumSource
    void partsAreWatched(Way way, @TempDir Path folder) {
        try (Way.Opened opened = way.open(folder)) {
            Repository repository = opened.repository();
            repository.transact(t -> t.create(NewEntity.of("package").id("bash").set("size", 7)));
            repository.transact(t -> t.create(NewEntity.of("other")));
            repository.transact(t -> t.tree().put("/clock", Map.of("zone", "UTC")));
            repository.transact(t -> t.update(Patch.of("bash").set("size", 8)));
            repository.transact(t -> t.tree().put("/clock", Map.of("zone", "CET")));
            try (Stream<WatchEvent<InstanceChange>> events = repository.watch(Kind.ENTITY, "package", 0)) {
                List<WatchEvent<InstanceChange>> found = events.limit(2).toList();
                assertEquals("appeared", found.get(0).changes().get(0).change());
                assertEquals(4, found.get(1).position());
                Difference difference =
                        found.get(1).changes().get(0).difference().orElseThrow();
                assertEquals(8L, difference.properties().get("size").after().orElseThrow());
            }
            try (Stream<WatchEvent<TreeChange>> events = repository.watchTree("/clock", 3)) {
                TreeChange change = events.findFirst().orElseThrow().changes().get(0);
                assertEquals("/clock", change.path());
                assertEquals("modified", change.change());
            }
            try (Snapshot snapshot = repository.snapshot()) {
                String clock = snapshot.tree().find("/clock", 1).get(0).id();
                repository.transact(t -> t.purge(InstanceId.entity(clock)));
            }
            try (Stream<WatchEvent<TreeChange>> events = repository.watchTree("/clock", 5)) {
                assertTrue(events.findFirst().orElseThrow().readAgain());
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void anExportIsImported(Way way, @TempDir Path folder) throws IOException {
        try (Way.Opened from = way.open(folder.resolve("from"));
                Way.Opened to = way.open(folder.resolve("to"))) {
            from.repository().transact(t -> {
                for (int number = 0; number < 500; number++) {
                    t.create(NewEntity.of("t").id("e" + number).set("n", number));
                }
            });
            byte[] lines;
            try (InputStream export = from.repository().exportLines()) {
                lines = export.readAllBytes();
            }
            assertEquals(500, new String(lines, StandardCharsets.UTF_8).lines().count());
            Map<String, Object> report =
                    to.repository().importLines(new ByteArrayInputStream(lines), Map.of("merge", ""));
            assertEquals(500L, report.get("created"));
            try (Snapshot snapshot = to.repository().snapshot()) {
                assertEquals(
                        499L,
                        snapshot.entity("e499").orElseThrow().property("n").orElseThrow());
            }
            assertThrows(InvalidArgumentException.class, () -> to.repository()
                    .importLines(InputStream.nullInputStream(), Map.of("unknown", "1")));
        }
    }
}
