package dev.annals.egeria;

import dev.annals.AsOf;
import dev.annals.Changed;
import dev.annals.InstanceChange;
import dev.annals.InstanceId;
import dev.annals.Kind;
import dev.annals.LogRecord;
import dev.annals.Snapshot;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.LinkedHashMap;
import java.util.List;
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
    private final AnnalsRepositoryConnector connector;
    private final Instances instances;
    private final String ownId;
    private final AnnalsEventMapper.Outbound outbound;
    private final MapperState state;

    Events(AnnalsRepositoryConnector connector, AnnalsEventMapper.Outbound outbound, MapperState state) {
        this.connector = connector;
        this.instances = connector.collection().instances;
        this.ownId = connector.getMetadataCollectionId();
        this.outbound = outbound;
        this.state = state;
    }

    /** Sends what one change of a record says. */
    @FunctionalInterface
    private interface Sending {
        void send() throws IOException, OMRSCheckedExceptionBase;
    }

    /**
     * Sends the events of a record, except those of the changes that are done; these become more. A failure of one
     * change does not keep back the others.
     *
     * <p>Errors: those of the repository itself and of the state file, which say nothing about the record.
     *
     * @return the failures of single changes
     */
    List<Throwable> send(LogRecord record, BitSet done) {
        List<Throwable> failures = new ArrayList<>();
        Store store = connector.store();
        try {
            send(record, done, failures, store);
        } catch (Throwable error) {
            fail(error, failures);
        }
        return failures;
    }

    private void send(LogRecord record, BitSet done, List<Throwable> failures, Store store) {
        long position = record.position();
        int number = 0;
        try (Snapshot before = store.at(AsOf.position(position - 1));
                Snapshot after = store.at(AsOf.position(position))) {
            for (InstanceChange change :
                    after.changes(position - 1, position).toList()) {
                send(number++, done, failures, () -> changed(change, before, after));
            }
        }
        for (LogRecord.Change change : record.changes()) {
            if (change.action().equals("purge") && change.instance().isPresent()) {
                send(number++, done, failures, () -> purged(change.instance().get()));
            }
        }
    }

    /** Errors: this one, if it says nothing about the record. */
    private static void fail(Throwable error, List<Throwable> failures) {
        if (AnnalsEventMapper.isOfRepository(error)) {
            throw (RuntimeException) error;
        }
        failures.add(error);
    }

    private static void send(int number, BitSet done, List<Throwable> failures, Sending sending) {
        if (done.get(number)) {
            return;
        }
        try {
            sending.send();
            done.set(number);
        } catch (IOException error) {
            // The state file, not the record.
            throw new UncheckedIOException(error);
        } catch (Throwable error) {
            fail(error, failures);
        }
    }

    private void changed(InstanceChange change, Snapshot before, Snapshot after)
            throws IOException, OMRSCheckedExceptionBase {
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

    /** A purge leaves nothing to read; its type is known if the deletion was seen. */
    private void purged(InstanceId instance) throws IOException {
        Optional<InstanceType> type = state.type(instance).flatMap(instances::type);
        if (type.isPresent() && instance.kind() == Kind.ENTITY) {
            outbound.purgedEntity(type.get(), instance.id());
        } else if (type.isPresent()) {
            outbound.purgedRelationship(type.get(), instance.id());
        }
        state.gone(instance);
    }

    /** Events tell of the instances that this collection writes. */
    private boolean isOurs(InstanceHeader instance) {
        return ownId.equals(instance.getMetadataCollectionId()) || ownId.equals(instance.getReplicatedBy());
    }

    private static boolean isDeleted(InstanceHeader instance) {
        return instance.getStatus() == InstanceStatus.DELETED;
    }

    private void entity(Optional<EntityDetail> before, Optional<EntityDetail> after) throws IOException {
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
            state.deleted(InstanceId.entity(entity.getGUID()), entity.getType().getTypeDefName());
            outbound.deleted(entity);
        } else if (isDeleted(before.get())) {
            state.gone(InstanceId.entity(entity.getGUID()));
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

    private void relationship(Optional<Relationship> before, Optional<Relationship> after) throws IOException {
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
            state.deleted(
                    InstanceId.relationship(relationship.getGUID()),
                    relationship.getType().getTypeDefName());
            outbound.deleted(relationship);
        } else if (isDeleted(before.get())) {
            state.gone(InstanceId.relationship(relationship.getGUID()));
            outbound.restored(relationship);
        } else {
            outbound.updated(before.get(), relationship);
        }
    }
}
