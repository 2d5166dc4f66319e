package dev.annals.gremlin;

import dev.annals.AnnalsException;
import dev.annals.Transaction;
import java.util.function.Function;

/** The transaction of one thread. */
final class Session {
    private final Transaction transaction;
    private long changes;

    Session(Transaction transaction) {
        this.transaction = transaction;
    }

    Transaction transaction() {
        return transaction;
    }

    /** How many changes it has made: what was read before a change may be old. */
    long changes() {
        return changes;
    }

    <R> R changing(Function<Transaction, R> change) {
        changes += 1;
        return reading(change);
    }

    <R> R reading(Function<Transaction, R> read) {
        try {
            return read.apply(transaction);
        } catch (AnnalsException error) {
            throw AnnalsGraph.exception(error);
        }
    }
}
