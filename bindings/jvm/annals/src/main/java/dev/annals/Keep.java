package dev.annals;

/** The side to choose where later records built on what is taken back or rebased. */
public enum Keep {
    /** Also takes back the later changes; in a candidate, keeps its edits. */
    MINE,
    /** Leaves the instances on which others built as they are; in a candidate, drops its edits. */
    THEIRS;

    /**
     * The name in JSON.
     *
     * @return {@code mine} or {@code theirs}
     */
    @Override
    public String toString() {
        return name().toLowerCase(java.util.Locale.ROOT);
    }
}
