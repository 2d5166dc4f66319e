package dev.annals;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.StringWriter;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The programs of docs/java.md compile. */
class DocumentTest {
    private static final Pattern PROGRAM = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL);

    private static final String FRAME =
            """
            import dev.annals.*;
            import java.io.*;
            import java.net.URI;
            import java.nio.file.Path;
            import java.time.*;
            import java.util.*;
            import java.util.stream.Stream;

            class %s {
                void run(%s) throws IOException {
            %s
                }
            }
            """;

    @Test
    void everyProgramCompiles(@TempDir Path folder) throws IOException {
        String document = Files.readString(Places.workspace().resolve("docs/java.md"));
        List<JavaFileObject> programs = new ArrayList<>();
        for (Matcher found = PROGRAM.matcher(document); found.find(); ) {
            programs.add(program("Program" + programs.size(), found.group(1)));
        }
        assertTrue(programs.size() >= 9, () -> "expected at least 9 programs, found " + programs.size());
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        StringWriter messages = new StringWriter();
        List<String> options = List.of("-d", folder.toString(), "-classpath", System.getProperty("java.class.path"));
        compiler.getTask(messages, null, null, options, null, programs).call();
        assertEquals("", messages.toString());
    }

    @Test
    void theProjectIsThatOfTheExample() throws IOException {
        Path workspace = Places.workspace();
        String example = Files.readString(workspace.resolve("bindings/jvm/examples/maven/pom.xml"));
        String shown = example.replace("<artifactId>library</artifactId>", "<artifactId>first</artifactId>")
                .replace("example.Library", "First");
        String document = Files.readString(workspace.resolve("docs/java.md"));
        assertTrue(document.contains("```xml\n" + shown + "```"), "docs/java.md shows another pom.xml");
    }

    private static JavaFileObject program(String name, String text) {
        if (text.contains("class First")) {
            return source("First", text);
        }
        String given = "InputStream input, OutputStream output"
                + (text.contains("Repository repository =") ? "" : ", Repository repository")
                + (text.contains("token(token)") ? ", String token" : "")
                + (text.contains("snapshot.") ? ", Snapshot snapshot" : "");
        return source(name, FRAME.formatted(name, given, text));
    }

    private static JavaFileObject source(String name, String text) {
        return new SimpleJavaFileObject(URI.create("string:///" + name + ".java"), JavaFileObject.Kind.SOURCE) {
            @Override
            public CharSequence getCharContent(boolean ignoreEncodingErrors) {
                return text;
            }
        };
    }
}
