package dev.annals;

import com.google.gson.JsonObject;

/** The operations of docs/json.md that no builder makes. */
final class Operations {
    private Operations() {}

    static JsonObject of(String action) {
        JsonObject operation = new JsonObject();
        operation.addProperty("action", action);
        return operation;
    }

    static JsonObject on(String action, InstanceId instance) {
        JsonObject operation = of(action);
        operation.addProperty("kind", instance.kind().toString());
        operation.addProperty("id", instance.id());
        return operation;
    }

    static JsonObject on(String action, String entityId) {
        JsonObject operation = of(action);
        operation.addProperty("id", InstanceId.check(entityId));
        return operation;
    }

    static JsonObject with(JsonObject operation, String name, String text) {
        operation.addProperty(name, text);
        return operation;
    }
}
