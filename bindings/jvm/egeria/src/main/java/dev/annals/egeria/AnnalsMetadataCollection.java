package dev.annals.egeria;

import com.google.gson.JsonObject;
import dev.annals.AnnalsException;
import dev.annals.AsOf;
import dev.annals.Instance;
import dev.annals.InstanceId;
import dev.annals.Kind;
import dev.annals.Snapshot;
import java.util.ArrayList;
import java.util.Date;
import java.util.List;
import java.util.Optional;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.Classification;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.EntityDetail;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.EntityProxy;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.EntitySummary;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.InstanceHeader;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.InstanceStatus;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.Relationship;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.repositoryconnector.OMRSRepositoryHelper;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.repositoryconnector.OMRSRepositoryValidator;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.ClassificationErrorException;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.EntityConflictException;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.EntityNotKnownException;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.HomeEntityException;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.HomeRelationshipException;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.InvalidEntityException;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.InvalidParameterException;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.InvalidRelationshipException;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.PropertyErrorException;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.RelationshipConflictException;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.RepositoryErrorException;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.TypeErrorException;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.UserNotAuthorizedException;

/** Reference copies: instances and classifications that other collections own. */
public class AnnalsMetadataCollection extends MoveCalls {
    AnnalsMetadataCollection(
            AnnalsRepositoryConnector connector,
            String repositoryName,
            OMRSRepositoryHelper helper,
            OMRSRepositoryValidator validator,
            String id) {
        super(connector, repositoryName, helper, validator, id);
    }

    // Entities.

    @Override
    public void saveEntityReferenceCopy(String userId, EntityDetail entity)
            throws InvalidParameterException, RepositoryErrorException, TypeErrorException, PropertyErrorException,
                    HomeEntityException, EntityConflictException, InvalidEntityException, UserNotAuthorizedException {
        String method = "saveEntityReferenceCopy";
        referenceInstanceParameterValidation(userId, entity, "entity", method);
        try {
            save(userId, entity, method);
        } catch (AnnalsException error) {
            Failures.entityConflict(error, method);
            Failures.property(error, method);
            throw Failures.other(error, method);
        }
    }

    private void save(String userId, EntityDetail entity, String method) {
        if (entity.getStatus() == InstanceStatus.DELETED) {
            remove(userId, Kind.ENTITY, entity, method);
        } else {
            store().commit(userId, method, List.of(copies.entity(entity)));
        }
    }

    /** Annals stores no deleted copies: the copy goes, and comes back when its home restores it. */
    private void remove(String userId, Kind kind, InstanceHeader instance, String method) {
        if (store().isKnown(new InstanceId(kind, instance.getGUID()))) {
            store().commit(
                            userId,
                            method,
                            List.of(purge(kind, instance.getGUID(), instance.getMetadataCollectionId())));
        }
    }

    private static JsonObject purge(Kind kind, String guid, String home) {
        return Changes.with(Changes.on("purge-copy", kind, guid), "home", home);
    }

    @Override
    public void purgeEntityReferenceCopy(
            String userId, String entityGUID, String typeDefGUID, String typeDefName, String homeMetadataCollectionId)
            throws InvalidParameterException, RepositoryErrorException, HomeEntityException,
                    UserNotAuthorizedException {
        String method = "purgeEntityReferenceCopy";
        manageReferenceInstanceParameterValidation(
                userId,
                entityGUID,
                typeDefGUID,
                typeDefName,
                "entityGUID",
                homeMetadataCollectionId,
                "homeMetadataCollectionId",
                method);
        if (!purge(userId, InstanceId.entity(entityGUID), typeDefName, homeMetadataCollectionId, method)) {
            throw new HomeEntityException(Failures.home(entityGUID), getClass().getName(), method);
        }
    }

