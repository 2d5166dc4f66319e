package dev.annals.egeria;

import com.google.gson.JsonObject;
import dev.annals.AnnalsException;
import dev.annals.Kind;
import java.util.Date;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.SequencingOrder;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.EntityDetail;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.InstanceGraph;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.InstanceStatus;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.Relationship;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.repositoryconnector.OMRSRepositoryHelper;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.repositoryconnector.OMRSRepositoryValidator;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.EntityNotKnownException;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.FunctionNotSupportedException;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.InvalidParameterException;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.PagingErrorException;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.PropertyErrorException;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.RepositoryErrorException;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.TypeErrorException;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.UserNotAuthorizedException;

/** Graph queries: relationships of an entity, its neighbourhood, related and linking entities. */
abstract class GraphCalls extends RelationshipFinds {
    private static final int VISITED_MAX = 1_000_000;

    /** A level below 0 is as far as relationships lead. Units: steps. */
    private static final int DEPTH_MAX = 1_000_000;

    GraphCalls(
            AnnalsRepositoryConnector connector,
            String repositoryName,
            OMRSRepositoryHelper helper,
            OMRSRepositoryValidator validator,
            String id) {
        super(connector, repositoryName, helper, validator, id);
    }

    @Override
    public List<Relationship> getRelationshipsForEntity(
            String userId,
            String entityGUID,
            String relationshipTypeGUID,
            int fromRelationshipElement,
            List<InstanceStatus> limitResultsByStatus,
            Date asOfTime,
            String sequencingProperty,
            SequencingOrder sequencingOrder,
            int pageSize)
            throws InvalidParameterException, TypeErrorException, RepositoryErrorException, EntityNotKnownException,
                    PropertyErrorException, PagingErrorException, FunctionNotSupportedException,
                    UserNotAuthorizedException {
        String method = "getRelationshipsForEntity";
        getRelationshipsForEntityParameterValidation(
                userId,
                entityGUID,
                relationshipTypeGUID,
                fromRelationshipElement,
                limitResultsByStatus,
                asOfTime,
                sequencingProperty,
                sequencingOrder,
                pageSize);
        StringBuilder target =
                new StringBuilder(Store.path(Kind.ENTITY, entityGUID)).append("/relationships?direction=both");
        if (relationshipTypeGUID != null) {
            add(target, "type", types.name(relationshipTypeGUID, "relationshipTypeGUID", method));
        }
        if (isNever(target, limitResultsByStatus)) {
            return null;
        }
        addOrder(target, sequencingOrder, sequencingProperty);
        try {
            Store.Found found =
                    store().list(target.toString(), Moment.of(asOfTime), fromRelationshipElement, pageSize, true);
            return instances.relationships(store(), found);
        } catch (AnnalsException error) {
            throw walk(error, method);
        }
    }

    @Override
    public InstanceGraph getEntityNeighborhood(
            String userId,
            String entityGUID,
            List<String> entityTypeGUIDs,
            List<String> relationshipTypeGUIDs,
            List<InstanceStatus> limitResultsByStatus,
            List<String> limitResultsByClassification,
            Date asOfTime,
            int level)
            throws InvalidParameterException, TypeErrorException, RepositoryErrorException, EntityNotKnownException,
                    PropertyErrorException, FunctionNotSupportedException, UserNotAuthorizedException {
        String method = "getEntityNeighborhood";
        getEntityNeighborhoodParameterValidation(
                userId,
                entityGUID,
                entityTypeGUIDs,
                relationshipTypeGUIDs,
                limitResultsByStatus,
                limitResultsByClassification,
                asOfTime,
                level);
        StringBuilder target = new StringBuilder(Store.path(Kind.ENTITY, entityGUID))
                .append("/neighborhood?direction=both&visitedMax=" + VISITED_MAX);
        add(target, "depthMax", Integer.toString(level < 0 ? DEPTH_MAX : level));
        addTypes(target, "type", relationshipTypeGUIDs, method);
        addWalk(target, entityTypeGUIDs, limitResultsByClassification, method);
        try {
            if (isNever(target, limitResultsByStatus)) {
                Store.Found start = store().one(Kind.ENTITY, entityGUID, Moment.of(asOfTime));
                return graph(new Store.Graph(start.items(), List.of(), start.moment()));
            }
            return graph(store().graph(target.toString(), Moment.of(asOfTime)));
        } catch (AnnalsException error) {
            throw walk(error, method);
        }
    }

