package dev.annals.egeria;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import dev.annals.AnnalsException;
import dev.annals.Entity;
import dev.annals.Find;
import dev.annals.Instance;
import dev.annals.Snapshot;
import java.util.ArrayList;
import java.util.Date;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.MatchCriteria;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.SequencingOrder;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.Classification;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.EntityDetail;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.InstanceProperties;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.InstanceStatus;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.search.SearchClassifications;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.search.SearchProperties;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.typedefs.TypeDefCategory;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.repositoryconnector.OMRSRepositoryHelper;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.repositoryconnector.OMRSRepositoryValidator;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.ClassificationErrorException;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.FunctionNotSupportedException;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.InvalidParameterException;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.PagingErrorException;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.PropertyErrorException;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.RepositoryErrorException;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.TypeErrorException;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.UserNotAuthorizedException;

/** Searches for entities. Annals finds, orders and pages. */
abstract class EntityFinds extends ReadCalls {
    EntityFinds(
            AnnalsRepositoryConnector connector,
            String repositoryName,
            OMRSRepositoryHelper helper,
            OMRSRepositoryValidator validator,
            String id) {
        super(connector, repositoryName, helper, validator, id);
    }

    /** Which page of a result, in which order. */
    record Part(int from, int size, String property, SequencingOrder order, Date asOf) {}

    // Entities.

    @Override
    public List<EntityDetail> findEntities(
            String userId,
            String entityTypeGUID,
            List<String> entitySubtypeGUIDs,
            SearchProperties matchProperties,
            int fromEntityElement,
            List<InstanceStatus> limitResultsByStatus,
            SearchClassifications matchClassifications,
            Date asOfTime,
            String sequencingProperty,
            SequencingOrder sequencingOrder,
            int pageSize)
            throws InvalidParameterException, RepositoryErrorException, TypeErrorException, PropertyErrorException,
                    PagingErrorException, FunctionNotSupportedException, UserNotAuthorizedException {
        String method = "findEntities";
        findEntitiesParameterValidation(
                userId,
                entityTypeGUID,
                entitySubtypeGUIDs,
                matchProperties,
                fromEntityElement,
                limitResultsByStatus,
                matchClassifications,
                asOfTime,
                sequencingProperty,
                sequencingOrder,
                pageSize);
        Part part = new Part(fromEntityElement, pageSize, sequencingProperty, sequencingOrder, asOfTime);
        Conditions.Scope scope = scope(TypeDefCategory.ENTITY_DEF, entityTypeGUID, method);
        try {
            JsonObject search = search(scope, entitySubtypeGUIDs, limitResultsByStatus, method);
            where(
                    search,
                    Conditions.all(
                            conditions.search(matchProperties, scope, method),
                            conditions.classified(matchClassifications, method)));
            return entities(search, scope, part, method);
        } catch (Conditions.SearchFault fault) {
            throw Failures.parameter(fault.getMessage(), method, "matchProperties");
        }
    }

    @Override
    public List<EntityDetail> findEntitiesByProperty(
            String userId,
            String entityTypeGUID,
            InstanceProperties matchProperties,
            MatchCriteria matchCriteria,
            int fromEntityElement,
            List<InstanceStatus> limitResultsByStatus,
            List<String> limitResultsByClassification,
            Date asOfTime,
            String sequencingProperty,
            SequencingOrder sequencingOrder,
            int pageSize)
            throws InvalidParameterException, RepositoryErrorException, TypeErrorException, PropertyErrorException,
                    PagingErrorException, FunctionNotSupportedException, UserNotAuthorizedException {
        String method = "findEntitiesByProperty";
        findEntitiesByPropertyParameterValidation(
                userId,
                entityTypeGUID,
                matchProperties,
                matchCriteria,
                fromEntityElement,
                limitResultsByStatus,
                limitResultsByClassification,
                asOfTime,
                sequencingProperty,
                sequencingOrder,
                pageSize);
        Part part = new Part(fromEntityElement, pageSize, sequencingProperty, sequencingOrder, asOfTime);
        Conditions.Scope scope = scope(TypeDefCategory.ENTITY_DEF, entityTypeGUID, method);
        JsonObject search = search(scope, null, limitResultsByStatus, method);
        where(search, conditions.match(matchProperties, matchCriteria, scope));
        Conditions.classified(limitResultsByClassification).ifPresent(one -> where(search, one));
        return entities(search, scope, part, method);
    }

