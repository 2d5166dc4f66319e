package dev.annals.egeria;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Egeria's in-memory repository says what a repository has to answer.
 *
 * <p>{@code -Degeria.calls=50000 -Degeria.seed=7} makes another sequence.
 */
class OracleTest {
    @TempDir
    Path folder;

    @Test
    void a_random_sequence_of_calls_has_the_same_results() throws Exception {
        int calls = Integer.getInteger("egeria.calls", 5_000);
        long seed = Long.getLong("egeria.seed", 1);
        assertTrue(Plain.ALLOWED.size() <= 10, "expected at most ten allowed differences");
        try (LocalServer memory = LocalServer.inMemory();
                LocalServer annals = LocalServer.annals(
                        Map.of("folder", folder.resolve("repository").toString()))) {
            Oracle oracle = new Oracle(memory, annals);
            RandomCalls sequence = new RandomCalls(oracle, seed);
            for (int count = 0; count < calls; count++) {
                sequence.next();
            }
            System.out.println("seed " + seed + ": " + oracle.counts());
            assertEquals(List.of(), oracle.differences(), "seed " + seed);
        }
    }
}
