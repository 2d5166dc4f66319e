package dev.annals.egeria;

import java.lang.reflect.Field;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.odpi.openmetadata.frameworks.auditlog.AuditLog;
import org.odpi.openmetadata.frameworks.auditlog.messagesets.AuditLogMessageDefinition;
import org.odpi.openmetadata.adminservices.configuration.properties.LocalRepositoryMode;
import org.odpi.openmetadata.adminservices.configuration.properties.OpenMetadataExchangeRule;
import org.odpi.openmetadata.frameworks.connectors.ffdc.ConnectorCheckedException;
import org.odpi.openmetadata.frameworks.connectors.properties.beans.Connection;
import org.odpi.openmetadata.frameworks.connectors.properties.beans.ConnectorType;
import org.odpi.openmetadata.repositoryservices.archivemanager.OMRSArchiveManager;
import org.odpi.openmetadata.repositoryservices.auditlog.OMRSAuditLog;
import org.odpi.openmetadata.repositoryservices.auditlog.OMRSAuditLogDestination;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.OMRSMetadataCollection;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.typedefs.TypeDef;
import org.odpi.openmetadata.repositoryservices.eventmanagement.OMRSRepositoryEventExchangeRule;
import org.odpi.openmetadata.repositoryservices.eventmanagement.OMRSRepositoryEventManager;
import org.odpi.openmetadata.repositoryservices.localrepository.repositoryconnector.LocalOMRSConnectorProvider;
import org.odpi.openmetadata.repositoryservices.localrepository.repositoryconnector.LocalOMRSRepositoryConnector;
import org.odpi.openmetadata.repositoryservices.localrepository.repositorycontentmanager.OMRSRepositoryContentHelper;
import org.odpi.openmetadata.repositoryservices.localrepository.repositorycontentmanager.OMRSRepositoryContentManager;
import org.odpi.openmetadata.repositoryservices.localrepository.repositorycontentmanager.OMRSRepositoryContentValidator;

/** A repository in the wrapper that a server of Egeria gives it, with all open metadata types. */
final class LocalServer implements AutoCloseable {
    static final String USER = "tester";
    static final String ID = "b5a05a5f-0d2d-4b0e-8a63-6d0d9a1c0001";
    static final String NAME = "tested collection";
    private static final int PAGE_MAX = 10_000;

    final OMRSRepositoryContentHelper helper;
    final OMRSMetadataCollection collection;
    private final LocalOMRSRepositoryConnector connector;
    private final OMRSRepositoryContentValidator validator;
    private final OMRSRepositoryEventExchangeRule rule;

    private LocalServer(Connection connection, boolean goesOn) throws Exception {
        OMRSAuditLog log = new OMRSAuditLog(
                new OMRSAuditLogDestination("tested", "tested", "tests", List.of()), -1, "tested", "under test", null);
        OMRSRepositoryContentManager contents = new OMRSRepositoryContentManager(USER, log);
        helper = new OMRSRepositoryContentHelper(contents);
        validator = new OMRSRepositoryContentValidator(contents);
        rule = new OMRSRepositoryEventExchangeRule(OpenMetadataExchangeRule.ALL, null);
        OMRSRepositoryEventManager events = new OMRSRepositoryEventManager("local", rule, validator, log);
        connector = (LocalOMRSRepositoryConnector) new LocalOMRSConnectorProvider(
                        ID,
                        LocalRepositoryMode.OPEN_METADATA_NATIVE,
                        new Connection(connection),
                        null,
                        events,
                        contents,
                        rule,
                        log)
                .getConnector(connection);
        connector.setAuditLog(log);
        connector.setMaxPageSize(PAGE_MAX);
        connector.setServerName("tested");
        connector.setServerType("tested");
        connector.setServerUserId(USER);
        connector.setOrganizationName("tests");
        connector.setRepositoryHelper(helper);
        connector.setRepositoryValidator(validator);
        // Order: the name before the id, because the id makes the collection.
        connector.setMetadataCollectionName(NAME);
        connector.setMetadataCollectionId(ID);
        contents.setupEventProcessor(connector, events);
        try {
            connector.start();
        } catch (ConnectorCheckedException error) {
            if (!goesOn) {
                throw error;
            }
        }
        events.start();
        // This adds the open metadata types.
        new OMRSArchiveManager(List.of(), log)
                .setLocalRepository(ID, contents, connector.getIncomingInstanceEventProcessor());
        collection = connector.getMetadataCollection();
    }

    static LocalServer inMemory() throws Exception {
        return new LocalServer(
                connection("org.odpi.openmetadata.adapters.repositoryservices.inmemory.repositoryconnector"
                        + ".InMemoryOMRSRepositoryConnectorProvider"),
                false);
    }

    /** Settings: those of AnnalsRepositoryConnector. */
    static LocalServer annals(Map<String, Object> settings) throws Exception {
        Connection connection = connection(AnnalsRepositoryConnectorProvider.class.getName());
        connection.setConfigurationProperties(settings);
        return new LocalServer(connection, false);
    }

    /** Goes on after a start that fails, as a platform of Egeria does. */
    static LocalServer annalsInPlatform(Map<String, Object> settings) throws Exception {
        Connection connection = connection(AnnalsRepositoryConnectorProvider.class.getName());
        connection.setConfigurationProperties(settings);
        return new LocalServer(connection, true);
    }

    private static Connection connection(String provider) {
        ConnectorType type = new ConnectorType();
        type.setConnectorProviderClassName(provider);
        Connection connection = new Connection();
        connection.setConnectorType(type);
        return connection;
    }

    /** The connector of Annals. */
    AnnalsRepositoryConnector real() throws IllegalStateException {
        try {
            Field field = LocalOMRSRepositoryConnector.class.getDeclaredField("realLocalConnector");
            field.setAccessible(true);
            return (AnnalsRepositoryConnector) field.get(connector);
        } catch (ReflectiveOperationException error) {
            throw new IllegalStateException(error);
        }
    }

    /** An event mapper that is not started. Events and the lines of the audit log go to the consumers. */
    AnnalsEventMapper eventMapper(Map<String, Object> settings, Consumer<String> events, Consumer<String> lines)
            throws Exception {
        AuditLog log = new AuditLog(new OMRSAuditLogDestination("tested", "tested", "tests", List.of()), 1, "m", "m", "m") {
            @Override
            public void logException(String action, AuditLogMessageDefinition line, Throwable error) {
                lines.accept(line + " " + error);
            }
        };
        Connection connection = connection(AnnalsEventMapperProvider.class.getName());
        connection.setConfigurationProperties(settings);
        AnnalsEventMapper mapper = (AnnalsEventMapper) new AnnalsEventMapperProvider().getConnector(connection);
        mapper.setAuditLog(log);
        mapper.initialize("mapper", real());
        mapper.setMetadataCollectionId(ID);
        mapper.setServerName("tested");
        mapper.setRepositoryEventProcessor(new MapperEvents(rule, validator, log, events));
        return mapper;
    }

    TypeDef type(String name) {
        return helper.getTypeDefByName("test", name);
    }

    @Override
    public void close() throws ConnectorCheckedException {
        connector.disconnect();
    }
}
