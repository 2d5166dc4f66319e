package dev.annals;

import java.nio.file.Files;
import java.nio.file.Path;

/** The two ways to a repository. Tests run along both. */
enum Way {
    CONNECTION {
        @Override
        Opened open(Path folder) {
            ServerProcess server = new ServerProcess(folder.resolve("repository"));
            return new Opened(server.connect(), server::close);
        }
    },
    PROCESS {
        @Override
        Opened open(Path folder) {
            useBuiltLibrary();
            return new Opened(Annals.open(folder.resolve("repository")), () -> {});
        }
    };

    /** Opens a new repository. */
    abstract Opened open(Path folder);

    /** A repository, and what else must be closed. */
    record Opened(Repository repository, Runnable end) implements AutoCloseable {
        @Override
        public void close() {
            repository.close();
            end.run();
        }
    }

    /** Takes the library of a build in the workspace, unless the property names one. */
    static void useBuiltLibrary() {
        Path built = Places.workspace().resolve("target/debug/libannals_jvm.so");
        if (System.getProperty("dev.annals.library") == null && Files.exists(built)) {
            System.setProperty("dev.annals.library", built.toString());
        }
    }
}
