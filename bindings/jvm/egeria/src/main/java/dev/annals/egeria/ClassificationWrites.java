package dev.annals.egeria;

import com.google.gson.JsonObject;
import dev.annals.AnnalsException;
import dev.annals.Instance;
import dev.annals.InstanceId;
import dev.annals.Snapshot;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.Classification;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.ClassificationOrigin;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.EntityDetail;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.EntityProxy;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.EntitySummary;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.InstanceProperties;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.InstanceProvenanceType;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.repositoryconnector.OMRSRepositoryHelper;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.repositoryconnector.OMRSRepositoryValidator;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.ClassificationErrorException;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.EntityNotKnownException;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.InvalidParameterException;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.PropertyErrorException;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.RepositoryErrorException;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.UserNotAuthorizedException;

/** Attaches, changes and takes off classifications of entities and of proxies. */
abstract class ClassificationWrites extends EntityWrites {
    ClassificationWrites(
            AnnalsRepositoryConnector connector,
            String repositoryName,
            OMRSRepositoryHelper helper,
            OMRSRepositoryValidator validator,
            String id) {
        super(connector, repositoryName, helper, validator, id);
    }

    /** The source of a classification that another system owns; null: this collection owns it. */
    private record Source(String guid, String name, ClassificationOrigin origin, String originGuid) {
        static final Source OWN = new Source(null, null, ClassificationOrigin.ASSIGNED, null);
    }

    // Attaching.

    @Override
    public EntityDetail classifyEntity(
            String userId, String entityGUID, String classificationName, InstanceProperties classificationProperties)
            throws InvalidParameterException, RepositoryErrorException, EntityNotKnownException,
                    ClassificationErrorException, PropertyErrorException, UserNotAuthorizedException {
        return classify(userId, entityGUID, classificationName, Source.OWN, classificationProperties);
    }

    @Override
    public EntityDetail classifyEntity(
            String userId,
            String entityGUID,
            String classificationName,
            String externalSourceGUID,
            String externalSourceName,
            ClassificationOrigin classificationOrigin,
            String classificationOriginGUID,
            InstanceProperties classificationProperties)
            throws InvalidParameterException, RepositoryErrorException, EntityNotKnownException,
                    ClassificationErrorException, PropertyErrorException, UserNotAuthorizedException {
        Source source =
                new Source(externalSourceGUID, externalSourceName, classificationOrigin, classificationOriginGUID);
        return classify(userId, entityGUID, classificationName, source, classificationProperties);
    }

    private EntityDetail classify(String userId, String guid, String name, Source source, InstanceProperties properties)
            throws InvalidParameterException, RepositoryErrorException, EntityNotKnownException,
                    ClassificationErrorException, PropertyErrorException {
        String method = "classifyEntity";
        basicRequestValidation(userId, method);
        repositoryValidator.validateGUID(repositoryName, "entityGUID", guid, method);
        EntityDetail entity = live(guid, method);
        validate(entity, name, properties, method);
        if (isClassified(entity, name)) {
            return entity;
        }
        try {
            return changed(userId, guid, method, attach(guid, name, source, properties));
        } catch (AnnalsException error) {
            throw failure(error, method);
        }
    }

    @Override
    public Classification classifyEntity(
            String userId, EntityProxy entityProxy, String classificationName, InstanceProperties properties)
            throws InvalidParameterException, RepositoryErrorException, EntityNotKnownException,
                    ClassificationErrorException, PropertyErrorException, UserNotAuthorizedException {
        return classify(userId, entityProxy, classificationName, Source.OWN, properties);
    }

    @Override
    public Classification classifyEntity(
            String userId,
            EntityProxy entityProxy,
            String classificationName,
            String externalSourceGUID,
            String externalSourceName,
            ClassificationOrigin classificationOrigin,
            String classificationOriginGUID,
            InstanceProperties classificationProperties)
            throws InvalidParameterException, RepositoryErrorException, EntityNotKnownException,
                    ClassificationErrorException, PropertyErrorException, UserNotAuthorizedException {
        Source source =
                new Source(externalSourceGUID, externalSourceName, classificationOrigin, classificationOriginGUID);
        return classify(userId, entityProxy, classificationName, source, classificationProperties);
    }

