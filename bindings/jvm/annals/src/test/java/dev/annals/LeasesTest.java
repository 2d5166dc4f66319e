package dev.annals;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Leases and the operational view, backups and checks. */
class LeasesTest {
    @ParameterizedTest
    @EnumSource
    void pushedStateIsInTheViewUntilItsLeaseEnds(Way way, @TempDir Path folder) {
        try (Way.Opened opened = way.open(folder)) {
            Repository repository = opened.repository();
            repository.transact(t -> t.tree().put("/sensors", Map.of("place", "roof")));
            Lease lease = repository.openLease("driver 1", Duration.ofSeconds(60));
            assertThrows(
                    AlreadyExistsException.class, () -> repository.openLease("driver 1", Duration.ofSeconds(60)));
            lease.push(tree -> tree.merge("/sensors", Map.of("celsius", 40)));
            assertTrue(lease.renew(Duration.ofMinutes(5)).left().toSeconds() > 200);
            assertEquals(
                    List.of("driver 1"),
                    repository.leases().stream().map(Lease.State::name).toList());
            Map<?, ?> seen = (Map<?, ?>) repository.operational("/sensors").orElseThrow();
            assertEquals(List.of("roof", 40L), List.of(seen.get("place"), seen.get("celsius")));
            assertTrue(repository.operational("/nothing").isEmpty());
            lease.end();
            seen = (Map<?, ?>) repository.operational("/sensors").orElseThrow();
            assertEquals(null, seen.get("celsius"));
            assertThrows(NotFoundException.class, () -> lease.push(tree -> tree.put("/sensors/fan", "ok")));
        }
    }

    @ParameterizedTest
    @EnumSource
    void aBackupAndACheckAreOfTheWholeRepository(Way way, @TempDir Path folder) throws IOException {
        try (Way.Opened opened = way.open(folder)) {
            Repository repository = opened.repository();
            repository.transact(t -> t.create(NewEntity.of("t").id("a")));
            assertEquals(new Check(1, 1, 1, 0, List.of(), List.of()), repository.check());
            try (InputStream tar = repository.backup()) {
                String bytes = new String(tar.readAllBytes(), StandardCharsets.ISO_8859_1);
                assertTrue(bytes.contains("log/manifest") && bytes.contains("backup.json"));
            }
        }
    }
}
