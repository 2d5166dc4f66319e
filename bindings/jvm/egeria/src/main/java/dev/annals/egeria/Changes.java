package dev.annals.egeria;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import dev.annals.Kind;
import java.util.Date;
import java.util.Objects;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.Classification;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.InstanceHeader;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.InstanceProperties;

/** Makes the operations of docs/json.md. */
final class Changes {
    private Changes() {}

    static JsonObject on(String action, Kind kind, String id) {
        JsonObject operation = new JsonObject();
        operation.addProperty("action", action);
        operation.addProperty("kind", kind.toString());
        operation.addProperty("id", id);
        return operation;
    }

    static JsonObject with(JsonObject operation, String name, String text) {
        operation.addProperty(name, text);
        return operation;
    }

    static JsonObject create(Kind kind, String id, String type, InstanceProperties properties) {
        JsonObject operation = with(on("create", kind, id), "type", type);
        operation.add("properties", PropertyForms.properties(properties));
        return operation;
    }

    static JsonObject replace(Kind kind, String id, InstanceProperties properties) {
        return replace(kind, id, PropertyForms.properties(properties));
    }

    static JsonObject replace(Kind kind, String id, JsonObject properties) {
        JsonObject operation = on("replace", kind, id);
        operation.add("properties", properties);
        return operation;
    }

    /** Without `withRelationships`, which relationships do not have. */
    static JsonObject restoreAlone(Kind kind, String id) {
        JsonObject operation = on("restore", kind, id);
        if (kind == Kind.ENTITY) {
            operation.addProperty("withRelationships", false);
        }
        return operation;
    }

    static JsonObject purgeDeleted(Kind kind, String id, String type) {
        JsonObject operation = with(on("purge", kind, id), "type", type);
        operation.addProperty("deletedOnly", true);
        return operation;
    }

    static JsonObject declassify(String id, String name) {
        return with(on("declassify", Kind.ENTITY, id), "classification", name);
    }

    static JsonObject classify(String id, Classification classification, Headers headers) {
        JsonObject operation = with(on("classify", Kind.ENTITY, id), "classification", classification.getName());
        operation.add("properties", PropertyForms.properties(classification.getProperties()));
        headers.write(classification, classification.getProperties(), operation);
        return operation;
    }

    /** Replaces all properties of a classification, which stays the same one. */
    static JsonObject reclassify(String id, String name, InstanceProperties properties) {
        JsonArray patch = new JsonArray();
        JsonObject clear = new JsonObject();
        clear.addProperty("clear", true);
        patch.add(clear);
        PropertyForms.properties(properties).entrySet().forEach(one -> {
            JsonObject step = new JsonObject();
            step.addProperty("set", one.getKey());
            step.add("value", one.getValue());
            patch.add(step);
        });
        JsonObject operation = with(on("reclassify", Kind.ENTITY, id), "classification", name);
        operation.add("patch", patch);
        return operation;
    }

    static String type(InstanceHeader instance) {
        return instance.getType().getTypeDefName();
    }

    /** True if both have the same time for which they count. */
    static boolean isSameTime(InstanceProperties one, InstanceProperties two) {
        return Objects.equals(from(one), from(two)) && Objects.equals(to(one), to(two));
    }

    private static Date from(InstanceProperties properties) {
        return properties == null ? null : properties.getEffectiveFromTime();
    }

    private static Date to(InstanceProperties properties) {
        return properties == null ? null : properties.getEffectiveToTime();
    }
}
