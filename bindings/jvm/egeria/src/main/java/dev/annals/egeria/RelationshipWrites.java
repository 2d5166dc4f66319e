package dev.annals.egeria;

import com.google.gson.JsonObject;
import dev.annals.AnnalsException;
import dev.annals.AsOf;
import dev.annals.Instance;
import dev.annals.InstanceId;
import dev.annals.Kind;
import dev.annals.Snapshot;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.EntityProxy;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.InstanceProperties;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.InstanceStatus;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.Relationship;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.typedefs.TypeDef;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.repositoryconnector.OMRSRepositoryHelper;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.repositoryconnector.OMRSRepositoryValidator;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.EntityNotKnownException;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.InvalidParameterException;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.PropertyErrorException;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.RelationshipNotDeletedException;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.RelationshipNotKnownException;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.RepositoryErrorException;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.StatusNotSupportedException;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.TypeErrorException;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.UserNotAuthorizedException;

/** Creates, changes, deletes and restores relationships. */
abstract class RelationshipWrites extends ClassificationWrites {
    RelationshipWrites(
            AnnalsRepositoryConnector connector,
            String repositoryName,
            OMRSRepositoryHelper helper,
            OMRSRepositoryValidator validator,
            String id) {
        super(connector, repositoryName, helper, validator, id);
    }

    // Creation.

    @Override
    public Relationship addRelationship(
            String userId,
            String relationshipTypeGUID,
            InstanceProperties initialProperties,
            String entityOneGUID,
            String entityTwoGUID,
            InstanceStatus initialStatus)
            throws InvalidParameterException, RepositoryErrorException, TypeErrorException, PropertyErrorException,
                    EntityNotKnownException, StatusNotSupportedException, UserNotAuthorizedException {
        String method = "addRelationship";
        TypeDef type = addRelationshipParameterValidation(
                userId, relationshipTypeGUID, initialProperties, entityOneGUID, entityTwoGUID, initialStatus, method);
        JsonObject operation = creation(type, initialProperties, entityOneGUID, entityTwoGUID, initialStatus, method);
        Headers.writeEffective(initialProperties, operation);
        return create(userId, operation, method);
    }

    @Override
    public Relationship addExternalRelationship(
            String userId,
            String relationshipTypeGUID,
            String externalSourceGUID,
            String externalSourceName,
            InstanceProperties initialProperties,
            String entityOneGUID,
            String entityTwoGUID,
            InstanceStatus initialStatus)
            throws InvalidParameterException, RepositoryErrorException, TypeErrorException, PropertyErrorException,
                    EntityNotKnownException, StatusNotSupportedException, UserNotAuthorizedException {
        String method = "addExternalRelationship";
        TypeDef type = addExternalRelationshipParameterValidation(
                userId,
                relationshipTypeGUID,
                externalSourceGUID,
                initialProperties,
                entityOneGUID,
                entityTwoGUID,
                initialStatus,
                method);
        JsonObject operation = creation(type, initialProperties, entityOneGUID, entityTwoGUID, initialStatus, method);
        headers.write(
                external(new Relationship(), externalSourceGUID, externalSourceName), initialProperties, operation);
        return create(userId, operation, method);
    }

    private JsonObject creation(
            TypeDef type, InstanceProperties properties, String one, String two, InstanceStatus status, String method)
            throws InvalidParameterException, RepositoryErrorException, EntityNotKnownException {
        Map<String, Instance> ends;
        try (Snapshot snapshot = store().at(AsOf.NOW)) {
            ends = snapshot.known(Kind.ENTITY, new LinkedHashSet<>(List.of(one, two)));
        } catch (AnnalsException error) {
            throw Failures.other(error, method);
        }
        EntityProxy first = end(ends, one, method);
        EntityProxy second = end(ends, two, method);
        repositoryValidator.validateRelationshipEnds(repositoryName, first, second, type, method);
        String id = UUID.randomUUID().toString();
        JsonObject operation = Changes.create(Kind.RELATIONSHIP, id, type.getName(), properties);
        operation.addProperty("from", one);
        operation.addProperty("to", two);
        if (status != null) {
            operation.addProperty("status", TypeForms.status(status));
        }
        return operation;
    }

