package dev.annals.egeria;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A process of {@code annals serve}, from the system property ANNALS_PROGRAM. */
final class ServedRepository implements AutoCloseable {
    private static final Pattern ADDRESS = Pattern.compile("listens on (https?://\\S+)");

    private final Process process;
    private final String address;

    ServedRepository(Path folder, String... options) throws IOException {
        List<String> command = new ArrayList<>(List.of(System.getProperty("ANNALS_PROGRAM"), "serve", folder.toString()));
        command.addAll(List.of("--create", "--listen", "127.0.0.1:0", "--log", "off"));
        command.addAll(List.of(options));
        process = new ProcessBuilder(command).redirectErrorStream(true).start();
        address = read();
    }

    private String read() throws IOException {
        BufferedReader lines =
                new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
        String found = null;
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            Matcher matcher = ADDRESS.matcher(line);
            if (matcher.find()) {
                found = matcher.group(1);
            } else if (found != null && line.contains("at position")) {
                return found;
            }
        }
        throw new IllegalStateException("the server ended before it listened");
    }

    String address() {
        return address;
    }

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
