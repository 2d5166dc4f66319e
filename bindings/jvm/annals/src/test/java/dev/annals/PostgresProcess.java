package dev.annals;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** A server of PostgreSQL in a temporary folder, with the database {@code library} and the user {@code annals}. */
final class PostgresProcess implements AutoCloseable {
    private static final int SECONDS_MAX = 60;

    private final Path programs;
    private final Path folder;
    private final int port;
    private final Process process;

    private PostgresProcess(Path programs) throws IOException, InterruptedException {
        this.programs = programs;
        folder = Files.createTempDirectory("annals-java-postgres-");
        if (owner().isPresent()) {
            end(new ProcessBuilder("chown", owner().get() + ":", folder.toString()).start(), "chown");
        }
        String data = folder.resolve("data").toString();
        end(start("initdb", "-U", "annals", "--auth=trust", "--no-locale", "--encoding=UTF8", "--no-sync", "-D", data), "initdb");
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = free.getLocalPort();
        }
        process = start(
                "postgres", "-D", data, "-p", String.valueOf(port), "-c", "listen_addresses=127.0.0.1", "-c",
                "unix_socket_directories=");
        String[] ready = {"pg_isready", "-q", "-h", "127.0.0.1", "-p", String.valueOf(port)};
        for (int tries = 0; start(ready).waitFor() != 0; tries++) {
            if (tries > SECONDS_MAX * 10 || !process.isAlive()) {
                throw new IOException("PostgreSQL does not start");
            }
            Thread.sleep(100);
        }
        end(start("createdb", "-h", "127.0.0.1", "-p", String.valueOf(port), "-U", "annals", "library"), "createdb");
    }

    /** Starts it; none on a machine without PostgreSQL. */
    static Optional<PostgresProcess> start() {
        Path versions = Path.of("/usr/lib/postgresql");
        if (!Files.isDirectory(versions)) {
            return Optional.empty();
        }
        try (Stream<Path> found = Files.list(versions)) {
            Optional<Path> programs = found.map(version -> version.resolve("bin"))
                    .filter(folder -> Files.isExecutable(folder.resolve("initdb")))
                    .max(Comparator.naturalOrder());
            return programs.isEmpty() ? Optional.empty() : Optional.of(new PostgresProcess(programs.get()));
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        } catch (InterruptedException error) {
            throw new IllegalStateException(error);
        }
    }

    /** The place of a log. */
    String place(String schema) {
        return "postgres://annals@127.0.0.1:" + port + "/library?schema=" + schema;
    }

    /** The user that owns the server if this is root: PostgreSQL does not run as root. */
    private static Optional<String> owner() {
        return "root".equals(System.getProperty("user.name")) ? Optional.of("postgres") : Optional.empty();
    }

    private Process start(String program, String... arguments) throws IOException {
        List<String> command = new ArrayList<>();
        owner().ifPresent(user -> command.addAll(
                List.of("setpriv", "--reuid=" + user, "--regid=" + user, "--init-groups")));
        command.add(programs.resolve(program).toString());
        command.addAll(List.of(arguments));
        return new ProcessBuilder(command)
                .directory(folder.toFile())
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
    }

    private Process start(String[] command) throws IOException {
        return start(command[0], java.util.Arrays.copyOfRange(command, 1, command.length));
    }

    private static void end(Process process, String name) throws IOException, InterruptedException {
        if (!process.waitFor(SECONDS_MAX, TimeUnit.SECONDS) || process.exitValue() != 0) {
            process.destroyForcibly();
            throw new IOException(name + " failed");
        }
    }

    /** Ends the server and removes its folder. */
    @Override
    public void close() {
        // SIGTERM would wait for the connections.
        process.destroyForcibly();
        try {
            process.waitFor(SECONDS_MAX, TimeUnit.SECONDS);
            end(new ProcessBuilder("rm", "-rf", folder.toString()).start(), "rm");
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        } catch (InterruptedException error) {
            Thread.currentThread().interrupt();
        }
    }
}
