package dev.annals;

import com.google.gson.JsonObject;
import java.util.List;

/** The open state of a transaction: in this process it is the engine's, over a connection a list of operations. */
interface Work extends AutoCloseable {
    /** The id of the new entity. */
    String create(NewEntity entity);

    /** The id of the new relationship. */
    String create(NewRelationship relationship);

    void update(Patch patch);

    /** Deletes, or purges. */
    void remove(InstanceId instance, boolean isPurge);

    /** Adds an operation of docs/json.md; the ids of what it creates, as far as they are known now. */
    List<String> operation(JsonObject operation);

    void settings(JsonObject settings);

    /** Reads with the own writes. Errors: {@code invalid-argument} over a connection. */
    View view();

    Receipt commit();

    /** Discards what is not committed. */
    @Override
    void close();
}
