package dev.annals;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A process of {@code annals serve} with a repository of its own. */
final class ServerProcess implements AutoCloseable {
    private static final Pattern ADDRESS = Pattern.compile("listens on (https?://\\S+)");

    private final Process process;
    private final URI uri;

    ServerProcess(Path folder, String... options) {
        this(folder.toString(), options);
    }

    /** On a place: a folder, or the URL of a log in a store. */
    ServerProcess(String place, String... options) {
        List<String> command = new ArrayList<>(List.of(program(), "serve", place, "--create"));
        command.addAll(List.of("--listen", "127.0.0.1:0", "--log", "off"));
        command.addAll(List.of(options));
        try {
            process = new ProcessBuilder(command).redirectErrorStream(true).start();
            uri = address();
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }

    /** The program of the system property, of the environment, or of a build beside the workspace. */
    static String program() {
        String stated = System.getProperty("ANNALS_PROGRAM", System.getenv("ANNALS_PROGRAM"));
        if (stated != null) {
            return stated;
        }
        Path built = Places.workspace().resolve("target/debug/annals");
        if (Files.isExecutable(built)) {
            return built.toString();
        }
        throw new IllegalStateException("no program: build annals, or set ANNALS_PROGRAM to its path");
    }

    private URI address() throws IOException {
        BufferedReader lines =
                new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
        URI found = null;
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            Matcher matcher = ADDRESS.matcher(line);
            if (matcher.find()) {
                found = URI.create(matcher.group(1));
            } else if (found != null && line.contains("at position")) {
                drain(lines);
                return found;
            }
        }
        throw new IllegalStateException("the server ended before it listened");
    }

    private static void drain(BufferedReader lines) {
        Thread reader = new Thread(() -> lines.lines().forEach(line -> {}), "server output");
        reader.setDaemon(true);
        reader.start();
    }

    URI uri() {
        return uri;
    }

    Repository connect() {
        return Annals.connect(uri);
    }

    /** Stops the process and waits for its end. */
    @Override
    public void close() {
        process.destroy();
        try {
            if (!process.waitFor(20, TimeUnit.SECONDS)) {
                process.destroyForcibly().waitFor();
            }
        } catch (InterruptedException error) {
            Thread.currentThread().interrupt();
        }
    }
}