    private Classification classify(
            String userId, EntityProxy proxy, String name, Source source, InstanceProperties properties)
            throws InvalidParameterException, RepositoryErrorException, EntityNotKnownException,
                    ClassificationErrorException, PropertyErrorException {
        String method = "classifyEntity";
        String guid = proxy.getGUID();
        basicRequestValidation(userId, method);
        repositoryValidator.validateGUID(repositoryName, "entityGUID", guid, method);
        EntitySummary stored = summary(guid, method).orElse(null);
        List<JsonObject> operations = new ArrayList<>();
        if (stored == null) {
            validateProxy(proxy, method);
            operations.add(copies.proxy(proxy));
        }
        EntitySummary entity = stored == null ? proxy : stored;
        repositoryValidator.validateEntityIsNotDeleted(repositoryName, entity, method);
        validate(entity, name, properties, method);
        if (isClassified(stored, name)) {
            return repositoryHelper.getClassificationFromEntity(repositoryName, stored, name, method);
        }
        operations.add(attach(guid, name, source, properties));
        return changedClassification(userId, guid, name, operations, method);
    }

    /** A proxy of an entity that belongs here stands for nothing. */
    private void validateProxy(EntityProxy proxy, String method)
            throws InvalidParameterException, EntityNotKnownException {
        if (metadataCollectionId.equals(proxy.getMetadataCollectionId())) {
            reportEntityNotKnown(proxy.getGUID(), method);
        }
        repositoryValidator.validateEntityProxy(repositoryName, metadataCollectionId, "entityProxy", proxy, method);
    }

    private Classification changedClassification(
            String userId, String guid, String name, List<JsonObject> operations, String method)
            throws InvalidParameterException, RepositoryErrorException, EntityNotKnownException,
                    ClassificationErrorException, PropertyErrorException {
        try (Snapshot after = store().at(store().commit(userId, method, operations))) {
            Optional<Instance> found = after.known(InstanceId.entity(guid));
            EntityProxy entity =
                    found.isEmpty() ? null : instances.proxy(found.get()).orElse(null);
            repositoryValidator.validateEntityFromStore(repositoryName, guid, entity, method);
            return repositoryHelper.getClassificationFromEntity(repositoryName, entity, name, method);
        } catch (AnnalsException error) {
            throw failure(error, method);
        }
    }

    private void validate(EntitySummary entity, String name, InstanceProperties properties, String method)
            throws InvalidParameterException, RepositoryErrorException, ClassificationErrorException,
                    PropertyErrorException {
        repositoryValidator.validateInstanceType(repositoryName, entity);
        repositoryValidator.validateClassification(
                repositoryName, "classificationName", name, Changes.type(entity), method);
        repositoryValidator.validateClassificationProperties(
                repositoryName, name, "classificationProperties", properties, method);
    }

    /** Egeria's helper ignores a new classification if the entity has one of this name: it is not newer. */
    private static boolean isClassified(EntitySummary stored, String name) {
        return stored != null
                && stored.getClassifications() != null
                && stored.getClassifications().stream().anyMatch(one -> name.equals(one.getName()));
    }

    private JsonObject attach(String guid, String name, Source source, InstanceProperties properties) {
        Classification classification = new Classification();
        classification.setName(name);
        classification.setProperties(properties);
        classification.setClassificationOrigin(source.origin());
        classification.setClassificationOriginGUID(source.originGuid());
        classification.setInstanceProvenanceType(InstanceProvenanceType.LOCAL_COHORT);
        if (source.guid() != null) {
            external(classification, source.guid(), source.name());
        }
        return Changes.classify(guid, classification, headers);
    }

