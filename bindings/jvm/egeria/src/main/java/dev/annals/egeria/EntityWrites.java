package dev.annals.egeria;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import dev.annals.AnnalsException;
import dev.annals.AsOf;
import dev.annals.InstanceId;
import dev.annals.Kind;
import dev.annals.Snapshot;
import java.util.List;
import java.util.UUID;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.Classification;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.EntityDetail;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.EntityProxy;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.InstanceAuditHeader;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.InstanceProperties;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.InstanceProvenanceType;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.InstanceStatus;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.typedefs.TypeDef;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.repositoryconnector.OMRSRepositoryHelper;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.repositoryconnector.OMRSRepositoryValidator;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.ClassificationErrorException;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.EntityNotDeletedException;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.EntityNotKnownException;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.FunctionNotSupportedException;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.InvalidParameterException;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.PropertyErrorException;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.RepositoryErrorException;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.StatusNotSupportedException;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.TypeErrorException;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.UserNotAuthorizedException;

/** Creates, changes, deletes and restores entities. */
abstract class EntityWrites extends GraphCalls {
    EntityWrites(
            AnnalsRepositoryConnector connector,
            String repositoryName,
            OMRSRepositoryHelper helper,
            OMRSRepositoryValidator validator,
            String id) {
        super(connector, repositoryName, helper, validator, id);
    }

    // Creation.

    @Override
    public EntityDetail addEntity(
            String userId,
            String entityTypeGUID,
            InstanceProperties initialProperties,
            List<Classification> initialClassifications,
            InstanceStatus initialStatus)
            throws InvalidParameterException, RepositoryErrorException, TypeErrorException, PropertyErrorException,
                    ClassificationErrorException, StatusNotSupportedException, UserNotAuthorizedException {
        String method = "addEntity";
        TypeDef type = addEntityParameterValidation(
                userId, entityTypeGUID, initialProperties, initialClassifications, initialStatus, method);
        JsonObject operation = creation(type, initialProperties, initialClassifications, initialStatus);
        Headers.writeEffective(initialProperties, operation);
        return create(userId, operation, method);
    }

    @Override
    public EntityDetail addExternalEntity(
            String userId,
            String entityTypeGUID,
            String externalSourceGUID,
            String externalSourceName,
            InstanceProperties initialProperties,
            List<Classification> initialClassifications,
            InstanceStatus initialStatus)
            throws InvalidParameterException, RepositoryErrorException, TypeErrorException, PropertyErrorException,
                    ClassificationErrorException, StatusNotSupportedException, UserNotAuthorizedException {
        String method = "addExternalEntity";
        TypeDef type = addExternalEntityParameterValidation(
                userId,
                entityTypeGUID,
                externalSourceGUID,
                initialProperties,
                initialClassifications,
                initialStatus,
                method);
        JsonObject operation = creation(type, initialProperties, initialClassifications, initialStatus);
        headers.write(
                external(new EntityDetail(), externalSourceGUID, externalSourceName), initialProperties, operation);
        return create(userId, operation, method);
    }

    /** Gives the headers of an instance that an external source owns and this collection writes. */
    final <T extends InstanceAuditHeader> T external(T instance, String sourceGuid, String sourceName) {
        instance.setMetadataCollectionId(sourceGuid);
        instance.setMetadataCollectionName(sourceName);
        instance.setInstanceProvenanceType(InstanceProvenanceType.EXTERNAL_SOURCE);
        instance.setReplicatedBy(metadataCollectionId);
        return instance;
    }

    private JsonObject creation(
            TypeDef type, InstanceProperties properties, List<Classification> classifications, InstanceStatus status) {
        String id = UUID.randomUUID().toString();
        JsonObject operation = Changes.create(Kind.ENTITY, id, type.getName(), properties);
        if (status != null) {
            operation.addProperty("status", TypeForms.status(status));
        }
        if (classifications != null && !classifications.isEmpty()) {
            JsonArray forms = new JsonArray();
            for (Classification classification : classifications) {
                JsonObject form = new JsonObject();
                form.addProperty("name", classification.getName());
                form.add("properties", PropertyForms.properties(classification.getProperties()));
                headers.write(classification, classification.getProperties(), form);
                forms.add(form);
            }
            operation.add("classifications", forms);
        }
        return operation;
    }

