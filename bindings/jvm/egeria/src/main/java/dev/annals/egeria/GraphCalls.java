package dev.annals.egeria;

import dev.annals.AnnalsException;
import dev.annals.Entity;
import dev.annals.Instance;
import dev.annals.Kind;
import dev.annals.Links;
import dev.annals.Reached;
import dev.annals.Snapshot;
import dev.annals.Subgraph;
import dev.annals.Walk;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Date;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
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
        Links links = Links.both().skip(fromRelationshipElement);
        if (relationshipTypeGUID != null) {
            links = links.type(types.name(relationshipTypeGUID, "relationshipTypeGUID", method));
        }
        Optional<String[]> statuses = named(limitResultsByStatus);
        if (statuses.isPresent()) {
            if (statuses.get().length == 0) {
                return null;
            }
            links = links.status(statuses.get());
        }
        Optional<String> order = orderKey(sequencingOrder, sequencingProperty);
        links = order.isPresent() ? links.orderBy(order.get()) : links;
        links = pageSize > 0 ? links.limit(pageSize) : links;
        try (Snapshot snapshot = store().at(Moment.of(asOfTime))) {
            return instances.relationships(
                    snapshot, snapshot.relationships(entityGUID, links).toList());
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
        Optional<Walk> walk = walk(
                names("entityTypeGUIDs", entityTypeGUIDs, method), limitResultsByStatus, limitResultsByClassification);
        try (Snapshot snapshot = store().at(Moment.of(asOfTime))) {
            if (walk.isEmpty()) {
                InstanceGraph alone = new InstanceGraph();
                alone.setEntities(instances.entities(
                        snapshot.known(Kind.ENTITY, List.of(entityGUID)).values()));
                return alone;
            }
            Walk near = walk.get()
                    .depthMax(level < 0 ? DEPTH_MAX : level)
                    .type(names("relationshipTypeGUIDs", relationshipTypeGUIDs, method));
            return graph(snapshot, snapshot.neighborhood(entityGUID, near));
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
        Optional<Walk> walk = walk(
                names("entityTypeGUIDs", entityTypeGUIDs, method), limitResultsByStatus, limitResultsByClassification);
        Optional<String> order = orderKey(sequencingOrder, sequencingProperty);
        List<Entity> related = new ArrayList<>();
        try (Snapshot snapshot = store().at(Moment.of(asOfTime))) {
            if (walk.isPresent()) {
                Walk ordered = order.isPresent() ? walk.get().orderBy(order.get()) : walk.get();
                Walk limited = pageSize > 0 ? ordered.limit(fromEntityElement + pageSize) : ordered;
                snapshot.related(startEntityGUID, limited).map(Reached::entity).forEach(related::add);
            }
            List<EntityDetail> found = entities(related);
            for (EntityDetail start : entities(snapshot.known(Kind.ENTITY, List.of(startEntityGUID)).values())) {
                found.add(order.isPresent() ? place(start, found, sequencingProperty, sequencingOrder) : 0, start);
            }
            int from = Math.min(fromEntityElement, found.size());
            int to = pageSize > 0 ? Math.min(from + pageSize, found.size()) : found.size();
            return from == to ? null : found.subList(from, to);
        } catch (AnnalsException error) {
            throw walk(error, method);
        }
    }

    private List<EntityDetail> entities(Collection<? extends Instance> found) {
        List<EntityDetail> known = instances.entities(found);
        return known == null ? new ArrayList<>() : new ArrayList<>(known);
    }

    /** The first place in an ordered list at which Egeria's order puts an entity. */
    private int place(EntityDetail entity, List<EntityDetail> ordered, String property, SequencingOrder order)
            throws PagingErrorException, PropertyErrorException {
        int place = 0;
        while (place < ordered.size()) {
            List<EntityDetail> pair = new ArrayList<>(List.of(entity, ordered.get(place)));
            if (repositoryHelper.formatEntityResults(pair, 0, property, order, pair.size()).get(0) == entity) {
                break;
            }
            place += 1;
        }
        return place;
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
        Optional<Walk> walk = walk(new String[0], limitResultsByStatus, null);
        if (walk.isEmpty()) {
            return new InstanceGraph();
        }
        try (Snapshot snapshot = store().at(Moment.of(asOfTime))) {
            return graph(snapshot, snapshot.linking(startEntityGUID, endEntityGUID, walk.get()));
        } catch (AnnalsException error) {
            throw walk(error, method);
        }
    }

    // Parts.

    private String[] names(String parameter, List<String> guids, String method) throws TypeErrorException {
        List<String> names = new ArrayList<>();
        for (String guid : guids == null ? List.<String>of() : guids) {
            names.add(types.name(guid, parameter, method));
        }
        return names.toArray(String[]::new);
    }

    /** A walk in both directions; empty if no instance can have one of the statuses. */
    private Optional<Walk> walk(
            String[] entityTypes, List<InstanceStatus> statuses, List<String> classifications) {
        Walk walk = Walk.both()
                .visitedMax(VISITED_MAX)
                .entityType(entityTypes)
                .classified(classifications == null ? new String[0] : classifications.toArray(String[]::new));
        Optional<String[]> names = named(statuses);
        return names.isPresent() && names.get().length == 0
                ? Optional.empty()
                : Optional.of(walk.status(names.orElse(new String[0])));
    }

    /** The statuses that an instance can have; empty if there is no condition. */
    private Optional<String[]> named(List<InstanceStatus> statuses) {
        return statuses == null || statuses.isEmpty()
                ? Optional.empty()
                : Optional.of(statuses(statuses).toArray(String[]::new));
    }

    private static Optional<String> orderKey(SequencingOrder order, String property) {
        return order(order, property).map(key -> {
            String field = key.has("header")
                    ? "@" + key.get("header").getAsString()
                    : key.get("property").getAsString();
            return (key.get("descending").getAsBoolean() ? "-" : "") + field;
        });
    }

    private InstanceGraph graph(Snapshot snapshot, Subgraph found) throws RepositoryErrorException {
        InstanceGraph graph = new InstanceGraph();
        Map<String, Entity> entities = new LinkedHashMap<>();
        found.entities().forEach(one -> entities.put(one.entity().id(), one.entity()));
        graph.setEntities(instances.entities(entities.values()));
        graph.setRelationships(instances.relationships(snapshot, found.relationships(), entities));
        return graph;
    }

    private static RepositoryErrorException walk(AnnalsException error, String method)
            throws InvalidParameterException, EntityNotKnownException {
        Failures.entity(error, method);
        return Failures.other(error, method);
    }
}