    @Override
    public List<EntityDetail> findEntitiesByClassification(
            String userId,
            String entityTypeGUID,
            String classificationName,
            InstanceProperties matchClassificationProperties,
            MatchCriteria matchCriteria,
            int fromEntityElement,
            List<InstanceStatus> limitResultsByStatus,
            Date asOfTime,
            String sequencingProperty,
            SequencingOrder sequencingOrder,
            int pageSize)
            throws InvalidParameterException, RepositoryErrorException, TypeErrorException,
                    ClassificationErrorException, PropertyErrorException, PagingErrorException,
                    FunctionNotSupportedException, UserNotAuthorizedException {
        String method = "findEntitiesByClassification";
        findEntitiesByClassificationParameterValidation(
                userId,
                entityTypeGUID,
                classificationName,
                matchClassificationProperties,
                matchCriteria,
                fromEntityElement,
                limitResultsByStatus,
                asOfTime,
                sequencingProperty,
                sequencingOrder,
                pageSize);
        Part part = new Part(fromEntityElement, pageSize, sequencingProperty, sequencingOrder, asOfTime);
        Conditions.Scope scope = scope(TypeDefCategory.ENTITY_DEF, entityTypeGUID, method);
        Conditions.Scope within =
                new Conditions.Scope(TypeDefCategory.CLASSIFICATION_DEF, Optional.of(classificationName));
        JsonObject search = search(scope, null, limitResultsByStatus, method);
        if (isBeyond(matchClassificationProperties)) {
            where(search, Conditions.classified(classificationName, Conditions.all()));
            return filtered(
                    search, scope, part, classificationName, matchClassificationProperties, matchCriteria, method);
        }
        JsonObject match = conditions.match(matchClassificationProperties, matchCriteria, within);
        where(search, Conditions.classified(classificationName, match));
        return entities(search, scope, part, method);
    }

    private static boolean isBeyond(InstanceProperties match) {
        return match != null
                && match.getInstanceProperties() != null
                && match.getInstanceProperties().keySet().stream().anyMatch(HeaderConditions::isBeyond);
    }

    /** Examines the entities with the classification: Annals does not search by all headers of classifications. */
    private List<EntityDetail> filtered(
            JsonObject search,
            Conditions.Scope scope,
            Part part,
            String name,
            InstanceProperties match,
            MatchCriteria criteria,
            String method)
            throws InvalidParameterException, RepositoryErrorException, PropertyErrorException, PagingErrorException {
        Part all = new Part(0, 0, part.property(), part.order(), part.asOf());
        return found(search, scope, all, method, (snapshot, found) -> {
            List<EntityDetail> page = new ArrayList<>();
            int skipped = 0;
            for (Iterator<? extends Instance> each = found.iterator(); each.hasNext(); ) {
                Instance entity = each.next();
                if (!isMatch((Entity) entity, name, match, criteria)) {
                    continue;
                }
                if (skipped < part.from()) {
                    skipped++;
                    continue;
                }
                instances.entity(entity).ifPresent(page::add);
                if (page.size() == part.size()) {
                    break;
                }
            }
            return page.isEmpty() ? null : page;
        });
    }

    private boolean isMatch(Entity entity, String name, InstanceProperties match, MatchCriteria criteria)
            throws InvalidParameterException, RepositoryErrorException {
        Classification one = instances.classification(entity.classifications().get(name));
        return repositoryValidator.verifyMatchingInstancePropertyValues(match, one, one.getProperties(), criteria);
    }

    @Override
    public List<EntityDetail> findEntitiesByPropertyValue(
            String userId,
            String entityTypeGUID,
            String searchCriteria,
            int fromEntityElement,
            List<InstanceStatus> limitResultsByStatus,
            List<String> limitResultsByClassification,
            Date asOfTime,
            String sequencingProperty,
            SequencingOrder sequencingOrder,
            int pageSize)
            throws InvalidParameterException, RepositoryErrorException, TypeErrorException, PropertyErrorException,
                    PagingErrorException, FunctionNotSupportedException, UserNotAuthorizedException {
        String method = "findEntitiesByPropertyValue";
        findEntitiesByPropertyValueParameterValidation(
                userId,
                entityTypeGUID,
                searchCriteria,
                fromEntityElement,
                limitResultsByStatus,
                limitResultsByClassification,
                asOfTime,
                sequencingProperty,
                sequencingOrder,
                pageSize);
        Part part = new Part(fromEntityElement, pageSize, sequencingProperty, sequencingOrder, asOfTime);
        Conditions.Scope scope = scope(TypeDefCategory.ENTITY_DEF, entityTypeGUID, method);
        JsonObject search = search(scope, null, limitResultsByStatus, method);
        where(search, conditions.text(searchCriteria));
        Conditions.classified(limitResultsByClassification).ifPresent(one -> where(search, one));
        return entities(search, scope, part, method);
    }

