package dev.annals.egeria;

import dev.annals.AnnalsException;
import dev.annals.AsOf;
import dev.annals.Instance;
import dev.annals.InstanceId;
import dev.annals.Snapshot;
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
        return known(guid, AsOf.NOW, method).orElse(null);
    }

    /** Also a deleted one; no proxy. */
    final Optional<EntityDetail> known(String guid, AsOf time, String method)
            throws InvalidParameterException, RepositoryErrorException {
        try (Snapshot snapshot = store().at(time)) {
            return instances.entity(snapshot, guid);
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
        try (Snapshot snapshot = store().at(AsOf.NOW)) {
            Optional<Instance> found = snapshot.known(InstanceId.entity(guid));
            return found.isPresent() && Instances.isProxy(found.get())
                    ? instances.proxy(found.get()).map(EntitySummary.class::cast)
                    : found.flatMap(instances::entity).map(EntitySummary.class::cast);
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
        return whole(guid, AsOf.NOW, method);
    }

    @Override
    public EntityDetail getEntityDetail(String userId, String guid, Date asOfTime)
            throws InvalidParameterException, RepositoryErrorException, EntityNotKnownException,
                    EntityProxyOnlyException, UserNotAuthorizedException {
        String method = "getEntityDetail";
        getInstanceParameterValidation(userId, guid, asOfTime, method);
        return whole(guid, Moment.of(asOfTime), method);
    }

    private EntityDetail whole(String guid, AsOf time, String method)
            throws InvalidParameterException, RepositoryErrorException, EntityNotKnownException,
                    EntityProxyOnlyException {
        EntityDetail entity;
        try (Snapshot snapshot = store().at(time)) {
            Optional<Instance> found = snapshot.known(InstanceId.entity(guid));
            if (found.isPresent() && Instances.isProxy(found.get())) {
                reportEntityProxyOnly(guid, "guid", method);
            }
            entity = found.flatMap(instances::entity).orElse(null);
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
        EntityDetail entity = known(guid, AsOf.NOW, method).orElse(null);
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
        try (Snapshot snapshot = store().at(AsOf.NOW)) {
            List<Instance> versions = Histories.versions(snapshot, InstanceId.entity(guid), fromTime, toTime);
            List<Instance> page = Histories.page(versions, startFromElement, pageSize, order);
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
        return knownRelationship(guid, AsOf.NOW, method).orElse(null);
    }

    /** Also a deleted one. */
    final Optional<Relationship> knownRelationship(String guid, AsOf time, String method)
            throws InvalidParameterException, RepositoryErrorException {
        try (Snapshot snapshot = store().at(time)) {
            return instances.relationship(snapshot, guid);
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
        return liveRelationship(guid, AsOf.NOW, method);
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
    final Relationship liveRelationship(String guid, AsOf time, String method)
            throws InvalidParameterException, RepositoryErrorException, RelationshipNotKnownException {
        Relationship relationship = knownRelationship(guid, time, method).orElse(null);
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
        try (Snapshot snapshot = store().at(AsOf.NOW)) {
            List<Instance> versions = Histories.versions(snapshot, InstanceId.relationship(guid), fromTime, toTime);
            List<Relationship> found = new ArrayList<>();
            for (Instance version : Histories.page(versions, startFromElement, pageSize, order)) {
                // Each version with its ends as they were when it was written.
                try (Snapshot written = store().at(AsOf.position(version.position()))) {
                    List<Relationship> one = instances.relationships(written, List.of(version));
                    if (one != null) {
                        found.addAll(one);
                    }
                }
            }
            return found.isEmpty() ? null : found;
        } catch (AnnalsException error) {
            Failures.relationship(error, method);
            throw Failures.other(error, method);
        }
    }
}
