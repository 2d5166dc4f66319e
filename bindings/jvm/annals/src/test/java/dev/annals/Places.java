package dev.annals;

import java.nio.file.Files;
import java.nio.file.Path;

/** Where files of the workspace are. */
final class Places {
    private Places() {}

    /** The folder with the scenarios. */
    static Path workspace() {
        Path folder = Path.of("").toAbsolutePath();
        while (folder != null && !Files.isDirectory(folder.resolve("scenarios"))) {
            folder = folder.getParent();
        }
        if (folder == null) {
            throw new IllegalStateException("run the tests inside the workspace of Annals");
        }
        return folder;
    }
}
