package dev.annals.gremlin;

import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.apache.commons.configuration2.BaseConfiguration;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;

/** The suites fail if the repository of a test is not as its log says. */
public class AnnalsGraphProviderTest {
    @Rule
    public final TemporaryFolder place = new TemporaryFolder();

    /** A closed graph in a folder. */
    private BaseConfiguration written(Path folder) {
        BaseConfiguration settings = new BaseConfiguration();
        settings.setProperty(AnnalsGraph.FOLDER, folder.toString());
        try (AnnalsGraph graph = AnnalsGraph.open(settings)) {
            graph.addVertex("name", "Ada Lovelace");
            graph.tx().commit();
        }
        return settings;
    }

    @Test
    public void aWholeRepositoryIsClearedAway() throws Exception {
        Path folder = place.getRoot().toPath().resolve("whole");
        BaseConfiguration settings = written(folder);
        new AnnalsGraphProvider().clear(AnnalsGraph.open(settings), settings);
        assertFalse(Files.exists(folder));
    }

    @Test
    public void aDamagedRepositoryFailsTheTest() throws Exception {
        Path folder = place.getRoot().toPath().resolve("damaged");
        BaseConfiguration settings = written(folder);
        AnnalsGraph graph = AnnalsGraph.open(settings);
        damage(folder);
        AssertionError error = assertThrows(AssertionError.class, () -> new AnnalsGraphProvider().clear(graph, settings));
        assertTrue(error.getMessage(), error.getMessage().contains("annals check of " + folder));
    }

    /** Changes one letter in the log. */
    private static void damage(Path folder) throws Exception {
        try (Stream<Path> all = Files.walk(folder)) {
            for (Path file : all.filter(Files::isRegularFile).toList()) {
                byte[] bytes = Files.readAllBytes(file);
                int at = new String(bytes, StandardCharsets.ISO_8859_1).indexOf("Lovelace");
                if (at >= 0) {
                    bytes[at] = 'l';
                    Files.write(file, bytes);
                }
            }
        }
    }
}
