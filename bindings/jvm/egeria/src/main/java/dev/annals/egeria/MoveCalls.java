package dev.annals.egeria;

import com.google.gson.JsonObject;
import dev.annals.AnnalsException;
import dev.annals.AsOf;
import dev.annals.Kind;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.EntityDetail;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.InstanceHeader;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.Relationship;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.typedefs.TypeDefCategory;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.typedefs.TypeDefSummary;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.repositoryconnector.OMRSRepositoryHelper;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.repositoryconnector.OMRSRepositoryValidator;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.ClassificationErrorException;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.EntityNotKnownException;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.InvalidParameterException;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.PropertyErrorException;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.RelationshipNotKnownException;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.RepositoryErrorException;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.TypeErrorException;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.UserNotAuthorizedException;

/** Gives instances another identifier, type or home. */
abstract class MoveCalls extends RelationshipWrites {
    MoveCalls(
            AnnalsRepositoryConnector connector,
            String repositoryName,
            OMRSRepositoryHelper helper,
            OMRSRepositoryValidator validator,
            String id) {
        super(connector, repositoryName, helper, validator, id);
    }

    // Entities.

    @Override
    public EntityDetail reIdentifyEntity(
            String userId, String typeDefGUID, String typeDefName, String entityGUID, String newEntityGUID)
            throws InvalidParameterException, RepositoryErrorException, EntityNotKnownException,
                    UserNotAuthorizedException {
        String method = "reIdentifyEntity";
        reIdentifyInstanceParameterValidation(
                userId, typeDefGUID, typeDefName, entityGUID, "entityGUID", newEntityGUID, "newEntityGUID", method);
        writable(entityGUID, method);
        try {
            return changed(userId, newEntityGUID, method, reidentify(Kind.ENTITY, entityGUID, newEntityGUID));
        } catch (AnnalsException error) {
            Failures.entity(error, method);
            throw Failures.other(error, method);
        }
    }

    private static JsonObject reidentify(Kind kind, String guid, String newGuid) {
        return Changes.with(Changes.on("reidentify", kind, guid), "newId", newGuid);
    }

    @Override
    public EntityDetail reTypeEntity(
            String userId, String entityGUID, TypeDefSummary currentTypeDefSummary, TypeDefSummary newTypeDefSummary)
            throws InvalidParameterException, RepositoryErrorException, TypeErrorException, PropertyErrorException,
                    ClassificationErrorException, EntityNotKnownException, UserNotAuthorizedException {
        String method = "reTypeEntity";
        reTypeInstanceParameterValidation(
                userId,
                entityGUID,
                "entityGUID",
                TypeDefCategory.ENTITY_DEF,
                currentTypeDefSummary,
                newTypeDefSummary,
                method);
        EntityDetail entity = writable(entityGUID, method);
        repositoryValidator.validateInstanceType(
                repositoryName,
                entity,
                "currentTypeDefSummary",
                "currentTypeDefSummary",
                currentTypeDefSummary.getGUID(),
                currentTypeDefSummary.getName());
        repositoryValidator.validatePropertiesForType(
                repositoryName, "newTypeDefSummary", newTypeDefSummary, entity.getProperties(), method);
        repositoryValidator.validateClassificationList(
                repositoryName, "entityGUID", entity.getClassifications(), newTypeDefSummary.getName(), method);
        try {
            return changed(userId, entityGUID, method, retype(Kind.ENTITY, entityGUID, newTypeDefSummary));
        } catch (AnnalsException error) {
            Failures.entity(error, method);
            Failures.property(error, method);
            Failures.classification(error, method);
            throw Failures.other(error, method);
        }
    }

    private static JsonObject retype(Kind kind, String guid, TypeDefSummary type) {
        return Changes.with(Changes.on("retype", kind, guid), "type", type.getName());
    }

    @Override
    public EntityDetail reHomeEntity(
            String userId,
            String entityGUID,
            String typeDefGUID,
            String typeDefName,
            String homeMetadataCollectionId,
            String newHomeMetadataCollectionId,
            String newHomeMetadataCollectionName)
            throws InvalidParameterException, RepositoryErrorException, EntityNotKnownException,
                    UserNotAuthorizedException {
        String method = "reHomeEntity";
        reHomeInstanceParameterValidation(
                userId,
                entityGUID,
                "entityGUID",
                typeDefGUID,
                typeDefName,
                homeMetadataCollectionId,
                newHomeMetadataCollectionId,
                method);
        EntityDetail entity = live(entityGUID, method);
        repositoryValidator.validateEntityCanBeRehomed(repositoryName, metadataCollectionId, entity, method);
        validateNewHome(newHomeMetadataCollectionId, method);
        try {
            return changed(userId, entityGUID, method, rehome(Kind.ENTITY, entity));
        } catch (AnnalsException error) {
            Failures.entity(error, method);
            throw Failures.other(error, method);
        }
    }

