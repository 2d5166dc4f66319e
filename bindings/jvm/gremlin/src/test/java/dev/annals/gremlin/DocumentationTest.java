package dev.annals.gremlin;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import io.cucumber.junit.CucumberOptions;
import java.io.IOException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.apache.tinkerpop.gremlin.structure.Graph;
import org.junit.Test;

/** docs/gremlin.md explains every feature that is false, and every tag of scenarios that is left out. */
public class DocumentationTest {
    private static final Path PAGE = Path.of("..", "..", "..", "docs", "gremlin.md");

    private static Set<String> named(String page, String pattern) {
        return Pattern.compile(pattern).matcher(page).results().map(found -> found.group(1)).collect(Collectors.toSet());
    }

    @Test
    public void everyFalseFeatureIsExplained() throws IOException, ReflectiveOperationException {
        String page = Files.readString(PAGE);
        Set<String> explained = named(page, "`(supports[A-Za-z]+)`");
        Graph.Features features = new AnnalsFeatures();
        Set<String> missing = new TreeSet<>();
        Set<String> refused = new TreeSet<>();
        for (Object part : new Object[] {
            features.graph(), features.vertex(), features.edge(), features.vertex().properties(), features.edge().properties()
        }) {
            for (Method method : part.getClass().getMethods()) {
                boolean isFeature = method.getName().startsWith("supports") && method.getParameterCount() == 0;
                if (isFeature && !(boolean) method.invoke(part)) {
                    refused.add(method.getName());
                }
            }
        }
        refused.stream().filter(name -> !explained.contains(name)).forEach(missing::add);
        assertEquals("not in docs/gremlin.md", Set.of(), missing);
        assertTrue(refused.toString(), refused.size() > 10);
        explained.removeAll(refused);
        assertEquals("in docs/gremlin.md, but supported", Set.of("supportsVariables"), explained);
    }

    @Test
    public void everyTagThatIsLeftOutIsExplained() throws IOException {
        String tags = FeaturesTest.class.getAnnotation(CucumberOptions.class).tags();
        assertEquals(named(tags, "not (@[A-Za-z]+)"), named(Files.readString(PAGE), "`(@[A-Za-z]+)`"));
    }
}