    @Override
    public List<EntityDetail> getRelatedEntities(
            String userId,
            String startEntityGUID,
            List<String> entityTypeGUIDs,
            int fromEntityElement,
            List<InstanceStatus> limitResultsByStatus,
            List<String> limitResultsByClassification,
            Date asOfTime,
            String sequencingProperty,
            SequencingOrder sequencingOrder,
            int pageSize)
            throws InvalidParameterException, TypeErrorException, RepositoryErrorException, EntityNotKnownException,
                    PropertyErrorException, PagingErrorException, FunctionNotSupportedException,
                    UserNotAuthorizedException {
        String method = "getRelatedEntities";
        getRelatedEntitiesParameterValidation(
                userId,
                startEntityGUID,
                entityTypeGUIDs,
                fromEntityElement,
                limitResultsByStatus,
                limitResultsByClassification,
                asOfTime,
                sequencingProperty,
                sequencingOrder,
                pageSize);
        StringBuilder target = new StringBuilder(Store.path(Kind.ENTITY, startEntityGUID))
                .append("/related?direction=both&visitedMax=" + VISITED_MAX);
        addWalk(target, entityTypeGUIDs, limitResultsByClassification, method);
        if (isNever(target, limitResultsByStatus)) {
            return null;
        }
        addOrder(target, sequencingOrder, sequencingProperty);
        try {
            Store.Found found =
                    store().list(target.toString(), Moment.of(asOfTime), fromEntityElement, pageSize, false);
            return instances.entities(found.items().stream()
                    .map(one -> one.getAsJsonObject("entity"))
                    .toList());
        } catch (AnnalsException error) {
            throw walk(error, method);
        }
    }

    @Override
    public InstanceGraph getLinkingEntities(
            String userId,
            String startEntityGUID,
            String endEntityGUID,
            List<InstanceStatus> limitResultsByStatus,
            Date asOfTime)
            throws InvalidParameterException, RepositoryErrorException, EntityNotKnownException, PropertyErrorException,
                    FunctionNotSupportedException, UserNotAuthorizedException {
        String method = "getLinkingEntities";
        getLinkingEntitiesParameterValidation(userId, startEntityGUID, endEntityGUID, limitResultsByStatus, asOfTime);
        StringBuilder target = new StringBuilder("/v1/linking?direction=both&visitedMax=" + VISITED_MAX);
        add(target, "from", startEntityGUID);
        add(target, "to", endEntityGUID);
        if (isNever(target, limitResultsByStatus)) {
            return new InstanceGraph();
        }
        try {
            return graph(store().graph(target.toString(), Moment.of(asOfTime)));
        } catch (AnnalsException error) {
            throw walk(error, method);
        }
    }

    // Parts.

    private static void add(StringBuilder target, String name, String value) {
        target.append('&').append(name).append('=').append(Store.encode(value));
    }

    private void addTypes(StringBuilder target, String name, List<String> guids, String method)
            throws TypeErrorException {
        if (guids != null) {
            for (String guid : guids) {
                add(target, name, types.name(guid, name, method));
            }
        }
    }

    private void addWalk(StringBuilder target, List<String> entityTypes, List<String> classifications, String method)
            throws TypeErrorException {
        addTypes(target, "entityType", entityTypes, method);
        if (classifications != null) {
            classifications.forEach(name -> add(target, "classified", name));
        }
    }

    private static void addOrder(StringBuilder target, SequencingOrder order, String property) {
        order(order, property).ifPresent(key -> {
            String field = key.has("header")
                    ? "@" + key.get("header").getAsString()
                    : key.get("property").getAsString();
            add(target, "orderBy", (key.get("descending").getAsBoolean() ? "-" : "") + field);
        });
    }

    /** Adds statuses; true if no instance can have one of them. */
    private boolean isNever(StringBuilder target, List<InstanceStatus> statuses) {
        if (statuses == null || statuses.isEmpty()) {
            return false;
        }
        List<String> names = statuses(statuses);
        names.forEach(name -> add(target, "status", name));
        return names.isEmpty();
    }

    private InstanceGraph graph(Store.Graph found) throws RepositoryErrorException {
        InstanceGraph graph = new InstanceGraph();
        graph.setEntities(instances.entities(found.entities()));
        Map<String, JsonObject> ends = new LinkedHashMap<>();
        found.entities().forEach(one -> ends.put(Headers.text(one, "id"), one));
        Set<String> missing = Instances.ends(found.relationships());
        missing.removeAll(ends.keySet());
        ends.putAll(store().entities(missing, found.moment()));
        List<Relationship> relationships = instances.relationships(found.relationships(), ends);
        graph.setRelationships(relationships.isEmpty() ? null : relationships);
        return graph;
    }

    private static RepositoryErrorException walk(AnnalsException error, String method)
            throws InvalidParameterException, EntityNotKnownException {
        Failures.entity(error, method);
        return Failures.other(error, method);
    }
}
