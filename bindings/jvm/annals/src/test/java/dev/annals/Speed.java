package dev.annals;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.ToLongFunction;

/** The figures of native/examples/speed.rs, through the Java API, and nanoseconds of two ways to read a hop. */
final class Speed {
    private static final int ENTITIES = 200_000;
    private static final int READS = 1_000_000;
    private static final int HOPS = 20_000;
    private static final int THREADS = 100;
    private static final long COMMITTING_SECONDS = 4;

    private Speed() {}

    private static NewEntity made(String id, long number) {
        return NewEntity.of("person")
                .id(id)
                .set("name", "Name of " + number)
                .set("age", number)
                .set("city", "some city " + number % 100)
                .set("score", number / 3.0);
    }

    public static void main(String[] arguments) throws InterruptedException {
        try (Repository repository = Annals.open(Path.of(arguments[0]))) {
            repository.transact(t -> {
                for (int number = 0; number < ENTITIES; number++) {
                    t.create(made("p" + number, number));
                }
            });
            System.out.println("get " + read(repository));
            hops(repository);
            System.out.println("commits " + commit(repository));
        }
    }

    private static long read(Repository repository) {
        long best = Long.MAX_VALUE;
        try (Snapshot snapshot = repository.snapshot()) {
            for (int round = 0; round < 5; round++) {
                long number = 1;
                int found = 0;
                long begin = System.nanoTime();
                for (int count = 0; count < READS; count++) {
                    number = number * 6_364_136_223_846_793_005L + 1_442_695_040_888_963_407L;
                    Entity entity = snapshot.entity("p" + (number >>> 33) % ENTITIES).orElseThrow();
                    for (String name : new String[] {"name", "age", "city", "score"}) {
                        found += entity.property(name).isPresent() ? 1 : 0;
                    }
                }
                best = Math.min(best, System.nanoTime() - begin);
                if (found != 4 * READS) {
                    throw new IllegalStateException("expected all properties");
                }
            }
        }
        return best / READS;
    }

    /** The neighbours of one entity with four links, as a stream of neighbours and by the call for many. */
    private static void hops(Repository repository) {
        repository.transact(t -> {
            for (int number = 0; number < HOPS; number++) {
                for (int step = 1; step <= 4; step++) {
                    t.create(NewRelationship.of("knows", "p" + number, "p" + (number + step)));
                }
            }
        });
        Links links = Links.out().type("knows");
        try (Snapshot snapshot = repository.snapshot()) {
            long one = Long.MAX_VALUE;
            long many = Long.MAX_VALUE;
            for (int round = 0; round < 5; round++) {
                one = Math.min(one, hops(id -> snapshot.neighbors(id, links).count()));
                many = Math.min(many, hops(id -> snapshot.neighborEntities(List.of(id), links).get(id).size()));
            }
            System.out.println("neighbors " + one);
            System.out.println("neighborEntities " + many);
        }
    }

    private static long hops(ToLongFunction<String> read) {
        long begin = System.nanoTime();
        long found = 0;
        for (int number = 0; number < HOPS; number++) {
            found += read.applyAsLong("p" + number);
        }
        if (found != 4 * HOPS) {
            throw new IllegalStateException("expected all neighbours");
        }
        return (System.nanoTime() - begin) / HOPS;
    }

    private static long commit(Repository repository) throws InterruptedException {
        AtomicLong commits = new AtomicLong();
        long end = System.nanoTime() + COMMITTING_SECONDS * 1_000_000_000;
        List<Thread> threads = new ArrayList<>();
        for (int index = 0; index < THREADS; index++) {
            String prefix = "c" + index + "-";
            Thread thread = new Thread(() -> {
                for (int number = 0; System.nanoTime() < end; number++) {
                    NewEntity entity = made(prefix + number, number);
                    repository.transact(t -> t.create(entity));
                    commits.incrementAndGet();
                }
            });
            threads.add(thread);
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        return commits.get() / COMMITTING_SECONDS;
    }
}
