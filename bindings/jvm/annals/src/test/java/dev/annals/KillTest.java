package dev.annals;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A virtual machine that is killed while it commits: every commit that it told of is there. */
class KillTest {
    private static final int THREADS = 8;
    private static final int ROUNDS = 3;

    /** The machine that is killed: it commits from several threads, and tells each commit after it. */
    static final class Writer {
        public static void main(String[] arguments) throws InterruptedException {
            try (Repository repository = Annals.open(Path.of(arguments[0]))) {
                Thread[] threads = new Thread[THREADS];
                for (int number = 0; number < THREADS; number++) {
                    String name = arguments[1] + "-" + number;
                    threads[number] = new Thread(() -> write(repository, name));
                    threads[number].start();
                }
                for (Thread thread : threads) {
                    thread.join();
                }
            }
        }

        private static void write(Repository repository, String name) {
            for (int count = 0; ; count++) {
                String id = name + "-" + count;
                int value = count;
                repository.transact(t -> {
                    t.create(NewEntity.of("t").id(id).set("n", value));
                    t.update(Patch.of(id).set("text", "of " + id));
                });
                synchronized (KillTest.class) {
                    System.out.println(id);
                }
            }
        }
    }

    @Test
    void aKilledMachineLosesNoCommitThatItTold(@TempDir Path folder) throws IOException, InterruptedException {
        Way.useBuiltLibrary();
        Path place = folder.resolve("repository");
        Set<String> told = new HashSet<>();
        for (int round = 0; round < ROUNDS; round++) {
            int before = told.size();
            Process writer = new ProcessBuilder(
                            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                            "-Ddev.annals.library=" + System.getProperty("dev.annals.library"),
                            "-cp",
                            System.getProperty("java.class.path"),
                            Writer.class.getName(),
                            place.toString(),
                            "r" + round)
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start();
            try (BufferedReader lines =
                    new BufferedReader(new InputStreamReader(writer.getInputStream(), StandardCharsets.UTF_8))) {
                String line = lines.readLine();
                while (line != null) {
                    told.add(line);
                    if (told.size() == before + 2_000) {
                        // SIGKILL. By its handle: what it wrote to the pipe before can still be read.
                        writer.toHandle().destroyForcibly();
                    }
                    line = lines.readLine();
                }
            } finally {
                writer.destroyForcibly();
                assertTrue(writer.waitFor(20, TimeUnit.SECONDS), "the killed machine is gone");
            }
            assertTrue(told.size() >= before + 2_000, "the writer told " + (told.size() - before) + " commits");
            // The last line may be torn: its start is an earlier id, or none.
            try (Repository repository = Annals.open(place);
                    Snapshot snapshot = repository.snapshot()) {
                long lost = told.stream()
                        .filter(id -> id.matches("r\\d-\\d-\\d+"))
                        .filter(id -> !("of " + id).equals(text(snapshot, id)))
                        .count();
                assertEquals(0, lost, lost + " of " + told.size() + " commits are lost");
            }
        }
    }

    private static String text(Snapshot snapshot, String id) {
        Optional<Entity> found = snapshot.entity(id);
        return found.flatMap(entity -> entity.property("text", String.class)).orElse("");
    }
}