    /**
     * Removes a copy. One that is not there is no error: Egeria's sources say that its interface declares the exception
     * for it in error, and servers purge copies of which they never heard. An instance whose home is this collection is
     * purged if it is deleted; false if it is live.
     */
    private boolean purge(String userId, InstanceId id, String type, String home, String method)
            throws InvalidParameterException, RepositoryErrorException {
        JsonObject operation = metadataCollectionId.equals(home)
                ? Changes.purgeDeleted(id.kind(), id.id(), type)
                : purge(id.kind(), id.id(), home);
        try {
            store().commit(userId, method, List.of(operation));
            return true;
        } catch (AnnalsException error) {
            if (error.kind().equals("not-deleted")) {
                return false;
            }
            if (!Failures.isUnknown(error)) {
                throw Failures.other(error, method);
            }
            return true;
        }
    }

    // Classifications.

    @Override
    public List<Classification> getHomeClassifications(String userId, String entityGUID)
            throws InvalidParameterException, RepositoryErrorException, EntityNotKnownException,
                    UserNotAuthorizedException {
        return homeClassifications(userId, entityGUID, AsOf.NOW);
    }

    @Override
    public List<Classification> getHomeClassifications(String userId, String entityGUID, Date asOfTime)
            throws InvalidParameterException, RepositoryErrorException, EntityNotKnownException,
                    UserNotAuthorizedException {
        return homeClassifications(userId, entityGUID, Moment.of(asOfTime));
    }

    private List<Classification> homeClassifications(String userId, String guid, AsOf time)
            throws InvalidParameterException, RepositoryErrorException, EntityNotKnownException {
        String method = "getHomeClassifications";
        getInstanceParameterValidation(userId, guid, method);
        try (Snapshot snapshot = store().at(time)) {
            Optional<Instance> found = snapshot.known(InstanceId.entity(guid));
            EntityProxy entity =
                    found.isEmpty() ? null : instances.proxy(found.get()).orElse(null);
            List<Classification> own = new ArrayList<>();
            if (entity != null && entity.getClassifications() != null) {
                entity.getClassifications().stream()
                        .filter(one -> metadataCollectionId.equals(one.getMetadataCollectionId()))
                        .forEach(own::add);
            }
            return own.isEmpty() ? null : own;
        } catch (AnnalsException error) {
            throw Failures.other(error, method);
        }
    }

    @Override
    public void saveClassificationReferenceCopy(String userId, EntityDetail entity, Classification classification)
            throws InvalidParameterException, RepositoryErrorException, TypeErrorException, EntityConflictException,
                    InvalidEntityException, PropertyErrorException, UserNotAuthorizedException {
        String method = "saveClassificationReferenceCopy";
        validate(userId, entity, classification, method);
        try {
            List<JsonObject> operations = new ArrayList<>();
            boolean isStored = store().isKnown(InstanceId.entity(entity.getGUID()));
            if (!isStored && !metadataCollectionId.equals(entity.getMetadataCollectionId())) {
                operations.add(copies.entity(entity));
            }
            operations.add(copies.classification(entity, classification));
            store().commit(userId, method, operations);
        } catch (AnnalsException error) {
            throw classificationFailure(error, method);
        }
    }

    @Override
    public void saveClassificationReferenceCopy(String userId, EntityProxy entity, Classification classification)
            throws InvalidParameterException, RepositoryErrorException, TypeErrorException, EntityConflictException,
                    InvalidEntityException, PropertyErrorException, UserNotAuthorizedException {
        String method = "saveClassificationReferenceCopy";
        validate(userId, entity, classification, method);
        try {
            List<JsonObject> operations = new ArrayList<>();
            boolean isStored = store().isKnown(InstanceId.entity(entity.getGUID()));
            if (!isStored && !metadataCollectionId.equals(entity.getMetadataCollectionId())) {
                operations.add(copies.proxy(entity));
            }
            operations.add(copies.classification(entity, classification));
            store().commit(userId, method, operations);
        } catch (AnnalsException error) {
            throw classificationFailure(error, method);
        }
    }

