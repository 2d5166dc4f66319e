package annals.lab.egeria;

import java.util.List;
import java.util.Map;
import java.util.UUID;

import org.odpi.openmetadata.adapters.repositoryservices.ConnectorConfigurationFactory;
import org.odpi.openmetadata.adminservices.configuration.properties.LocalRepositoryMode;
import org.odpi.openmetadata.adminservices.configuration.properties.OpenMetadataExchangeRule;
import org.odpi.openmetadata.frameworks.connectors.properties.beans.Connection;
import org.odpi.openmetadata.frameworks.connectors.properties.beans.ConnectorType;
import org.odpi.openmetadata.repositoryservices.archivemanager.OMRSArchiveManager;
import org.odpi.openmetadata.repositoryservices.auditlog.OMRSAuditLog;
import org.odpi.openmetadata.repositoryservices.auditlog.OMRSAuditLogDestination;
import org.odpi.openmetadata.repositoryservices.eventmanagement.OMRSRepositoryEventExchangeRule;
import org.odpi.openmetadata.repositoryservices.eventmanagement.OMRSRepositoryEventManager;
import org.odpi.openmetadata.repositoryservices.localrepository.repositoryconnector.LocalOMRSConnectorProvider;
import org.odpi.openmetadata.repositoryservices.localrepository.repositoryconnector.LocalOMRSRepositoryConnector;
import org.odpi.openmetadata.repositoryservices.localrepository.repositorycontentmanager.OMRSRepositoryContentHelper;
import org.odpi.openmetadata.repositoryservices.localrepository.repositorycontentmanager.OMRSRepositoryContentManager;
import org.odpi.openmetadata.repositoryservices.localrepository.repositorycontentmanager.OMRSRepositoryContentValidator;

/** One of Egeria's repositories, in the wrapper that a server of Egeria gives it, with all open metadata types. */
final class LocalRepository {
    static final String SERVER = "tut";
    static final String USER = "suite";
    static final int PAGE_MAX = 1_000;
    private static final String JANUSGRAPH =
        "org.odpi.openmetadata.adapters.repositoryservices.graphrepository.repositoryconnector.GraphOMRSRepositoryConnectorProvider";

    private static final String ANNALS = "dev.annals.egeria.AnnalsRepositoryConnectorProvider";

    final OMRSAuditLog log;
    // The exact classes of both: with a supertype, the wrapper would not pass them on to what it wraps.
    final OMRSRepositoryContentHelper helper;
    final OMRSRepositoryContentValidator validator;
    final String collectionId = UUID.randomUUID().toString();
    final LocalOMRSRepositoryConnector connector;
    private final OMRSRepositoryEventManager events;

    /** Opens `memory`, or `janusgraph` or `annals` in the present folder; `annals` at the address ANNALS_ADDRESS if there is one. */
    LocalRepository(String system) throws Exception {
        this(system, SERVER);
    }

    /** The same in a server of another name. */
    LocalRepository(String system, String server) throws Exception {
        log = new OMRSAuditLog(new OMRSAuditLogDestination(server, server, "lab", List.of()), -1, server, "a repository under test", null);
        OMRSRepositoryContentManager contents = new OMRSRepositoryContentManager(USER, log);
        helper = new OMRSRepositoryContentHelper(contents);
        validator = new OMRSRepositoryContentValidator(contents);
        OMRSRepositoryEventExchangeRule rule = new OMRSRepositoryEventExchangeRule(OpenMetadataExchangeRule.ALL, null);
        events = new OMRSRepositoryEventManager("local", rule, validator, log);
        Connection connection = connection(system);
        connector = (LocalOMRSRepositoryConnector) new LocalOMRSConnectorProvider(
            collectionId, LocalRepositoryMode.OPEN_METADATA_NATIVE, new Connection(connection), null, events, contents, rule, log)
            .getConnector(connection);
        connector.setAuditLog(log);
        connector.setMaxPageSize(PAGE_MAX);
        connector.setServerName(server);
        connector.setServerType(server);
        connector.setServerUserId(USER);
        connector.setOrganizationName("lab");
        connector.setRepositoryHelper(helper);
        connector.setRepositoryValidator(validator);
        // Order: the name before the id, because the id makes the collection.
        connector.setMetadataCollectionName(server + " collection");
        connector.setMetadataCollectionId(collectionId);
        contents.setupEventProcessor(connector, events);
        connector.start();
        events.start();
        // This adds the open metadata types.
        new OMRSArchiveManager(List.of(), log)
            .setLocalRepository(collectionId, contents, connector.getIncomingInstanceEventProcessor());
    }

    /** Tells another repository of each change, as a cohort does. */
    void tell(LocalRepository other) {
        events.registerInstanceProcessor(other.connector.getIncomingInstanceEventProcessor());
    }

    private static Connection connection(String system) {
        switch (system) {
            case "memory":
                return new ConnectorConfigurationFactory().getInMemoryLocalRepositoryLocalConnection();
            case "janusgraph":
                return of(JANUSGRAPH);
            case "annals":
                Connection annals = of(ANNALS);
                String address = System.getenv("ANNALS_ADDRESS");
                annals.setConfigurationProperties(address == null ? Map.of("folder", "repository") : Map.of("address", address));
                return annals;
            default:
                throw new IllegalArgumentException("expected memory, janusgraph or annals, found " + system);
        }
    }

    /** A connection to the connector of this provider. */
    static Connection of(String provider) {
        ConnectorType type = new ConnectorType();
        type.setConnectorProviderClassName(provider);
        Connection connection = new Connection();
        connection.setConnectorType(type);
        return connection;
    }
}
