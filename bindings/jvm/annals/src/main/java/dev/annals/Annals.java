package dev.annals;

import com.google.gson.JsonObject;
import java.net.URI;
import java.nio.file.Path;
import java.util.List;

/**
 * Opens repositories: in this process, or over a connection to {@code annals serve}.
 *
 * <p>In this process a native library does the work. It is in the jar for Linux on x86-64; the system property
 * {@code dev.annals.library} names another one by its path.
 */
public final class Annals {
    private Annals() {}

    /**
     * Opens the repository in a folder, which is made if it does not exist.
     *
     * @param folder the folder
     * @return the repository; close it after use
     * @throws AnnalsException kind {@code locked}: another process has it open for writing; kind {@code corrupted},
     *     {@code gap}, {@code newer-format} or {@code io}; kind {@code unavailable}: no native library for this
     *     platform
     */
    public static Repository open(Path folder) {
        return open(folder, OpenOptions.defaults());
    }

    /**
     * Opens the repository in a folder.
     *
     * @param folder the folder
     * @param options how to open it
     * @return the repository; close it after use
     * @throws AnnalsException as {@link #open(Path)}
     */
    public static Repository open(Path folder, OpenOptions options) {
        return open(folder.toString(), options);
    }

    /**
     * Opens the repository at a place, as the command line does: a folder, or the URL of a log in a store, such as
     * {@code postgres://annals@db.example/library}. It is made if it does not exist. A URL with a password is refused.
     *
     * @param place the folder, or the URL
     * @return the repository; close it after use
     * @throws AnnalsException as {@link #open(Path)}; kind {@code locked}: a server writes to the log, and the text has its
     *     address; kind {@code invalid-argument}: no log has such a URL; kind {@code unavailable}: the store does not answer
     */
    public static Repository open(String place) {
        return open(place, OpenOptions.defaults());
    }

    /**
     * Opens the repository at a place.
     *
     * @param place a folder, or the URL of a log in a store
     * @param options how to open it
     * @return the repository; close it after use
     * @throws AnnalsException as {@link #open(String)}
     */
    public static Repository open(String place, OpenOptions options) {
        JsonObject settings = options.json();
        settings.addProperty("folder", place);
        return open(settings);
    }

    /**
     * A new repository in memory. It ends with {@link Repository#close}.
     *
     * @return the repository; close it after use
     * @throws AnnalsException kind {@code unavailable}: no native library for this platform
     */
    public static Repository inMemory() {
        return open(OpenOptions.defaults().json());
    }

    private static Repository open(JsonObject settings) {
        Native.load();
        try {
            Handle handle = new Handle("repository", Native.open(Json.bytes(settings)));
            return new OpenRepository(new NativeDoor(handle));
        } catch (AnnalsException error) {
            throw error.exact();
        }
    }

    /**
     * Connects to a server. The first call that needs it opens a connection.
     *
     * @param server its address, such as {@code http://127.0.0.1:8280}
     * @return the repository; close it after use
     * @throws AnnalsException kind {@code invalid-argument}: the address is none of http or https
     */
    public static Repository connect(URI server) {
        return connect(server, ConnectOptions.defaults());
    }

    /**
     * Connects to a server.
     *
     * @param server its address, such as {@code http://127.0.0.1:8280}
     * @param options times and headers
     * @return the repository; close it after use
     * @throws AnnalsException kind {@code invalid-argument}: the address is none of http or https
     */
    public static Repository connect(URI server, ConnectOptions options) {
        return new OpenRepository(new HttpDoor(server, options));
    }

    /**
     * Connects to the servers of one log: a writer and those that stand by. Requests go to the one that answered last, and
     * on to the next one when it does not answer, or answers that nothing was written. Transactions and declarations of
     * types whose answer is lost are sent again, and the servers commit them once. No read shows less than this client
     * has seen. A request ends with the request time.
     *
     * @param servers their addresses, in the order in which they are tried; with those by which they name each other,
     *     writes find the writer at once
     * @param options times and headers, for each of them
     * @return the repository; close it after use
     * @throws AnnalsException kind {@code invalid-argument}: there is no address, or one is none of http or https
     */
    public static Repository connect(List<URI> servers, ConnectOptions options) {
        return new OpenRepository(new ServersDoor(servers, options));
    }
}
