package annals.lab;

import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/** A Gremlin Server in a process of its own, on this machine only. It ends with this process. */
final class Served implements AutoCloseable {
    /** Longest time until it listens, and until it has closed its graph. Units: seconds. */
    private static final int START_SECONDS_MAX = 100;
    private static final int STOP_SECONDS_MAX = 60;
    private static final int TRY_MS = 50;
    private static final int LOG_LINES = 20;

    /** One of the servers: the class that starts it, and the settings of its graph before that of its folder. */
    enum Kind {
        ANNALS("org.apache.tinkerpop.gremlin.server.GremlinServer", "dev.annals.gremlin.AnnalsGraph", "annals.folder", ""),
        JANUSGRAPH(
            "org.janusgraph.graphdb.server.JanusGraphServer",
            "org.janusgraph.core.JanusGraphFactory",
            "storage.directory",
            // BerkeleyDB would write nothing on a disk with less than 5 GiB of free space.
            "storage.backend=berkeleyje\nstorage.berkeleyje.ext.je.freeDisk=0\n");

        /** The name of its folder below that of the installation, and of its files there. */
        final String folder = name().toLowerCase(Locale.ROOT);
        private final String main;
        private final String graph;
        private final String directory;
        private final String settings;

        Kind(String main, String graph, String directory, String settings) {
            this.main = main;
            this.graph = graph;
            this.directory = directory;
            this.settings = settings;
        }

        /** Where `install` has put it. */
        Path home() {
            return Path.of(System.getProperty("lab.folder"), folder);
        }
    }

    final int port;
    private final Process process;
    private final Path log;

    /** Starts it with its data in the folder, and returns when it listens. */
    Served(Kind kind, Path folder) throws Exception {
        port = freePort();
        // It starts in the folder of its settings, which name each other without a folder.
        Path settings = Files.createDirectories(folder.resolve("settings"));
        Files.copy(kind.home().resolve("init.groovy"), settings.resolve("init.groovy"), StandardCopyOption.REPLACE_EXISTING);
        String yaml = Files.readString(kind.home().resolve(kind.folder + ".yaml"));
        Files.writeString(settings.resolve("server.yaml"), yaml.replaceFirst("(?m)^port: .*$", "port: " + port));
        Files.writeString(
            settings.resolve(kind.folder + ".properties"),
            "gremlin.graph=" + kind.graph + "\n" + kind.settings + kind.directory + "=" + folder.resolve("data") + "\n");
        log = folder.resolve("server.log");
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        // setpriv: the server ends with this process, also if that is killed.
        process = new ProcessBuilder(List.of(
                "setpriv", "--pdeathsig=KILL", java, "-Xmx" + System.getProperty("lab.heap"),
                "-Ddev.annals.library=" + kind.home().resolve("libannals_jvm.so"),
                "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
                "-cp", kind.home().resolve("lib") + File.separator + "*", kind.main, "server.yaml"))
            .directory(settings.toFile())
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()))
            .start();
        try {
            awaitPort();
        } catch (Exception error) {
            process.destroyForcibly();
            throw error;
        }
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    private void awaitPort() throws Exception {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(START_SECONDS_MAX);
        while (true) {
            try (Socket socket = new Socket()) {
                socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), TRY_MS);
                return;
            } catch (IOException refused) {
                if (!process.isAlive() || System.nanoTime() > deadline) {
                    throw new IllegalStateException("the server did not listen: " + lastErrors(), refused);
                }
            }
            Thread.sleep(TRY_MS);
        }
    }

    /** What the last lines of its log say, without the traces of stacks; the whole log goes to standard error. */
    private String lastErrors() throws IOException {
        List<String> lines = Files.readAllLines(log);
        lines.forEach(System.err::println);
        List<String> told = lines.stream().filter(line -> !line.matches("\\s+(at|\\.\\.\\.) .*")).toList();
        return String.join("; ", told.subList(Math.max(0, told.size() - LOG_LINES), told.size()));
    }

    /** Lets it close its graph. */
    @Override
    public void close() throws InterruptedException {
        process.destroy();
        if (!process.waitFor(STOP_SECONDS_MAX, TimeUnit.SECONDS)) {
            process.destroyForcibly().waitFor();
            throw new IllegalStateException("the server did not end within " + STOP_SECONDS_MAX + " s, and was killed");
        }
    }
}
