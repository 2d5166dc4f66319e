package dev.annals.egeria;

import com.google.gson.JsonObject;
import dev.annals.AnnalsException;
import dev.annals.Kind;
import java.util.ArrayList;
import java.util.Date;
import java.util.List;
import java.util.Optional;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.HistorySequencingOrder;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.EntityDetail;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.EntitySummary;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.Relationship;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.repositoryconnector.OMRSRepositoryHelper;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.repositoryconnector.OMRSRepositoryValidator;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.EntityNotKnownException;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.EntityProxyOnlyException;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.InvalidParameterException;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.RelationshipNotKnownException;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.RepositoryErrorException;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.UserNotAuthorizedException;

/** Reads of one instance, now, as of a time, and all its versions. */
abstract class ReadCalls extends TypeCalls {
    ReadCalls(
            AnnalsRepositoryConnector connector,
            String repositoryName,
            OMRSRepositoryHelper helper,
            OMRSRepositoryValidator validator,
            String id) {
        super(connector, repositoryName, helper, validator, id);
    }

    // Entities.

    @Override
    public EntityDetail isEntityKnown(String userId, String guid)
            throws InvalidParameterException, RepositoryErrorException, UserNotAuthorizedException {
        String method = "isEntityKnown";
        getInstanceParameterValidation(userId, guid, method);
        return known(guid, Moment.NOW, method).orElse(null);
    }

    /** Also a deleted one; no proxy. */
    final Optional<EntityDetail> known(String guid, Moment moment, String method)
            throws InvalidParameterException, RepositoryErrorException {
        try {
            return instances.entity(store(), guid, moment);
        } catch (AnnalsException error) {
            throw Failures.other(error, method);
        }
    }

    @Override
    public EntitySummary getEntitySummary(String userId, String guid)
            throws InvalidParameterException, RepositoryErrorException, EntityNotKnownException,
                    UserNotAuthorizedException {
        String method = "getEntitySummary";
        getInstanceParameterValidation(userId, guid, method);
        EntitySummary entity = summary(guid, method).orElse(null);
        repositoryValidator.validateEntityFromStore(repositoryName, guid, entity, method);
        repositoryValidator.validateEntityIsNotDeleted(repositoryName, entity, method);
        return entity;
    }

    /** An entity or a proxy, also a deleted one. */
    final Optional<EntitySummary> summary(String guid, String method)
            throws InvalidParameterException, RepositoryErrorException {
        try {
            Store.Found found = store().one(Kind.ENTITY, guid, Moment.NOW);
            if (found.items().isEmpty()) {
                return Optional.empty();
            }
            JsonObject json = found.items().get(0);
            return Instances.isProxy(json)
                    ? instances.proxy(json).map(EntitySummary.class::cast)
                    : instances.entity(json).map(EntitySummary.class::cast);
        } catch (AnnalsException error) {
            throw Failures.other(error, method);
        }
    }

    @Override
    public EntityDetail getEntityDetail(String userId, String guid)
            throws InvalidParameterException, RepositoryErrorException, EntityNotKnownException,
                    EntityProxyOnlyException, UserNotAuthorizedException {
        String method = "getEntityDetail";
        getInstanceParameterValidation(userId, guid, method);
        return whole(guid, Moment.NOW, method);
    }

    @Override
    public EntityDetail getEntityDetail(String userId, String guid, Date asOfTime)
            throws InvalidParameterException, RepositoryErrorException, EntityNotKnownException,
                    EntityProxyOnlyException, UserNotAuthorizedException {
        String method = "getEntityDetail";
        getInstanceParameterValidation(userId, guid, asOfTime, method);
        return whole(guid, Moment.of(asOfTime), method);
    }

    private EntityDetail whole(String guid, Moment moment, String method)
            throws InvalidParameterException, RepositoryErrorException, EntityNotKnownException,
                    EntityProxyOnlyException {
        EntityDetail entity;
        try {
            Store.Found found = store().one(Kind.ENTITY, guid, moment);
            if (!found.items().isEmpty() && Instances.isProxy(found.items().get(0))) {
                reportEntityProxyOnly(guid, "guid", method);
            }
            entity = found.items().stream()
                    .findFirst()
                    .flatMap(instances::entity)
                    .orElse(null);
        } catch (AnnalsException error) {
            throw Failures.other(error, method);
        }
        repositoryValidator.validateEntityFromStore(repositoryName, guid, entity, method);
        repositoryValidator.validateEntityIsNotDeleted(repositoryName, entity, method);
        return entity;
    }

