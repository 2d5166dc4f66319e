package dev.annals.egeria;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.odpi.openmetadata.adapters.repositoryservices.ConnectorConfigurationFactory;
import org.odpi.openmetadata.adminservices.configuration.properties.CohortConfig;
import org.odpi.openmetadata.adminservices.configuration.properties.LocalRepositoryConfig;
import org.odpi.openmetadata.adminservices.configuration.properties.LocalRepositoryMode;
import org.odpi.openmetadata.adminservices.configuration.properties.OpenMetadataExchangeRule;
import org.odpi.openmetadata.adminservices.configuration.properties.RepositoryServicesConfig;
import org.odpi.openmetadata.frameworks.connectors.properties.beans.Connection;
import org.odpi.openmetadata.frameworks.connectors.properties.beans.ConnectorType;
import org.odpi.openmetadata.frameworks.connectors.properties.beans.Endpoint;
import org.odpi.openmetadata.metadatasecurity.server.OpenMetadataServerSecurityVerifier;
import org.odpi.openmetadata.repositoryservices.admin.OMRSOperationalServices;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.EntityDetail;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.InstanceProperties;
import org.odpi.openmetadata.repositoryservices.rest.properties.EntityCreateRequest;
import org.odpi.openmetadata.repositoryservices.rest.properties.EntityDetailResponse;
import org.odpi.openmetadata.repositoryservices.rest.properties.InstancePropertiesRequest;
import org.odpi.openmetadata.repositoryservices.rest.properties.TypeDefValidationForRequest;
import org.odpi.openmetadata.repositoryservices.rest.server.OMRSRepositoryRESTServices;

/** The repository services of a server of Egeria, started from its configuration document, in a cohort of this process. */
final class CohortServer implements AutoCloseable {
    static final String USER = "garygeeke";
    private static final ObjectMapper MAPPER = new ObjectMapper();

    final String name;
    final String id;
    private final OMRSOperationalServices services;
    private final OMRSRepositoryRESTServices calls = new OMRSRepositoryRESTServices(true);

    /** Configuration: the properties of AnnalsRepositoryConnector. */
    CohortServer(String name, String id, Map<String, Object> configuration, Path folder) throws Exception {
        this(name, id, configuration, null, folder);
    }

    /** Mapper: the properties of AnnalsEventMapper; null for none. */
    CohortServer(String name, String id, Map<String, Object> configuration, Map<String, Object> mapper, Path folder)
            throws Exception {
        this.name = name;
        this.id = id;
        String document = MAPPER.writeValueAsString(configuration(configuration, mapper, folder));
        RepositoryServicesConfig read = MAPPER.readValue(document, RepositoryServicesConfig.class);
        services = new OMRSOperationalServices(name, "Metadata Server", "tests", USER, null, "http://localhost", 1_000);
        services.initializeAuditLog(read, "Metadata Server");
        services.initializeCohortMember(read);
        // As the platform does it: the server talks to the cohort from now on.
        services.setSecurityVerifier(new OpenMetadataServerSecurityVerifier());
    }

    private static Connection connection(Class<?> provider, Map<String, Object> properties) {
        ConnectorType type = new ConnectorType();
        type.setConnectorProviderClassName(provider.getName());
        Connection connection = new Connection();
        connection.setConnectorType(type);
        connection.setConfigurationProperties(properties);
        return connection;
    }

    private RepositoryServicesConfig configuration(
            Map<String, Object> properties, Map<String, Object> mapper, Path folder) {
        ConnectorConfigurationFactory factory = new ConnectorConfigurationFactory();
        Connection repository = connection(AnnalsRepositoryConnectorProvider.class, properties);

        LocalRepositoryConfig local = new LocalRepositoryConfig();
        local.setMetadataCollectionId(id);
        local.setMetadataCollectionName(name + " collection");
        local.setLocalRepositoryMode(LocalRepositoryMode.PLUGIN_REPOSITORY);
        local.setLocalRepositoryLocalConnection(repository);
        if (mapper != null) {
            // Egeria uses event mappers in this mode only.
            local.setLocalRepositoryMode(LocalRepositoryMode.REPOSITORY_PROXY);
            local.setEventMapperConnection(connection(AnnalsEventMapperProvider.class, mapper));
        }
        local.setEventsToSaveRule(OpenMetadataExchangeRule.ALL);
        local.setEventsToSendRule(OpenMetadataExchangeRule.ALL);

        Connection registry = factory.getDefaultCohortRegistryConnection(name, "cohort");
        Endpoint store = new Endpoint();
        store.setAddress(folder.resolve(name + ".registrystore").toString());
        registry.setEndpoint(store);
        CohortConfig cohort = new CohortConfig();
        cohort.setCohortName("cohort");
        cohort.setCohortRegistryConnection(registry);
        cohort.setCohortOMRSTopicConnection(factory.getDefaultSingleCohortOMRSTopicConnection(
                "cohort", null, SharedTopic.Provider.class.getName(), "topics", name, null));
        cohort.setEventsToProcessRule(OpenMetadataExchangeRule.ALL);

        RepositoryServicesConfig all = new RepositoryServicesConfig();
        all.setAuditLogConnections(List.of(factory.getConsoleAuditLogConnection(List.of("Error", "Exception"))));
        all.setLocalRepositoryConfig(local);
        all.setCohortConfigList(List.of(cohort));
        return all;
    }

    EntityDetail add(String type, InstanceProperties properties) {
        EntityCreateRequest request = new EntityCreateRequest();
        request.setEntityTypeGUID(type);
        request.setInitialProperties(properties);
        return entity(calls.addEntity(name, USER, request));
    }

    EntityDetail update(String guid, InstanceProperties properties) {
        InstancePropertiesRequest request = new InstancePropertiesRequest();
        request.setInstanceProperties(properties);
        return entity(calls.updateEntityProperties(name, USER, guid, request));
    }

    EntityDetail classify(String guid, String classification) {
        return entity(calls.classifyEntity(name, USER, guid, classification, new InstancePropertiesRequest()));
    }

    EntityDetail delete(EntityDetail entity) {
        TypeDefValidationForRequest request = new TypeDefValidationForRequest();
        request.setTypeDefGUID(entity.getType().getTypeDefGUID());
        request.setTypeDefName(entity.getType().getTypeDefName());
        return entity(calls.deleteEntity(name, USER, entity.getGUID(), request));
    }

    /** Null if it is not known. */
    EntityDetail known(String guid) {
        return entity(calls.isEntityKnown(name, USER, guid));
    }

    private static EntityDetail entity(EntityDetailResponse response) {
        if (response.getRelatedHTTPCode() != 200) {
            throw new IllegalStateException(response.getExceptionErrorMessage());
        }
        return response.getEntity();
    }

    @Override
    public void close() {
        services.disconnect(false);
    }
}
