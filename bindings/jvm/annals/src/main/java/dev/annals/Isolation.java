package dev.annals;

/** How a transaction is isolated from concurrent ones. */
public enum Isolation {
    /** Conflicts are other writes of what the transaction writes. */
    SNAPSHOT,
    /**
     * Conflicts are also other writes of what the transaction read. Over a connection that is what the server reads for the
     * operations, and not what you read from snapshots: state that with {@link Transaction#expect(InstanceId, String)}.
     */
    SERIALIZABLE
}
