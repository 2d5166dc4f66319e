package dev.annals.egeria;

import org.odpi.openmetadata.frameworks.auditlog.AuditLogReportingComponent;
import org.odpi.openmetadata.frameworks.connectors.Connector;
import org.odpi.openmetadata.frameworks.connectors.ffdc.ConnectionCheckedException;
import org.odpi.openmetadata.frameworks.connectors.ffdc.ConnectorCheckedException;
import org.odpi.openmetadata.frameworks.connectors.properties.ConnectionProperties;
import org.odpi.openmetadata.frameworks.connectors.properties.beans.ConnectorType;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.repositoryconnector.OMRSRepositoryConnectorProviderBase;

/** Makes connectors for servers of Egeria: the name of this class is all that a server needs to know. */
public class AnnalsRepositoryConnectorProvider extends OMRSRepositoryConnectorProviderBase {
    private static final int COMPONENT_ID = 8280;
    private static final String TYPE_GUID = "0c6e7a5a-6d1e-4f0c-9d0a-2f6a51c7a8e1";
    private static final String NAME = "Annals:OMRSRepositoryConnector";
    private static final String DESCRIPTION = "Keeps metadata in a repository of Annals, with its full history.";

    /** Describes the connector. */
    public AnnalsRepositoryConnectorProvider() {
        setConnectorClassName(AnnalsRepositoryConnector.class.getName());

        ConnectorType type = new ConnectorType();
        type.setType(ConnectorType.getConnectorTypeType());
        type.setGUID(TYPE_GUID);
        type.setQualifiedName(NAME);
        type.setDisplayName("Annals repository connector");
        type.setDescription(DESCRIPTION);
        type.setConnectorProviderClassName(getClass().getName());
        type.setRecognizedConfigurationProperties(AnnalsRepositoryConnector.PROPERTIES);
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
        AnnalsRepositoryConnector.check(connection);
        return super.getConnector(connection);
    }
}