    private EntityProxy end(Map<String, Instance> ends, String guid, String method)
            throws RepositoryErrorException, EntityNotKnownException {
        Instance found = ends.get(guid);
        EntityProxy end = found == null ? null : instances.proxy(found).orElse(null);
        repositoryValidator.validateEntityFromStore(repositoryName, guid, end, method);
        repositoryValidator.validateEntityIsNotDeleted(repositoryName, end, method);
        return end;
    }

    private Relationship create(String userId, JsonObject operation, String method)
            throws InvalidParameterException, RepositoryErrorException, PropertyErrorException, EntityNotKnownException,
                    StatusNotSupportedException {
        try {
            return changedRelationship(userId, Headers.text(operation, "id"), method, operation);
        } catch (AnnalsException error) {
            Failures.end(error, method);
            Failures.property(error, method);
            Failures.status(error, method);
            throw Failures.other(error, method);
        }
    }

    /** Commits operations on a relationship, and reads it as the commit left it. */
    final Relationship changedRelationship(String userId, String guid, String method, JsonObject... operations)
            throws RepositoryErrorException {
        AsOf after = store().commit(userId, method, List.of(operations));
        try (Snapshot snapshot = store().at(after)) {
            return instances
                    .relationship(snapshot, guid)
                    .orElseThrow(() ->
                            Failures.repository("relationship " + guid + " is not there after its change", method));
        }
    }

    // Changes.

    /** A relationship that is not deleted, and that this collection may write. */
    final Relationship writableRelationship(String guid, String method)
            throws InvalidParameterException, RepositoryErrorException, RelationshipNotKnownException {
        Relationship relationship = liveRelationship(guid, AsOf.NOW, method);
        repositoryValidator.validateRelationshipCanBeUpdated(
                repositoryName, metadataCollectionId, relationship, method);
        repositoryValidator.validateInstanceType(repositoryName, relationship);
        return relationship;
    }

    @Override
    public Relationship updateRelationshipStatus(String userId, String relationshipGUID, InstanceStatus newStatus)
            throws InvalidParameterException, RepositoryErrorException, RelationshipNotKnownException,
                    StatusNotSupportedException, UserNotAuthorizedException {
        String method = "updateRelationshipStatus";
        updateInstanceStatusParameterValidation(userId, relationshipGUID, newStatus, method);
        Relationship relationship = writableRelationship(relationshipGUID, method);
        TypeDef type = getTypeDefForInstance(relationship, method);
        repositoryValidator.validateNewStatus(repositoryName, "newStatus", newStatus, type, method);
        JsonObject operation = Changes.with(
                Changes.on("set-status", Kind.RELATIONSHIP, relationshipGUID), "status", TypeForms.status(newStatus));
        try {
            return changedRelationship(userId, relationshipGUID, method, operation);
        } catch (AnnalsException error) {
            Failures.relationship(error, method);
            Failures.status(error, method);
            throw Failures.other(error, method);
        }
    }

    @Override
    public Relationship updateRelationshipProperties(
            String userId, String relationshipGUID, InstanceProperties properties)
            throws InvalidParameterException, RepositoryErrorException, RelationshipNotKnownException,
                    PropertyErrorException, UserNotAuthorizedException {
        String method = "updateRelationshipProperties";
        updateInstancePropertiesPropertyValidation(userId, relationshipGUID, properties, method);
        Relationship relationship = writableRelationship(relationshipGUID, method);
        TypeDef type = getTypeDefForInstance(relationship, method);
        repositoryValidator.validateNewPropertiesForType(repositoryName, "properties", type, properties, method);
        JsonObject replace = Changes.replace(Kind.RELATIONSHIP, relationshipGUID, properties);
        writeTime(relationship, relationship.getProperties(), properties, replace);
        try {
            return changedRelationship(userId, relationshipGUID, method, replace);
        } catch (AnnalsException error) {
            Failures.relationship(error, method);
            Failures.property(error, method);
            throw Failures.other(error, method);
        }
    }

