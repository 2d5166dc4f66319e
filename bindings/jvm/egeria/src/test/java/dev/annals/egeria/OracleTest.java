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
    private static final int CALLS_OVER_HTTP = 500;

    @TempDir
    Path folder;

    @Test
    void random_calls_have_the_same_results_in_process() throws Exception {
        compare(Map.of("folder", folder.resolve("repository").toString()), Integer.getInteger("egeria.calls", 5_000));
    }

    @Test
    void random_calls_have_the_same_results_over_a_connection() throws Exception {
        try (ServedRepository served = new ServedRepository(folder.resolve("served"))) {
            compare(Map.of("address", served.address()), CALLS_OVER_HTTP);
        }
    }

    private static void compare(Map<String, Object> settings, int calls) throws Exception {
        String ofTheCommit = System.getenv("ANNALS_FIRST_SEED");
        long seed = Long.getLong("egeria.seed", ofTheCommit == null ? System.nanoTime() : Long.parseLong(ofTheCommit));
        assertTrue(Plain.ALLOWED.size() <= 10, "expected at most ten allowed differences");
        try (LocalServer memory = LocalServer.inMemory();
                LocalServer annals = LocalServer.annals(settings)) {
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