    private static JsonObject rehome(Kind kind, InstanceHeader instance) {
        return Changes.with(Changes.on("rehome", kind, instance.getGUID()), "home", instance.getMetadataCollectionId());
    }

    /** Only the new home itself makes an instance its own. */
    private void validateNewHome(String newHome, String method) throws InvalidParameterException {
        if (!metadataCollectionId.equals(newHome)) {
            throw Failures.parameter(
                    "expected this collection, " + metadataCollectionId + ", as the new home, found " + newHome
                            + "; call that collection",
                    method,
                    "newHomeMetadataCollectionId");
        }
    }

    // Relationships.

    @Override
    public Relationship reIdentifyRelationship(
            String userId, String typeDefGUID, String typeDefName, String relationshipGUID, String newRelationshipGUID)
            throws InvalidParameterException, RepositoryErrorException, RelationshipNotKnownException,
                    UserNotAuthorizedException {
        String method = "reIdentifyRelationship";
        reIdentifyInstanceParameterValidation(
                userId,
                typeDefGUID,
                typeDefName,
                relationshipGUID,
                "relationshipGUID",
                newRelationshipGUID,
                "newRelationshipGUID",
                method);
        writableRelationship(relationshipGUID, method);
        JsonObject operation = reidentify(Kind.RELATIONSHIP, relationshipGUID, newRelationshipGUID);
        try {
            return changedRelationship(userId, newRelationshipGUID, method, operation);
        } catch (AnnalsException error) {
            Failures.relationship(error, method);
            throw Failures.other(error, method);
        }
    }

    @Override
    public Relationship reTypeRelationship(
            String userId,
            String relationshipGUID,
            TypeDefSummary currentTypeDefSummary,
            TypeDefSummary newTypeDefSummary)
            throws InvalidParameterException, RepositoryErrorException, TypeErrorException, PropertyErrorException,
                    RelationshipNotKnownException, UserNotAuthorizedException {
        String method = "reTypeRelationship";
        reTypeInstanceParameterValidation(
                userId,
                relationshipGUID,
                "relationshipGUID",
                TypeDefCategory.RELATIONSHIP_DEF,
                currentTypeDefSummary,
                newTypeDefSummary,
                method);
        Relationship relationship = writableRelationship(relationshipGUID, method);
        repositoryValidator.validateInstanceType(
                repositoryName,
                relationship,
                "currentTypeDefSummary",
                "currentTypeDefSummary",
                currentTypeDefSummary.getGUID(),
                currentTypeDefSummary.getName());
        repositoryValidator.validatePropertiesForType(
                repositoryName, "newTypeDefSummary", newTypeDefSummary, relationship.getProperties(), method);
        JsonObject operation = retype(Kind.RELATIONSHIP, relationshipGUID, newTypeDefSummary);
        try {
            return changedRelationship(userId, relationshipGUID, method, operation);
        } catch (AnnalsException error) {
            Failures.relationship(error, method);
            Failures.property(error, method);
            throw Failures.other(error, method);
        }
    }

    @Override
    public Relationship reHomeRelationship(
            String userId,
            String relationshipGUID,
            String typeDefGUID,
            String typeDefName,
            String homeMetadataCollectionId,
            String newHomeMetadataCollectionId,
            String newHomeMetadataCollectionName)
            throws InvalidParameterException, RepositoryErrorException, RelationshipNotKnownException,
                    UserNotAuthorizedException {
        String method = "reHomeRelationship";
        reHomeInstanceParameterValidation(
                userId,
                relationshipGUID,
                "relationshipGUID",
                typeDefGUID,
                typeDefName,
                homeMetadataCollectionId,
                newHomeMetadataCollectionId,
                method);
        Relationship relationship = liveRelationship(relationshipGUID, AsOf.NOW, method);
        repositoryValidator.validateRelationshipCanBeRehomed(
                repositoryName, metadataCollectionId, relationship, method);
        validateNewHome(newHomeMetadataCollectionId, method);
        try {
            return changedRelationship(userId, relationshipGUID, method, rehome(Kind.RELATIONSHIP, relationship));
        } catch (AnnalsException error) {
            Failures.relationship(error, method);
            throw Failures.other(error, method);
        }
    }
}
