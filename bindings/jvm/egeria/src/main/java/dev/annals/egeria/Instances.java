package dev.annals.egeria;

import com.google.gson.JsonObject;
import dev.annals.Kind;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.Classification;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.EntityDetail;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.EntityProxy;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.EntitySummary;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.InstanceHeader;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.Relationship;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.repositoryconnector.OMRSRepositoryConnector;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.repositoryconnector.OMRSRepositoryHelper;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.RepositoryErrorException;

/**
 * Makes Egeria's instances of their JSON forms.
 *
 * <p>An instance of a type that Egeria does not know is left out: another client of Annals wrote it.
 */
final class Instances {
    private final OMRSRepositoryConnector connector;
    private final OMRSRepositoryHelper helper;
    private final String source;
    private final TypeTable types;
    private final Headers headers;

    Instances(
            OMRSRepositoryConnector connector,
            OMRSRepositoryHelper helper,
            String source,
            TypeTable types,
            Headers headers) {
        this.connector = connector;
        this.helper = helper;
        this.source = source;
        this.types = types;
        this.headers = headers;
    }

    static boolean isProxy(JsonObject json) {
        return json.has("isProxy") && json.get("isProxy").getAsBoolean();
    }

    private boolean isKnown(JsonObject json) {
        return types.instanceType(Headers.text(json, "type")).isPresent();
    }

    // Entities.

    /** Empty for a proxy. */
    Optional<EntityDetail> entity(JsonObject json) {
        if (isProxy(json) || !isKnown(json)) {
            return Optional.empty();
        }
        EntityDetail entity = new EntityDetail();
        summary(json, entity);
        String type = Headers.text(json, "type");
        entity.setProperties(Headers.effective(
                json, PropertyValues.properties(json.getAsJsonObject("properties"), types.attributes(type))));
        return Optional.of(entity);
    }

    /** Null if there are none, as Egeria's own repositories say it. */
    List<EntityDetail> entities(List<JsonObject> found) {
        List<EntityDetail> entities = new ArrayList<>(found.size());
        found.forEach(json -> entity(json).ifPresent(entities::add));
        return entities.isEmpty() ? null : entities;
    }

    /** The proxy of an entity, or a proxy. */
    Optional<EntityProxy> proxy(JsonObject json) throws RepositoryErrorException {
        if (!isProxy(json)) {
            Optional<EntityDetail> entity = entity(json);
            return entity.isEmpty() ? Optional.empty() : Optional.of(helper.getNewEntityProxy(source, entity.get()));
        }
        if (!isKnown(json)) {
            return Optional.empty();
        }
        EntityProxy proxy = new EntityProxy();
        summary(json, proxy);
        String type = Headers.text(json, "type");
        proxy.setUniqueProperties(Headers.effective(
                json, PropertyValues.properties(json.getAsJsonObject("properties"), types.attributes(type))));
        return Optional.of(proxy);
    }

    private void summary(JsonObject json, EntitySummary entity) {
        header(json, entity);
        JsonObject named = json.getAsJsonObject("classifications");
        if (named != null && named.size() > 0) {
            List<Classification> classifications = new ArrayList<>(named.size());
            named.entrySet()
                    .forEach(one -> classifications.add(
                            classification(one.getKey(), one.getValue().getAsJsonObject())));
            entity.setClassifications(classifications);
        }
    }

    private Classification classification(String name, JsonObject json) {
        // The status of a classification is that of every live one.
        JsonObject full = json.deepCopy();
        full.addProperty("status", "active");
        Classification classification = new Classification();
        headers.read(full, classification, connector.getMetadataCollectionName());
        headers.readOrigin(json, classification);
        classification.setName(name);
        types.instanceType(name).ifPresent(classification::setType);
        classification.setProperties(Headers.effective(
                json, PropertyValues.properties(json.getAsJsonObject("properties"), types.attributes(name))));
        return classification;
    }

    private void header(JsonObject json, InstanceHeader instance) {
        headers.read(json, instance, connector.getMetadataCollectionName());
        instance.setGUID(Headers.text(json, "id"));
        instance.setReIdentifiedFromGUID(Headers.text(json, "reidentifiedFrom"));
        types.instanceType(Headers.text(json, "type")).ifPresent(instance::setType);
    }

    // Relationships.

    /** With their ends, as of the same moment. Null if there are none. */
    List<Relationship> relationships(Store store, Store.Found found) throws RepositoryErrorException {
        List<Relationship> relationships =
                relationships(found.items(), store.entities(ends(found.items()), found.moment()));
        return relationships.isEmpty() ? null : relationships;
    }

    static Set<String> ends(List<JsonObject> relationships) {
        Set<String> ids = new LinkedHashSet<>();
        for (JsonObject one : relationships) {
            ids.add(Headers.text(one, "from"));
            ids.add(Headers.text(one, "to"));
        }
        return ids;
    }

    List<Relationship> relationships(List<JsonObject> found, Map<String, JsonObject> ends)
            throws RepositoryErrorException {
        List<Relationship> relationships = new ArrayList<>(found.size());
        for (JsonObject json : found) {
            relationship(json, ends).ifPresent(relationships::add);
        }
        return relationships;
    }

    private Optional<Relationship> relationship(JsonObject json, Map<String, JsonObject> ends)
            throws RepositoryErrorException {
        Optional<EntityProxy> one = end(json, "from", ends);
        Optional<EntityProxy> two = end(json, "to", ends);
        if (!isKnown(json) || one.isEmpty() || two.isEmpty()) {
            return Optional.empty();
        }
        Relationship relationship = new Relationship();
        header(json, relationship);
        String type = Headers.text(json, "type");
        relationship.setProperties(Headers.effective(
                json, PropertyValues.properties(json.getAsJsonObject("properties"), types.attributes(type))));
        relationship.setEntityOneProxy(one.get());
        relationship.setEntityTwoProxy(two.get());
        return Optional.of(relationship);
    }

    private Optional<EntityProxy> end(JsonObject json, String name, Map<String, JsonObject> ends)
            throws RepositoryErrorException {
        JsonObject end = ends.get(Headers.text(json, name));
        return end == null ? Optional.empty() : proxy(end);
    }

    // One of either.

    Optional<EntityDetail> entity(Store store, String guid, Moment moment) {
        return store.one(Kind.ENTITY, guid, moment).items().stream().findFirst().flatMap(this::entity);
    }

    Optional<Relationship> relationship(Store store, String guid, Moment moment) throws RepositoryErrorException {
        List<Relationship> found = relationships(store, store.one(Kind.RELATIONSHIP, guid, moment));
        return found == null ? Optional.empty() : Optional.of(found.get(0));
    }
}