    /** The entity, which is not deleted. */
    final EntityDetail live(String guid, String method)
            throws InvalidParameterException, RepositoryErrorException, EntityNotKnownException {
        EntityDetail entity = known(guid, Moment.NOW, method).orElse(null);
        repositoryValidator.validateEntityFromStore(repositoryName, guid, entity, method);
        repositoryValidator.validateEntityIsNotDeleted(repositoryName, entity, method);
        return entity;
    }

    @Override
    public List<EntityDetail> getEntityDetailHistory(
            String userId,
            String guid,
            Date fromTime,
            Date toTime,
            int startFromElement,
            int pageSize,
            HistorySequencingOrder order)
            throws InvalidParameterException, RepositoryErrorException, EntityNotKnownException,
                    EntityProxyOnlyException, UserNotAuthorizedException {
        String method = "getEntityDetailHistory";
        getInstanceHistoryParameterValidation(userId, guid, fromTime, toTime, method);
        try {
            List<JsonObject> versions = Histories.versions(store(), Kind.ENTITY, guid, fromTime, toTime);
            List<JsonObject> page = Histories.page(versions, startFromElement, pageSize, order);
            if (!page.isEmpty() && page.stream().allMatch(Instances::isProxy)) {
                reportEntityProxyOnly(guid, "guid", method);
            }
            return instances.entities(page);
        } catch (AnnalsException error) {
            Failures.entity(error, method);
            throw Failures.other(error, method);
        }
    }

    // Relationships.

    @Override
    public Relationship isRelationshipKnown(String userId, String guid)
            throws InvalidParameterException, RepositoryErrorException, UserNotAuthorizedException {
        String method = "isRelationshipKnown";
        getInstanceParameterValidation(userId, guid, method);
        return knownRelationship(guid, Moment.NOW, method).orElse(null);
    }

    /** Also a deleted one. */
    final Optional<Relationship> knownRelationship(String guid, Moment moment, String method)
            throws InvalidParameterException, RepositoryErrorException {
        try {
            return instances.relationship(store(), guid, moment);
        } catch (AnnalsException error) {
            throw Failures.other(error, method);
        }
    }

    @Override
    public Relationship getRelationship(String userId, String guid)
            throws InvalidParameterException, RepositoryErrorException, RelationshipNotKnownException,
                    UserNotAuthorizedException {
        String method = "getRelationship";
        getInstanceParameterValidation(userId, guid, method);
        return liveRelationship(guid, Moment.NOW, method);
    }

    @Override
    public Relationship getRelationship(String userId, String guid, Date asOfTime)
            throws InvalidParameterException, RepositoryErrorException, RelationshipNotKnownException,
                    UserNotAuthorizedException {
        String method = "getRelationship";
        getInstanceParameterValidation(userId, guid, asOfTime, method);
        return liveRelationship(guid, Moment.of(asOfTime), method);
    }

    /** The relationship, which is not deleted. */
    final Relationship liveRelationship(String guid, Moment moment, String method)
            throws InvalidParameterException, RepositoryErrorException, RelationshipNotKnownException {
        Relationship relationship = knownRelationship(guid, moment, method).orElse(null);
        repositoryValidator.validateRelationshipFromStore(repositoryName, guid, relationship, method);
        repositoryValidator.validateRelationshipIsNotDeleted(repositoryName, relationship, method);
        return relationship;
    }

    @Override
    public List<Relationship> getRelationshipHistory(
            String userId,
            String guid,
            Date fromTime,
            Date toTime,
            int startFromElement,
            int pageSize,
            HistorySequencingOrder order)
            throws InvalidParameterException, RepositoryErrorException, RelationshipNotKnownException,
                    UserNotAuthorizedException {
        String method = "getRelationshipHistory";
        getInstanceHistoryParameterValidation(userId, guid, fromTime, toTime, method);
        try {
            List<JsonObject> versions = Histories.versions(store(), Kind.RELATIONSHIP, guid, fromTime, toTime);
            List<Relationship> found = new ArrayList<>();
            for (JsonObject version : Histories.page(versions, startFromElement, pageSize, order)) {
                // Each version with its ends as they were when it was written.
                Moment written = Moment.position(version.get("position").getAsLong());
                List<Relationship> one = instances.relationships(store(), new Store.Found(List.of(version), written));
                if (one != null) {
                    found.addAll(one);
                }
            }
            return found.isEmpty() ? null : found;
        } catch (AnnalsException error) {
            Failures.relationship(error, method);
            throw Failures.other(error, method);
        }
    }
}
