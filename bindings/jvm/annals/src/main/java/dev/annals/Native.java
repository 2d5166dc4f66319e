package dev.annals;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Locale;

/**
 * The native library. Handles are numbers of a table of the library, so a closed or foreign one is an error and nothing
 * worse. Every method throws {@link AnnalsException}.
 */
final class Native {
    private static final String PROPERTY = "dev.annals.library";
    private static boolean isLoaded;

    private Native() {}

    static native long open(byte[] settings);

    static native void close(long handle);

    static native byte[] exchange(long repository, byte[] head, byte[] body);

    static native long send(long repository, byte[] head, boolean hasBody);

    static native void write(long exchange, byte[] part, int length);

    static native void finish(long exchange);

    static native byte[] head(long exchange);

    static native int read(long exchange, byte[] into, int offset, int length);

    static native long snapshot(long of, byte[] asOf);

    static native byte[] get(long view, int kind, byte[] id);

    static native byte[] read(long view, int operation, byte[] request);

    static native long begin(long repository, byte[] settings);

    static native byte[] apply(long transaction, int operation, byte[] request);

    static native byte[] commit(long transaction);

    /**
     * Loads the library once: from the path of the system property, else from the jar.
     *
     * <p>Errors: {@code unavailable} if there is none for this platform, or it does not load.
     */
    static synchronized void load() {
        if (isLoaded) {
            return;
        }
        String path = System.getProperty(PROPERTY);
        try {
            if (path == null) {
                loadFromJar();
            } else {
                System.load(Path.of(path).toAbsolutePath().toString());
            }
        } catch (UnsatisfiedLinkError | IOException error) {
            String found = path == null ? "in the jar" : path + " of the system property " + PROPERTY;
            throw AnnalsException.of(
                    "unavailable", "the native library " + found + " does not load: " + error.getMessage(), error);
        }
        isLoaded = true;
    }

    private static void loadFromJar() throws IOException {
        String platform = platform();
        try (InputStream library = Native.class.getResourceAsStream("/native/" + platform + "/libannals_jvm.so")) {
            if (library == null) {
                throw AnnalsException.of(
                        "unavailable",
                        "native library not found: this jar has none for " + platform
                                + "; build libannals_jvm from source (cargo build --release -p annals-jvm) and set the "
                                + "system property " + PROPERTY + " to its path, or use Annals.connect",
                        (String) null);
            }
            Path file = Files.createTempFile("libannals_jvm", ".so");
            try {
                Files.copy(library, file, StandardCopyOption.REPLACE_EXISTING);
                System.load(file.toString());
            } finally {
                // Linux keeps the bytes of a loaded library when its name is gone.
                Files.deleteIfExists(file);
            }
        }
    }

    private static String platform() {
        String arch = System.getProperty("os.arch").toLowerCase(Locale.ROOT);
        String system = System.getProperty("os.name").toLowerCase(Locale.ROOT).replace(' ', '-');
        return system + "-" + (arch.equals("amd64") ? "x86_64" : arch);
    }
}
