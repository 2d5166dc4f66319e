package dev.annals.egeria;

import com.google.gson.JsonObject;
import java.util.Date;
import java.util.List;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.MatchCriteria;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.SequencingOrder;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.InstanceProperties;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.InstanceStatus;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.Relationship;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.search.SearchProperties;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.typedefs.TypeDefCategory;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.repositoryconnector.OMRSRepositoryHelper;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.repositoryconnector.OMRSRepositoryValidator;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.FunctionNotSupportedException;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.InvalidParameterException;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.PagingErrorException;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.PropertyErrorException;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.RepositoryErrorException;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.TypeErrorException;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.UserNotAuthorizedException;

/** Searches for relationships, which come with their ends. */
abstract class RelationshipFinds extends EntityFinds {
    RelationshipFinds(
            AnnalsRepositoryConnector connector,
            String repositoryName,
            OMRSRepositoryHelper helper,
            OMRSRepositoryValidator validator,
            String id) {
        super(connector, repositoryName, helper, validator, id);
    }

    @Override
    public List<Relationship> findRelationships(
            String userId,
            String relationshipTypeGUID,
            List<String> relationshipSubtypeGUIDs,
            SearchProperties matchProperties,
            int fromRelationshipElement,
            List<InstanceStatus> limitResultsByStatus,
            Date asOfTime,
            String sequencingProperty,
            SequencingOrder sequencingOrder,
            int pageSize)
            throws InvalidParameterException, TypeErrorException, RepositoryErrorException, PropertyErrorException,
                    PagingErrorException, FunctionNotSupportedException, UserNotAuthorizedException {
        String method = "findRelationships";
        findRelationshipsParameterValidation(
                userId,
                relationshipTypeGUID,
                relationshipSubtypeGUIDs,
                matchProperties,
                fromRelationshipElement,
                limitResultsByStatus,
                asOfTime,
                sequencingProperty,
                sequencingOrder,
                pageSize);
        Part part = new Part(fromRelationshipElement, pageSize, sequencingProperty, sequencingOrder, asOfTime);
        Conditions.Scope scope = scope(TypeDefCategory.RELATIONSHIP_DEF, relationshipTypeGUID, method);
        try {
            JsonObject search = search(scope, relationshipSubtypeGUIDs, limitResultsByStatus, method);
            where(search, conditions.search(matchProperties, scope, method));
            return relationships(search, scope, part, method);
        } catch (Conditions.SearchFault fault) {
            throw Failures.parameter(fault.getMessage(), method, "matchProperties");
        }
    }

    @Override
    public List<Relationship> findRelationshipsByProperty(
            String userId,
            String relationshipTypeGUID,
            InstanceProperties matchProperties,
            MatchCriteria matchCriteria,
            int fromRelationshipElement,
            List<InstanceStatus> limitResultsByStatus,
            Date asOfTime,
            String sequencingProperty,
            SequencingOrder sequencingOrder,
            int pageSize)
            throws InvalidParameterException, TypeErrorException, RepositoryErrorException, PropertyErrorException,
                    PagingErrorException, FunctionNotSupportedException, UserNotAuthorizedException {
        String method = "findRelationshipsByProperty";
        findRelationshipsByPropertyParameterValidation(
                userId,
                relationshipTypeGUID,
                matchProperties,
                matchCriteria,
                fromRelationshipElement,
                limitResultsByStatus,
                asOfTime,
                sequencingProperty,
                sequencingOrder,
                pageSize);
        Part part = new Part(fromRelationshipElement, pageSize, sequencingProperty, sequencingOrder, asOfTime);
        Conditions.Scope scope = scope(TypeDefCategory.RELATIONSHIP_DEF, relationshipTypeGUID, method);
        JsonObject search = search(scope, null, limitResultsByStatus, method);
        where(search, conditions.match(matchProperties, matchCriteria, scope));
        return relationships(search, scope, part, method);
    }

    @Override
    public List<Relationship> findRelationshipsByPropertyValue(
            String userId,
            String relationshipTypeGUID,
            String searchCriteria,
            int fromRelationshipElement,
            List<InstanceStatus> limitResultsByStatus,
            Date asOfTime,
            String sequencingProperty,
            SequencingOrder sequencingOrder,
            int pageSize)
            throws InvalidParameterException, TypeErrorException, RepositoryErrorException, PropertyErrorException,
                    PagingErrorException, FunctionNotSupportedException, UserNotAuthorizedException {
        String method = "findRelationshipsByPropertyValue";
        findRelationshipsByPropertyValueParameterValidation(
                userId,
                relationshipTypeGUID,
                searchCriteria,
                fromRelationshipElement,
                limitResultsByStatus,
                asOfTime,
                sequencingProperty,
                sequencingOrder,
                pageSize);
        Part part = new Part(fromRelationshipElement, pageSize, sequencingProperty, sequencingOrder, asOfTime);
        Conditions.Scope scope = scope(TypeDefCategory.RELATIONSHIP_DEF, relationshipTypeGUID, method);
        JsonObject search = search(scope, null, limitResultsByStatus, method);
        where(search, conditions.text(searchCriteria));
        return relationships(search, scope, part, method);
    }

    private List<Relationship> relationships(JsonObject search, Conditions.Scope scope, Part part, String method)
            throws InvalidParameterException, RepositoryErrorException, PropertyErrorException, PagingErrorException {
        return found(
                search,
                scope,
                part,
                method,
                (snapshot, found) -> instances.relationships(snapshot, found.toList()));
    }
}
