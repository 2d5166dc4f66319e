package dev.annals.egeria;

import dev.annals.AsOf;
import dev.annals.Changed;
import dev.annals.InstanceChange;
import dev.annals.InstanceId;
import dev.annals.Kind;
import dev.annals.LogRecord;
import dev.annals.Snapshot;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.Classification;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.EntityDetail;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.InstanceHeader;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.InstanceStatus;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.InstanceType;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.Relationship;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.OMRSCheckedExceptionBase;

/** Finds how a record changed each instance, and sends the event that says so. */
final class Events {
    /** Deleted instances whose types are kept for their purge, which removes the type. */
    private static final int DELETED_MAX = 10_000;

    private final AnnalsRepositoryConnector connector;
    private final Instances instances;
    private final String ownId;
    private final AnnalsEventMapper.Outbound outbound;
    private final Map<String, InstanceType> deleted = new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, InstanceType> eldest) {
            return size() > DELETED_MAX;
        }
    };

    Events(AnnalsRepositoryConnector connector, AnnalsEventMapper.Outbound outbound) {
        this.connector = connector;
        this.instances = connector.collection().instances;
        this.ownId = connector.getMetadataCollectionId();
        this.outbound = outbound;
    }

    void send(LogRecord record) throws OMRSCheckedExceptionBase {
        long position = record.position();
        Store store = connector.store();
        try (Snapshot before = store.at(AsOf.position(position - 1));
                Snapshot after = store.at(AsOf.position(position))) {
            for (InstanceChange change :
                    after.changes(position - 1, position).toList()) {
                String id = change.instance().id();
                String former = change.difference()
                        .map(difference -> difference.headers().get("id"))
                        .flatMap(Changed::before)
                        .map(Object::toString)
                        .orElse(id);
                if (change.instance().kind() == Kind.ENTITY) {
                    entity(instances.entity(before, former), instances.entity(after, id));
                } else {
                    relationship(instances.relationship(before, former), instances.relationship(after, id));
                }
            }
        }
        record.changes().stream()
                .filter(change -> change.action().equals("purge"))
                .forEach(change -> change.instance().ifPresent(this::purged));
    }

    /** A purge leaves nothing to read; its type is known if the deletion was seen. */
    private void purged(InstanceId instance) {
        InstanceType type = deleted.remove(instance.kind() + " " + instance.id());
        if (type == null) {
            return;
        }
        if (instance.kind() == Kind.ENTITY) {
            outbound.purgedEntity(type, instance.id());
        } else {
            outbound.purgedRelationship(type, instance.id());
        }
    }

    /** Events tell of the instances that this collection writes. */
    private boolean isOurs(InstanceHeader instance) {
        return ownId.equals(instance.getMetadataCollectionId()) || ownId.equals(instance.getReplicatedBy());
    }

    private static boolean isDeleted(InstanceHeader instance) {
        return instance.getStatus() == InstanceStatus.DELETED;
    }

    private void entity(Optional<EntityDetail> before, Optional<EntityDetail> after) {
        if (after.isEmpty()) {
            return;
        }
        EntityDetail entity = after.get();
        if (!isOurs(entity)) {
            before.ifPresent(one -> classifications(one, entity));
        } else if (before.isEmpty()) {
            outbound.created(entity);
        } else if (!isOurs(before.get())) {
            outbound.homed(before.get().getMetadataCollectionId(), entity);
        } else if (!before.get().getGUID().equals(entity.getGUID())) {
            outbound.identified(before.get().getGUID(), entity);
        } else if (isDeleted(entity)) {
            deleted.put(Kind.ENTITY + " " + entity.getGUID(), entity.getType());
            outbound.deleted(entity);
        } else if (isDeleted(before.get())) {
            outbound.restored(entity);
        } else if (before.get().getVersion() == entity.getVersion()) {
            classifications(before.get(), entity);
        } else {
            outbound.updated(before.get(), entity);
        }
    }

    private void classifications(EntityDetail before, EntityDetail after) {
        Map<String, Classification> known = named(before);
        Map<String, Classification> now = named(after);
        now.forEach((name, one) -> {
            Classification old = known.get(name);
            if (old == null) {
                outbound.classified(after, one);
            } else if (old.getVersion() != one.getVersion()) {
                outbound.reclassified(after, old, one);
            }
        });
        known.forEach((name, one) -> {
            if (!now.containsKey(name)) {
                outbound.declassified(after, one);
            }
        });
    }

    private Map<String, Classification> named(EntityDetail entity) {
        Map<String, Classification> named = new LinkedHashMap<>();
        if (entity.getClassifications() != null) {
            for (Classification one : entity.getClassifications()) {
                if (ownId.equals(one.getMetadataCollectionId()) || ownId.equals(one.getReplicatedBy())) {
                    named.put(one.getName(), one);
                }
            }
        }
        return named;
    }

    private void relationship(Optional<Relationship> before, Optional<Relationship> after) {
        if (after.isEmpty() || !isOurs(after.get())) {
            return;
        }
        Relationship relationship = after.get();
        if (before.isEmpty()) {
            outbound.created(relationship);
        } else if (!isOurs(before.get())) {
            outbound.homed(before.get().getMetadataCollectionId(), relationship);
        } else if (!before.get().getGUID().equals(relationship.getGUID())) {
            outbound.identified(before.get().getGUID(), relationship);
        } else if (isDeleted(relationship)) {
            deleted.put(Kind.RELATIONSHIP + " " + relationship.getGUID(), relationship.getType());
            outbound.deleted(relationship);
        } else if (isDeleted(before.get())) {
            outbound.restored(relationship);
        } else {
            outbound.updated(before.get(), relationship);
        }
    }
}