    @Override
    public Relationship undoRelationshipUpdate(String userId, String relationshipGUID)
            throws InvalidParameterException, RepositoryErrorException, RelationshipNotKnownException,
                    UserNotAuthorizedException {
        String method = "undoRelationshipUpdate";
        manageInstanceParameterValidation(userId, relationshipGUID, "relationshipGUID", method);
        writableRelationship(relationshipGUID, method);
        try {
            Histories.Undo undo = undo(InstanceId.relationship(relationshipGUID), method);
            return changedRelationship(
                    userId, relationshipGUID, method, undo.operations(Kind.RELATIONSHIP, relationshipGUID));
        } catch (AnnalsException error) {
            Failures.relationship(error, method);
            throw Failures.other(error, method);
        }
    }

    // Deletion.

    @Override
    public Relationship deleteRelationship(
            String userId, String typeDefGUID, String typeDefName, String obsoleteRelationshipGUID)
            throws InvalidParameterException, RepositoryErrorException, RelationshipNotKnownException,
                    UserNotAuthorizedException {
        String method = "deleteRelationship";
        manageInstanceParameterValidation(
                userId, typeDefGUID, typeDefName, obsoleteRelationshipGUID, "obsoleteRelationshipGUID", method);
        Relationship relationship = liveRelationship(obsoleteRelationshipGUID, AsOf.NOW, method);
        repositoryValidator.validateTypeForInstanceDelete(
                repositoryName, typeDefGUID, typeDefName, relationship, method);
        JsonObject delete = Changes.on("delete", Kind.RELATIONSHIP, obsoleteRelationshipGUID);
        try {
            return changedRelationship(userId, obsoleteRelationshipGUID, method, delete);
        } catch (AnnalsException error) {
            Failures.relationship(error, method);
            throw Failures.other(error, method);
        }
    }

    @Override
    public void purgeRelationship(String userId, String typeDefGUID, String typeDefName, String deletedRelationshipGUID)
            throws InvalidParameterException, RepositoryErrorException, RelationshipNotKnownException,
                    RelationshipNotDeletedException, UserNotAuthorizedException {
        String method = "purgeRelationship";
        manageInstanceParameterValidation(
                userId, typeDefGUID, typeDefName, deletedRelationshipGUID, "deletedRelationshipGUID", method);
        Relationship relationship = deletedRelationship(deletedRelationshipGUID, method);
        repositoryValidator.validateTypeForInstanceDelete(
                repositoryName, typeDefGUID, typeDefName, relationship, method);
        JsonObject purge = Changes.purgeDeleted(Kind.RELATIONSHIP, deletedRelationshipGUID, Changes.type(relationship));
        try {
            store().commit(userId, method, List.of(purge));
        } catch (AnnalsException error) {
            Failures.relationship(error, method);
            Failures.relationshipNotDeleted(error, method);
            throw Failures.other(error, method);
        }
    }

    private Relationship deletedRelationship(String guid, String method)
            throws InvalidParameterException, RepositoryErrorException, RelationshipNotKnownException,
                    RelationshipNotDeletedException {
        Relationship relationship = knownRelationship(guid, AsOf.NOW, method).orElse(null);
        repositoryValidator.validateRelationshipFromStore(repositoryName, guid, relationship, method);
        repositoryValidator.validateRelationshipIsDeleted(repositoryName, relationship, method);
        return relationship;
    }

    /** Both ends must be live. */
    @Override
    public Relationship restoreRelationship(String userId, String deletedRelationshipGUID)
            throws InvalidParameterException, RepositoryErrorException, RelationshipNotKnownException,
                    RelationshipNotDeletedException, UserNotAuthorizedException {
        String method = "restoreRelationship";
        manageInstanceParameterValidation(userId, deletedRelationshipGUID, "deletedRelationshipGUID", method);
        deletedRelationship(deletedRelationshipGUID, method);
        JsonObject restore = Changes.restoreAlone(Kind.RELATIONSHIP, deletedRelationshipGUID);
        try {
            return changedRelationship(userId, deletedRelationshipGUID, method, restore);
        } catch (AnnalsException error) {
            Failures.relationship(error, method);
            Failures.relationshipNotDeleted(error, method);
            throw Failures.other(error, method);
        }
    }
}