    private void validate(String userId, EntitySummary entity, Classification classification, String method)
            throws InvalidParameterException, RepositoryErrorException, TypeErrorException, PropertyErrorException {
        basicRequestValidation(userId, method);
        repositoryValidator.validateGUID(repositoryName, "entityGUID", entity.getGUID(), method);
        repositoryValidator.validateInstanceType(repositoryName, entity);
        try {
            repositoryValidator.validateClassification(
                    repositoryName, "classification", classification.getName(), Changes.type(entity), method);
        } catch (ClassificationErrorException error) {
            throw new TypeErrorException(error);
        }
        repositoryValidator.validateClassificationProperties(
                repositoryName, classification.getName(), "classification", classification.getProperties(), method);
    }

    private static RepositoryErrorException classificationFailure(AnnalsException error, String method)
            throws InvalidParameterException, EntityConflictException, PropertyErrorException {
        Failures.entityConflict(error, method);
        Failures.property(error, method);
        return Failures.other(error, method);
    }

    @Override
    public void purgeClassificationReferenceCopy(String userId, EntityDetail entity, Classification classification)
            throws InvalidParameterException, TypeErrorException, PropertyErrorException, EntityConflictException,
                    InvalidEntityException, RepositoryErrorException, UserNotAuthorizedException {
        purgeClassification(userId, entity, classification);
    }

    @Override
    public void purgeClassificationReferenceCopy(String userId, EntityProxy entity, Classification classification)
            throws InvalidParameterException, TypeErrorException, PropertyErrorException, EntityConflictException,
                    InvalidEntityException, RepositoryErrorException, UserNotAuthorizedException {
        purgeClassification(userId, entity, classification);
    }

    /** A classification that is not there is no error. */
    private void purgeClassification(String userId, EntitySummary entity, Classification classification)
            throws InvalidParameterException, RepositoryErrorException {
        String method = "purgeClassificationReferenceCopy";
        basicRequestValidation(userId, method);
        String home = classification.getMetadataCollectionId() == null
                ? entity.getMetadataCollectionId()
                : classification.getMetadataCollectionId();
        JsonObject operation = Changes.with(
                Changes.with(
                        Changes.on("purge-classification-copy", Kind.ENTITY, entity.getGUID()),
                        "classification",
                        classification.getName()),
                "home",
                home);
        try {
            store().commit(userId, method, List.of(operation));
        } catch (AnnalsException error) {
            if (!Failures.isUnknown(error)) {
                throw Failures.other(error, method);
            }
        }
    }

    // Relationships.

    @Override
    public void saveRelationshipReferenceCopy(String userId, Relationship relationship)
            throws InvalidParameterException, RepositoryErrorException, TypeErrorException, EntityNotKnownException,
                    PropertyErrorException, HomeRelationshipException, RelationshipConflictException,
                    InvalidRelationshipException, UserNotAuthorizedException {
        String method = "saveRelationshipReferenceCopy";
        referenceInstanceParameterValidation(userId, relationship, "relationship", method);
        try {
            if (relationship.getStatus() == InstanceStatus.DELETED) {
                remove(userId, Kind.RELATIONSHIP, relationship, method);
            } else {
                store().commit(userId, method, List.of(copies.relationship(relationship, store())));
            }
        } catch (AnnalsException error) {
            Failures.relationshipConflict(error, method);
            Failures.end(error, method);
            Failures.property(error, method);
            throw Failures.other(error, method);
        }
    }

    @Override
    public void purgeRelationshipReferenceCopy(
            String userId,
            String relationshipGUID,
            String typeDefGUID,
            String typeDefName,
            String homeMetadataCollectionId)
            throws InvalidParameterException, RepositoryErrorException, HomeRelationshipException,
                    UserNotAuthorizedException {
        String method = "purgeRelationshipReferenceCopy";
        manageReferenceInstanceParameterValidation(
                userId,
                relationshipGUID,
                typeDefGUID,
                typeDefName,
                "relationshipGUID",
                homeMetadataCollectionId,
                "homeMetadataCollectionId",
                method);
        if (!purge(userId, InstanceId.relationship(relationshipGUID), typeDefName, homeMetadataCollectionId, method)) {
            throw new HomeRelationshipException(Failures.home(relationshipGUID), getClass().getName(), method);
        }
    }
}