    private static RepositoryErrorException failure(AnnalsException error, String method)
            throws InvalidParameterException, EntityNotKnownException, ClassificationErrorException,
                    PropertyErrorException {
        Failures.entity(error, method);
        Failures.classification(error, method);
        Failures.property(error, method);
        return Failures.other(error, method);
    }

    // Taking off.

    @Override
    public EntityDetail declassifyEntity(String userId, String entityGUID, String classificationName)
            throws InvalidParameterException, RepositoryErrorException, EntityNotKnownException,
                    ClassificationErrorException, UserNotAuthorizedException {
        String method = "declassifyEntity";
        declassifyEntityParameterValidation(userId, entityGUID, classificationName, method);
        EntityDetail entity = live(entityGUID, method);
        repositoryHelper.getClassificationFromEntity(repositoryName, entity, classificationName, method);
        try {
            return changed(userId, entityGUID, method, Changes.declassify(entityGUID, classificationName));
        } catch (AnnalsException error) {
            Failures.entity(error, method);
            throw Failures.other(error, method);
        }
    }

    @Override
    public Classification declassifyEntity(String userId, EntityProxy entityProxy, String classificationName)
            throws InvalidParameterException, RepositoryErrorException, EntityNotKnownException,
                    ClassificationErrorException, UserNotAuthorizedException {
        String method = "declassifyEntity";
        String guid = entityProxy.getGUID();
        declassifyEntityParameterValidation(userId, guid, classificationName, method);
        EntitySummary entity = summary(guid, method).orElse(null);
        repositoryValidator.validateEntityFromStore(repositoryName, guid, entity, method);
        repositoryValidator.validateEntityIsNotDeleted(repositoryName, entity, method);
        Classification removed =
                repositoryHelper.getClassificationFromEntity(repositoryName, entity, classificationName, method);
        try {
            store().commit(userId, method, List.of(Changes.declassify(guid, classificationName)));
            return removed;
        } catch (AnnalsException error) {
            Failures.entity(error, method);
            throw Failures.other(error, method);
        }
    }

    // Changing.

    @Override
    public EntityDetail updateEntityClassification(
            String userId, String entityGUID, String classificationName, InstanceProperties properties)
            throws InvalidParameterException, RepositoryErrorException, EntityNotKnownException,
                    ClassificationErrorException, PropertyErrorException, UserNotAuthorizedException {
        String method = "updateEntityClassification";
        classifyEntityParameterValidation(userId, entityGUID, classificationName, properties, method);
        EntityDetail entity = live(entityGUID, method);
        JsonObject operation = change(entity, classificationName, properties, method);
        try {
            return changed(userId, entityGUID, method, operation);
        } catch (AnnalsException error) {
            throw failure(error, method);
        }
    }

    @Override
    public Classification updateEntityClassification(
            String userId, EntityProxy entityProxy, String classificationName, InstanceProperties properties)
            throws InvalidParameterException, RepositoryErrorException, EntityNotKnownException,
                    ClassificationErrorException, PropertyErrorException, UserNotAuthorizedException {
        String method = "updateEntityClassification";
        String guid = entityProxy.getGUID();
        classifyEntityParameterValidation(userId, guid, classificationName, properties, method);
        EntitySummary entity = summary(guid, method).orElse(null);
        repositoryValidator.validateEntityFromStore(repositoryName, guid, entity, method);
        repositoryValidator.validateEntityIsNotDeleted(repositoryName, entity, method);
        JsonObject operation = change(entity, classificationName, properties, method);
        return changedClassification(userId, guid, classificationName, List.of(operation), method);
    }

    private JsonObject change(EntitySummary entity, String name, InstanceProperties properties, String method)
            throws ClassificationErrorException {
        Classification present = repositoryHelper.getClassificationFromEntity(repositoryName, entity, name, method);
        JsonObject operation = Changes.reclassify(entity.getGUID(), name, properties);
        writeTime(present, present.getProperties(), properties, operation);
        return operation;
    }
}
