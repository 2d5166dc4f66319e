package annals.lab.egeria;

import java.util.Map;

import org.odpi.openmetadata.frameworks.connectors.ConnectorBroker;
import org.odpi.openmetadata.frameworks.connectors.properties.beans.Connection;
import org.odpi.openmetadata.frameworks.connectors.properties.beans.Endpoint;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.repositoryconnector.OMRSRepositoryConnector;
import org.odpi.openmetadata.repositoryservices.rest.server.OMRSRepositoryRESTServices;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.ConfigurableApplicationContext;

/** Egeria's REST API of a repository, on a free port of 127.0.0.1, without TLS. */
@SpringBootApplication(scanBasePackages = "org.odpi.openmetadata.repositoryservices.rest.server.spring")
public class RestServer {
    private static final String CLIENT =
        "org.odpi.openmetadata.adapters.repositoryservices.rest.repositoryconnector.OMRSRESTRepositoryConnectorProvider";

    /** Serves the repository, and returns Egeria's client of it. */
    static OMRSRepositoryConnector serve(LocalRepository repository) throws Exception {
        SpringApplication application = new SpringApplication(RestServer.class);
        application.setDefaultProperties(Map.of(
            "server.port", "0", "server.address", "127.0.0.1", "spring.main.banner-mode", "off", "logging.level.root", "WARN"));
        ConfigurableApplicationContext context = application.run();
        String root = "http://127.0.0.1:" + context.getEnvironment().getProperty("local.server.port");
        OMRSRepositoryRESTServices.setServerRepositories(LocalRepository.SERVER, repository.log, repository.connector, null, null, null,
            root, repository.log, LocalRepository.PAGE_MAX);

        Endpoint endpoint = new Endpoint();
        endpoint.setAddress(root + "/servers/" + LocalRepository.SERVER);
        Connection connection = LocalRepository.of(CLIENT);
        connection.setEndpoint(endpoint);
        OMRSRepositoryConnector client = (OMRSRepositoryConnector) new ConnectorBroker().getConnector(connection);
        client.setAuditLog(repository.log);
        client.setRepositoryHelper(repository.helper);
        client.setRepositoryValidator(repository.validator);
        client.setMaxPageSize(LocalRepository.PAGE_MAX);
        client.setServerName(LocalRepository.SERVER);
        client.setServerType(LocalRepository.SERVER);
        client.setServerUserId(LocalRepository.USER);
        client.setRepositoryName(LocalRepository.SERVER);
        client.setMetadataCollectionName(repository.connector.getMetadataCollectionName());
        client.setMetadataCollectionId(repository.collectionId);
        client.start();
        return client;
    }
}