    private EntityDetail create(String userId, JsonObject operation, String method)
            throws InvalidParameterException, RepositoryErrorException, PropertyErrorException,
                    ClassificationErrorException, StatusNotSupportedException {
        try {
            return changed(userId, Headers.text(operation, "id"), method, operation);
        } catch (AnnalsException error) {
            Failures.property(error, method);
            Failures.classification(error, method);
            Failures.status(error, method);
            throw Failures.other(error, method);
        }
    }

    /** Commits operations on an entity, and reads it as the commit left it. */
    final EntityDetail changed(String userId, String guid, String method, JsonObject... operations)
            throws RepositoryErrorException {
        AsOf after = store().commit(userId, method, List.of(operations));
        try (Snapshot snapshot = store().at(after)) {
            return instances
                    .entity(snapshot, guid)
                    .orElseThrow(
                            () -> Failures.repository("entity " + guid + " is not there after its change", method));
        }
    }

    @Override
    public void addEntityProxy(String userId, EntityProxy entityProxy)
            throws InvalidParameterException, RepositoryErrorException, FunctionNotSupportedException,
                    UserNotAuthorizedException {
        String method = "addEntityProxy";
        addEntityProxyParameterValidation(userId, entityProxy);
        // A proxy says less than an entity that is stored already.
        if (known(entityProxy.getGUID(), AsOf.NOW, method).isEmpty()) {
            try {
                store().commit(userId, method, List.of(copies.proxy(entityProxy)));
            } catch (AnnalsException error) {
                throw Failures.other(error, method);
            }
        }
    }

    // Changes.

    @Override
    public EntityDetail updateEntityStatus(String userId, String entityGUID, InstanceStatus newStatus)
            throws InvalidParameterException, RepositoryErrorException, EntityNotKnownException,
                    StatusNotSupportedException, UserNotAuthorizedException {
        String method = "updateEntityStatus";
        updateInstanceStatusParameterValidation(userId, entityGUID, newStatus, method);
        EntityDetail entity = writable(entityGUID, method);
        TypeDef type = getTypeDefForInstance(entity, method);
        repositoryValidator.validateNewStatus(repositoryName, "newStatus", newStatus, type, method);
        try {
            return changed(
                    userId,
                    entityGUID,
                    method,
                    Changes.with(
                            Changes.on("set-status", Kind.ENTITY, entityGUID), "status", TypeForms.status(newStatus)));
        } catch (AnnalsException error) {
            Failures.entity(error, method);
            Failures.status(error, method);
            throw Failures.other(error, method);
        }
    }

    /** An entity that is not deleted, and that this collection may write. */
    final EntityDetail writable(String guid, String method)
            throws InvalidParameterException, RepositoryErrorException, EntityNotKnownException {
        EntityDetail entity = live(guid, method);
        repositoryValidator.validateEntityCanBeUpdated(repositoryName, metadataCollectionId, entity, method);
        repositoryValidator.validateInstanceType(repositoryName, entity);
        return entity;
    }

    @Override
    public EntityDetail updateEntityProperties(String userId, String entityGUID, InstanceProperties properties)
            throws InvalidParameterException, RepositoryErrorException, EntityNotKnownException, PropertyErrorException,
                    UserNotAuthorizedException {
        String method = "updateEntityProperties";
        updateInstancePropertiesPropertyValidation(userId, entityGUID, properties, method);
        EntityDetail entity = writable(entityGUID, method);
        TypeDef type = getTypeDefForInstance(entity, method);
        repositoryValidator.validateNewPropertiesForType(repositoryName, "properties", type, properties, method);
        JsonObject replace = Changes.replace(Kind.ENTITY, entityGUID, properties);
        writeTime(entity, entity.getProperties(), properties, replace);
        try {
            return changed(userId, entityGUID, method, replace);
        } catch (AnnalsException error) {
            Failures.entity(error, method);
            Failures.property(error, method);
            throw Failures.other(error, method);
        }
    }

    /** Adds the provenance to a change of content if the time for which it counts is another one. */
    final void writeTime(
            InstanceAuditHeader header, InstanceProperties before, InstanceProperties after, JsonObject operation) {
        if (!Changes.isSameTime(before, after)) {
            headers.write(header, after, operation);
        }
    }