    private List<EntityDetail> entities(JsonObject search, Conditions.Scope scope, Part part, String method)
            throws InvalidParameterException, RepositoryErrorException, PropertyErrorException, PagingErrorException {
        return found(search, scope, part, method, (snapshot, found) -> instances.entities(found.toList()));
    }

    // Parts.

    final Conditions.Scope scope(TypeDefCategory category, String typeGuid, String method) throws TypeErrorException {
        return new Conditions.Scope(
                category, typeGuid == null ? Optional.empty() : Optional.of(types.name(typeGuid, "typeGUID", method)));
    }

    /** A search for instances of the type; if there are subtypes, for those of one of them and of their subtypes. */
    final JsonObject search(Conditions.Scope scope, List<String> subtypes, List<InstanceStatus> statuses, String method)
            throws TypeErrorException {
        JsonObject search = new JsonObject();
        search.addProperty("kind", scope.category() == TypeDefCategory.ENTITY_DEF ? "entity" : "relationship");
        if (subtypes != null && !subtypes.isEmpty()) {
            JsonArray names = new JsonArray();
            for (String guid : subtypes) {
                names.add(types.name(guid, "subtypeGUIDs", method));
            }
            search.add("type", names);
            scope.type().ifPresent(type -> {
                JsonObject is = new JsonObject();
                is.addProperty("is", type);
                where(search, is);
            });
        } else {
            scope.type().ifPresent(type -> search.addProperty("type", type));
        }
        if (statuses != null && !statuses.isEmpty()) {
            search.add("status", Conditions.texts(statuses(statuses)));
        }
        return search;
    }

    /** Without those that no type has: Annals refuses them, and no instance has them. Only those: `unknown`. */
    final List<String> statuses(List<InstanceStatus> statuses) {
        return statuses.stream()
                .filter(status -> status == InstanceStatus.DELETED || types.hasStatus(status))
                .map(TypeForms::status)
                .distinct()
                .toList();
    }

    static void where(JsonObject search, JsonObject condition) {
        JsonArray all = search.has("where") ? search.getAsJsonArray("where") : new JsonArray();
        all.add(condition);
        search.add("where", all);
    }

    /** Makes Egeria's instances of what a snapshot shows. */
    interface Shown<T> {
        List<T> of(Snapshot snapshot, Stream<? extends Instance> found)
                throws InvalidParameterException, RepositoryErrorException;
    }

    /** Null if there are none. */
    final <T> List<T> found(JsonObject search, Conditions.Scope scope, Part part, String method, Shown<T> shown)
            throws InvalidParameterException, RepositoryErrorException, PropertyErrorException, PagingErrorException {
        if (search.has("status") && search.getAsJsonArray("status").isEmpty()) {
            return null;
        }
        Optional<JsonObject> order = order(part.order(), part.property());
        if (order.isPresent() && isPossible(order.get(), scope)) {
            JsonArray keys = new JsonArray();
            keys.add(order.get());
            search.add("orderBy", keys);
        }
        if (part.size() > 0) {
            search.addProperty("limit", part.size());
        }
        if (part.from() > 0) {
            search.addProperty("offset", part.from());
        }
        try (Snapshot snapshot = store().at(Moment.of(part.asOf()))) {
            return shown.of(snapshot, snapshot.find(Find.json(search.toString())));
        } catch (AnnalsException error) {
            Failures.property(error, method);
            Failures.page(error, method);
            throw Failures.other(error, method);
        }
    }

    /** An order by a property that no instance can have changes nothing. */
    private boolean isPossible(JsonObject key, Conditions.Scope scope) {
        return !key.has("property")
                || types.possible(scope.type(), scope.category())
                        .contains(key.get("property").getAsString());
    }

    /** The key of an order; empty: any order. */
    static Optional<JsonObject> order(SequencingOrder order, String property) {
        return switch (order == null ? SequencingOrder.ANY : order) {
            case ANY -> Optional.empty();
            case GUID -> Optional.of(key("header", "id", false));
            case CREATION_DATE_RECENT -> Optional.of(key("header", "createdAt", true));
            case CREATION_DATE_OLDEST -> Optional.of(key("header", "createdAt", false));
            case LAST_UPDATE_RECENT -> Optional.of(key("header", "updatedAt", true));
            case LAST_UPDATE_OLDEST -> Optional.of(key("header", "updatedAt", false));
            case PROPERTY_ASCENDING -> Optional.ofNullable(property).map(name -> key("property", name, false));
            case PROPERTY_DESCENDING -> Optional.ofNullable(property).map(name -> key("property", name, true));
        };
    }

    private static JsonObject key(String field, String name, boolean isDescending) {
        JsonObject key = new JsonObject();
        key.addProperty(field, name);
        key.addProperty("descending", isDescending);
        return key;
    }
}
