package dev.annals.egeria;

import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.OMRSDynamicTypeMetadataCollectionBase;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.typedefs.AttributeTypeDef;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.typedefs.TypeDef;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.typedefs.TypeDefPatch;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.repositoryconnector.OMRSRepositoryHelper;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.repositoryconnector.OMRSRepositoryValidator;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.InvalidParameterException;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.InvalidTypeDefException;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.PatchErrorException;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.RepositoryErrorException;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.TypeDefConflictException;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.TypeDefKnownException;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.TypeDefNotKnownException;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.UserNotAuthorizedException;

/**
 * Types: Egeria's base class keeps and checks them, Annals gets their declarations.
 *
 * <p>The collection is a chain of classes, each with the calls of one subject.
 */
abstract class TypeCalls extends OMRSDynamicTypeMetadataCollectionBase {
    final TypeTable types;
    final Headers headers;
    final Instances instances;
    final Conditions conditions;
    final Copies copies;
    private final AnnalsRepositoryConnector connector;

    TypeCalls(
            AnnalsRepositoryConnector connector,
            String repositoryName,
            OMRSRepositoryHelper helper,
            OMRSRepositoryValidator validator,
            String id) {
        super(connector, repositoryName, helper, validator, id);
        this.connector = connector;
        this.types = new TypeTable(helper, repositoryName);
        this.headers = new Headers(id);
        this.copies = new Copies(headers);
        this.instances = new Instances(connector, types, headers);
        this.conditions = new Conditions(
                helper, types, new HeaderConditions(types, headers, name -> connector.getMetadataCollectionName()));
    }

    /** The open repository, which knows all types. */
    final Store store() {
        Store store = connector.store();
        types.declare(store);
        return store;
    }

    @Override
    public void addTypeDef(String userId, TypeDef type)
            throws InvalidParameterException, RepositoryErrorException, TypeDefKnownException, TypeDefConflictException,
                    InvalidTypeDefException, UserNotAuthorizedException {
        super.addTypeDef(userId, type);
        types.add(type);
    }

    @Override
    public void addAttributeTypeDef(String userId, AttributeTypeDef type)
            throws InvalidParameterException, RepositoryErrorException, TypeDefKnownException, TypeDefConflictException,
                    InvalidTypeDefException, UserNotAuthorizedException {
        super.addAttributeTypeDef(userId, type);
        types.add(type);
    }

    /** A patch adds to a type, and so does its declaration. */
    @Override
    public TypeDef updateTypeDef(String userId, TypeDefPatch patch)
            throws InvalidParameterException, RepositoryErrorException, TypeDefNotKnownException, PatchErrorException {
        TypeDef type = super.updateTypeDef(userId, patch);
        types.add(type);
        return type;
    }
}