    @Override
    public EntityDetail undoEntityUpdate(String userId, String entityGUID)
            throws InvalidParameterException, RepositoryErrorException, EntityNotKnownException,
                    UserNotAuthorizedException {
        String method = "undoEntityUpdate";
        manageInstanceParameterValidation(userId, entityGUID, "entityGUID", method);
        writable(entityGUID, method);
        try {
            Histories.Undo undo = undo(InstanceId.entity(entityGUID), method);
            return changed(userId, entityGUID, method, undo.operations(Kind.ENTITY, entityGUID));
        } catch (AnnalsException error) {
            Failures.entity(error, method);
            throw Failures.other(error, method);
        }
    }

    final Histories.Undo undo(InstanceId id, String method) throws InvalidParameterException {
        return Histories.undo(store(), id)
                .orElseThrow(() -> Failures.parameter(
                        "expected an instance with an update to undo, found the first version of " + id,
                        method,
                        "guid"));
    }

    // Deletion.

    @Override
    public EntityDetail deleteEntity(String userId, String typeDefGUID, String typeDefName, String obsoleteEntityGUID)
            throws InvalidParameterException, RepositoryErrorException, EntityNotKnownException,
                    UserNotAuthorizedException {
        String method = "deleteEntity";
        manageInstanceParameterValidation(
                userId, typeDefGUID, typeDefName, obsoleteEntityGUID, "obsoleteEntityGUID", method);
        EntityDetail entity = live(obsoleteEntityGUID, method);
        repositoryValidator.validateTypeForInstanceDelete(repositoryName, typeDefGUID, typeDefName, entity, method);
        try {
            return changed(userId, obsoleteEntityGUID, method, Changes.on("delete", Kind.ENTITY, obsoleteEntityGUID));
        } catch (AnnalsException error) {
            Failures.entity(error, method);
            throw Failures.other(error, method);
        }
    }

    @Override
    public void purgeEntity(String userId, String typeDefGUID, String typeDefName, String deletedEntityGUID)
            throws InvalidParameterException, RepositoryErrorException, EntityNotKnownException,
                    EntityNotDeletedException, UserNotAuthorizedException {
        String method = "purgeEntity";
        manageInstanceParameterValidation(
                userId, typeDefGUID, typeDefName, deletedEntityGUID, "deletedEntityGUID", method);
        EntityDetail entity = deleted(deletedEntityGUID, method);
        repositoryValidator.validateTypeForInstanceDelete(repositoryName, typeDefGUID, typeDefName, entity, method);
        try {
            JsonObject purge = Changes.purgeDeleted(Kind.ENTITY, deletedEntityGUID, Changes.type(entity));
            store().commit(userId, method, List.of(purge));
        } catch (AnnalsException error) {
            Failures.entity(error, method);
            Failures.entityNotDeleted(error, method);
            throw Failures.other(error, method);
        }
    }

    private EntityDetail deleted(String guid, String method)
            throws InvalidParameterException, RepositoryErrorException, EntityNotKnownException,
                    EntityNotDeletedException {
        EntityDetail entity = known(guid, AsOf.NOW, method).orElse(null);
        repositoryValidator.validateEntityFromStore(repositoryName, guid, entity, method);
        repositoryValidator.validateEntityIsDeleted(repositoryName, entity, method);
        return entity;
    }

    @Override
    public EntityDetail restoreEntity(String userId, String deletedEntityGUID)
            throws InvalidParameterException, RepositoryErrorException, EntityNotKnownException,
                    EntityNotDeletedException, UserNotAuthorizedException {
        String method = "restoreEntity";
        manageInstanceParameterValidation(userId, deletedEntityGUID, "deletedEntityGUID", method);
        deleted(deletedEntityGUID, method);
        try {
            return changed(userId, deletedEntityGUID, method, Changes.restoreAlone(Kind.ENTITY, deletedEntityGUID));
        } catch (AnnalsException error) {
            Failures.entity(error, method);
            Failures.entityNotDeleted(error, method);
            throw Failures.other(error, method);
        }
    }
}
