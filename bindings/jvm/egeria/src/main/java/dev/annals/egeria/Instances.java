package dev.annals.egeria;

import dev.annals.Entity;
import dev.annals.Instance;
import dev.annals.InstanceId;
import dev.annals.Kind;
import dev.annals.Snapshot;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
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
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.InstanceProperties;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.InstanceType;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.Relationship;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.repositoryconnector.OMRSRepositoryConnector;

/**
 * Makes Egeria's instances of those of Annals.
 *
 * <p>An instance of a type that Egeria does not know is left out: another client of Annals wrote it.
 */
final class Instances {
    private final OMRSRepositoryConnector connector;
    private final TypeTable types;
    private final Headers headers;

    Instances(OMRSRepositoryConnector connector, TypeTable types, Headers headers) {
        this.connector = connector;
        this.types = types;
        this.headers = headers;
    }

    static boolean isProxy(Instance found) {
        return found.provenance().isProxy();
    }

    private boolean isKnown(Instance found) {
        return types.instanceType(found.type()).isPresent();
    }

    /** Empty if Egeria does not know the type. */
    Optional<InstanceType> type(String name) {
        return types.instanceType(name);
    }

    // Entities.

    /** Empty for a proxy. */
    Optional<EntityDetail> entity(Instance found) {
        if (isProxy(found) || !isKnown(found)) {
            return Optional.empty();
        }
        EntityDetail entity = new EntityDetail();
        summary(found, entity);
        entity.setProperties(properties(found));
        return Optional.of(entity);
    }

    private InstanceProperties properties(Instance found) {
        return Headers.effective(
                found.provenance(), PropertyValues.properties(found.properties(), types.attributes(found.type())));
    }

    /** Null if there are none, as Egeria's own repositories say it. */
    List<EntityDetail> entities(Collection<? extends Instance> found) {
        List<EntityDetail> entities = new ArrayList<>(found.size());
        found.forEach(one -> entity(one).ifPresent(entities::add));
        return entities.isEmpty() ? null : entities;
    }

    /** The proxy of an entity, or a proxy. */
    Optional<EntityProxy> proxy(Instance found) {
        if (!isKnown(found)) {
            return Optional.empty();
        }
        EntityProxy proxy = new EntityProxy();
        summary(found, proxy);
        Map<String, Object> unique = found.properties();
        if (!isProxy(found)) {
            unique = new HashMap<>();
            for (String name : types.unique(found.type())) {
                Object value = found.properties().get(name);
                if (value != null) {
                    unique.put(name, value);
                }
            }
        }
        proxy.setUniqueProperties(Headers.effective(
                found.provenance(), PropertyValues.properties(unique, types.attributes(found.type()))));
        return Optional.of(proxy);
    }

    private void summary(Instance found, EntitySummary entity) {
        header(found, entity);
        Map<String, dev.annals.Classification> named = ((Entity) found).classifications();
        if (!named.isEmpty()) {
            List<Classification> classifications = new ArrayList<>(named.size());
            named.values().forEach(one -> classifications.add(classification(one)));
            entity.setClassifications(classifications);
        }
    }

    Classification classification(dev.annals.Classification found) {
        Classification classification = new Classification();
        headers.read(found, classification, connector.getMetadataCollectionName());
        classification.setName(found.name());
        types.instanceType(found.name()).ifPresent(classification::setType);
        classification.setProperties(Headers.effective(
                found.provenance(), PropertyValues.properties(found.properties(), types.attributes(found.name()))));
        return classification;
    }

    private void header(Instance found, InstanceHeader instance) {
        headers.read(found, instance, connector.getMetadataCollectionName());
        types.instanceType(found.type()).ifPresent(instance::setType);
    }

    // Relationships.

    /** With their ends, as the snapshot shows them. Null if there are none. */
    List<Relationship> relationships(Snapshot snapshot, Collection<? extends Instance> found) {
        return relationships(snapshot, found, Map.of());
    }

    /** The same; entities that are read already are read no more. */
    List<Relationship> relationships(
            Snapshot snapshot, Collection<? extends Instance> found, Map<String, Entity> entities) {
        Set<String> ids = new LinkedHashSet<>();
        for (Instance one : found) {
            dev.annals.Relationship relationship = (dev.annals.Relationship) one;
            ids.add(relationship.from());
            ids.add(relationship.to());
        }
        ids.removeAll(entities.keySet());
        Map<String, Instance> ends = new HashMap<>(entities);
        if (!ids.isEmpty()) {
            ends.putAll(snapshot.known(Kind.ENTITY, ids));
        }
        List<Relationship> relationships = new ArrayList<>(found.size());
        for (Instance one : found) {
            relationship((dev.annals.Relationship) one, ends).ifPresent(relationships::add);
        }
        return relationships.isEmpty() ? null : relationships;
    }

    private Optional<Relationship> relationship(dev.annals.Relationship found, Map<String, Instance> ends) {
        Optional<EntityProxy> one = Optional.ofNullable(ends.get(found.from())).flatMap(this::proxy);
        Optional<EntityProxy> two = Optional.ofNullable(ends.get(found.to())).flatMap(this::proxy);
        if (!isKnown(found) || one.isEmpty() || two.isEmpty()) {
            return Optional.empty();
        }
        Relationship relationship = new Relationship();
        header(found, relationship);
        relationship.setProperties(properties(found));
        relationship.setEntityOneProxy(one.get());
        relationship.setEntityTwoProxy(two.get());
        return Optional.of(relationship);
    }

    // One of either, also a deleted one.

    Optional<EntityDetail> entity(Snapshot snapshot, String guid) {
        return snapshot.known(InstanceId.entity(guid)).flatMap(this::entity);
    }

    Optional<Relationship> relationship(Snapshot snapshot, String guid) {
        Optional<Instance> found = snapshot.known(InstanceId.relationship(guid));
        List<Relationship> one = found.isEmpty() ? null : relationships(snapshot, List.of(found.get()));
        return one == null ? Optional.empty() : Optional.of(one.get(0));
    }
}
