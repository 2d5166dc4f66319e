package dev.annals;

/** How a transaction is isolated from concurrent ones. */
public enum Isolation {
    /** Conflicts are other writes of what the transaction writes. */
    SNAPSHOT,
    /** Conflicts are also other writes of what the transaction read. */
    SERIALIZABLE
}
