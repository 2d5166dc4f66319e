package dev.annals.egeria;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import dev.annals.InstanceId;
import dev.annals.Kind;
import java.util.List;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.Classification;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.EntityDetail;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.EntityProxy;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.EntitySummary;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.InstanceHeader;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.InstanceProperties;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.InstanceStatus;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.Relationship;

/** Makes the operations that save copies and proxies, with the headers and classifications that their homes told. */
final class Copies {
    private final String ownId;
    private final Headers headers;

    Copies(Headers headers) {
        this.ownId = headers.ownId();
        this.headers = headers;
    }

    JsonObject entity(EntityDetail entity) {
        return entity("save-copy", entity, entity.getProperties());
    }

    JsonObject proxy(EntityProxy proxy) {
        return entity("save-proxy", proxy, proxy.getUniqueProperties());
    }

    private JsonObject entity(String action, EntitySummary entity, InstanceProperties properties) {
        JsonObject operation = instance(action, Kind.ENTITY, entity, properties);
        JsonArray classifications = new JsonArray();
        if (entity.getClassifications() != null) {
            for (Classification one : entity.getClassifications()) {
                // Classifications of ours are stored already.
                if (!ownId.equals(one.getMetadataCollectionId())) {
                    JsonObject form = form(entity, one);
                    form.addProperty("name", one.getName());
                    classifications.add(form);
                }
            }
        }
        if (!classifications.isEmpty()) {
            operation.add("classifications", classifications);
        }
        return operation;
    }

    private JsonObject instance(String action, Kind kind, InstanceHeader instance, InstanceProperties properties) {
        JsonObject operation =
                Changes.with(Changes.on(action, kind, instance.getGUID()), "type", Changes.type(instance));
        operation.add("properties", PropertyForms.properties(properties));
        if (instance.getStatus() != null && instance.getStatus() != InstanceStatus.DELETED) {
            operation.addProperty("status", TypeForms.status(instance.getStatus()));
        }
        headers.write(instance, properties, operation);
        headers.writeOrigin(instance, operation);
        return operation;
    }

    /** A copy of a classification of a stored entity. */
    JsonObject classification(EntitySummary entity, Classification classification) {
        JsonObject operation = form(entity, classification);
        operation.addProperty("classification", classification.getName());
        Changes.on("save-classification-copy", Kind.ENTITY, entity.getGUID())
                .entrySet()
                .forEach(member -> operation.add(member.getKey(), member.getValue()));
        return operation;
    }

    private JsonObject form(EntitySummary entity, Classification classification) {
        Classification owned = new Classification(classification);
        if (owned.getMetadataCollectionId() == null) {
            owned.setMetadataCollectionId(entity.getMetadataCollectionId());
            owned.setMetadataCollectionName(entity.getMetadataCollectionName());
        }
        JsonObject form = new JsonObject();
        form.add("properties", PropertyForms.properties(owned.getProperties()));
        headers.write(owned, owned.getProperties(), form);
        headers.writeOrigin(owned, form);
        return form;
    }

    /** With proxies of the ends that are not stored. */
    JsonObject relationship(Relationship relationship, Store store) {
        EntityProxy one = relationship.getEntityOneProxy();
        EntityProxy two = relationship.getEntityTwoProxy();
        JsonObject operation =
                instance("save-copy", Kind.RELATIONSHIP, relationship, relationship.getProperties());
        operation.addProperty("from", one.getGUID());
        operation.addProperty("to", two.getGUID());
        JsonArray proxies = new JsonArray();
        for (EntityProxy end : List.of(one, two)) {
            boolean isOwn = ownId.equals(end.getMetadataCollectionId());
            if (!isOwn && !store.isKnown(InstanceId.entity(end.getGUID()))) {
                JsonObject proxy = proxy(end);
                proxy.remove("action");
                proxy.remove("kind");
                proxies.add(proxy);
            }
        }
        if (!proxies.isEmpty()) {
            operation.add("proxies", proxies);
        }
        return operation;
    }
}
