package dev.annals.gremlin;

/** Seeds of random tests. */
final class Seeds {
    private Seeds() {}

    /** The seed that {@code -Dannals.seed} names, or that of the commit (ANNALS_FIRST_SEED), or one that no run had before. */
    static long first() {
        String ofTheCommit = System.getenv("ANNALS_FIRST_SEED");
        return Long.getLong("annals.seed", ofTheCommit == null ? System.nanoTime() : Long.parseLong(ofTheCommit));
    }
}
