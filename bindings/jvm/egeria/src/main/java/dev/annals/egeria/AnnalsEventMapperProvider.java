package dev.annals.egeria;

import java.util.List;
import org.odpi.openmetadata.frameworks.auditlog.AuditLogReportingComponent;
import org.odpi.openmetadata.frameworks.connectors.Connector;
import org.odpi.openmetadata.frameworks.connectors.ConnectorProviderBase;
import org.odpi.openmetadata.frameworks.connectors.ffdc.ConnectionCheckedException;
import org.odpi.openmetadata.frameworks.connectors.ffdc.ConnectorCheckedException;
import org.odpi.openmetadata.frameworks.connectors.properties.ConnectionProperties;
import org.odpi.openmetadata.frameworks.connectors.properties.beans.ConnectorType;

/** Makes event mappers for servers of Egeria. */
public class AnnalsEventMapperProvider extends ConnectorProviderBase {
    private static final int COMPONENT_ID = 8281;
    private static final String TYPE_GUID = "0c6e7a5a-6d1e-4f0c-9d0a-2f6a51c7a8e2";
    private static final String NAME = "Annals:OMRSRepositoryEventMapper";
    private static final String DESCRIPTION =
            "Sends an event for each change of a repository of Annals, by any client.";

    /** Describes the event mapper. */
    public AnnalsEventMapperProvider() {
        setConnectorClassName(AnnalsEventMapper.class.getName());

        ConnectorType type = new ConnectorType();
        type.setType(ConnectorType.getConnectorTypeType());
        type.setGUID(TYPE_GUID);
        type.setQualifiedName(NAME);
        type.setDisplayName("Annals event mapper");
        type.setDescription(DESCRIPTION);
        type.setConnectorProviderClassName(getClass().getName());
        type.setRecognizedConfigurationProperties(List.of(AnnalsEventMapper.STATE));
        connectorTypeBean = type;

        AuditLogReportingComponent component = new AuditLogReportingComponent();
        component.setComponentId(COMPONENT_ID);
        component.setComponentName(NAME);
        component.setComponentDescription(DESCRIPTION);
        component.setComponentWikiURL("docs/egeria.md");
        setConnectorComponentDescription(component);
    }

    /** A connection with settings that do not fit makes no connector: then the server does not start. */
    @Override
    public Connector getConnector(ConnectionProperties connection)
            throws ConnectionCheckedException, ConnectorCheckedException {
        Settings.check(connection, List.of(AnnalsEventMapper.STATE), AnnalsEventMapper.class);
        return super.getConnector(connection);
    }
}
