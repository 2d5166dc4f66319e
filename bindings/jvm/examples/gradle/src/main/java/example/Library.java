package example;

import dev.annals.Annals;
import dev.annals.Entity;
import dev.annals.Find;
import dev.annals.NewEntity;
import dev.annals.NewRelationship;
import dev.annals.Patch;
import dev.annals.Receipt;
import dev.annals.Repository;
import dev.annals.Snapshot;
import java.net.URI;
import java.nio.file.Path;

/** Keeps two books with their history, in a folder or on a server: the argument is the one or the other. */
public final class Library {
    private Library() {}

    /**
     * Runs the program.
     *
     * @param arguments a folder, or an address such as http://127.0.0.1:8280; without one, a repository in memory
     */
    public static void main(String[] arguments) {
        try (Repository repository = open(arguments)) {
            Receipt first = repository.transact(t -> {
                t.author("ada").message("two books");
                t.upsert(NewEntity.of("book").id("notes").set("title", "Notes").set("year", 1842));
                t.upsert(NewEntity.of("book").id("sketch").set("title", "Sketch").set("year", 1842));
                t.upsert(NewRelationship.of("cites", "notes", "sketch").id("notes-cites-sketch"));
            });
            repository.transact(t -> {
                t.author("charles").message("the year was wrong");
                t.update(Patch.of("notes").set("year", 1843));
            });

            try (Snapshot now = repository.snapshot()) {
                now.find(Find.entities("book").atLeast("year", 1843)).forEach(book -> print("now", book));
                now.neighbors("notes").forEach(cited -> print("cited", cited.entity()));
                now.history("notes").forEach(version -> System.out.println("version " + version.version() + " by "
                        + version.author() + ": " + version.message()));
            }
            try (Snapshot then = repository.asOf(first.position())) {
                then.entity("notes").ifPresent(book -> print("then", book));
            }
        }
    }

    private static Repository open(String[] arguments) {
        if (arguments.length == 0) {
            return Annals.inMemory();
        }
        boolean isAddress = arguments[0].startsWith("http");
        return isAddress ? Annals.connect(URI.create(arguments[0])) : Annals.open(Path.of(arguments[0]));
    }

    private static void print(String when, Entity book) {
        System.out.println(when + ": " + book.property("title").orElse("?") + ", " + book.property("year").orElse("?"));
    }
}
