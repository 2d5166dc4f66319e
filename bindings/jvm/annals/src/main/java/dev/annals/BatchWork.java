package dev.annals;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import java.util.List;

/** Collects operations, and posts them as one transaction. */
final class BatchWork implements Work {
    private final Client client;
    private final Query query;
    private final Isolation isolation;
    private final JsonArray operations = new JsonArray();
    private JsonObject settings = new JsonObject();

    BatchWork(Client client, Query query, Isolation isolation) {
        this.client = client;
        this.query = query;
        this.isolation = isolation;
    }

    @Override
    public String create(NewEntity entity) {
        String id = entity.id().isEmpty() ? Ids.make() : entity.id();
        operations.add(entity.operation("create", id));
        return id;
    }

    @Override
    public String create(NewRelationship relationship) {
        String id = relationship.id().isEmpty() ? Ids.make() : relationship.id();
        operations.add(relationship.operation("create", id));
        return id;
    }

    @Override
    public void update(Patch patch) {
        operations.add(patch.operation());
    }

    @Override
    public void remove(InstanceId instance, boolean isPurge) {
        operations.add(Operations.on(isPurge ? "purge" : "delete", instance));
    }

    @Override
    public List<String> operation(JsonObject operation) {
        operations.add(operation);
        return List.of();
    }

    JsonArray operations() {
        return operations;
    }

    @Override
    public void settings(JsonObject settings) {
        if (settings.has("committedAt")) {
            throw AnnalsException.invalid("committedAt: expected an embedded repository, found a connection to a server;"
                    + " export and import the history there");
        }
        this.settings = settings;
    }

    @Override
    public View view() {
        throw AnnalsException.invalid(
                "transaction: expected an embedded repository to read own writes, found a connection "
                        + "to a server, which has no open transactions; read from a snapshot, and state what you "
                        + "expect with ifVersion or expect");
    }

    @Override
    public Receipt commit() {
        return Receipt.of(post(false));
    }

    DryRun dryRun() {
        return DryRun.of(post(true));
    }

    private JsonObject post(boolean isDryRun) {
        JsonObject body = settings.deepCopy();
        body.add("operations", operations);
        if (isolation == Isolation.SERIALIZABLE) {
            body.addProperty("serializable", true);
        }
        if (isDryRun) {
            body.addProperty("dryRun", true);
        }
        // The author also stands in the header, which a server may require.
        String author = Json.text(settings, "author");
        return client.send("POST", query.on("/v1/transactions"), Client.stamp(author, ""), body);
    }

    @Override
    public void close() {}
}
