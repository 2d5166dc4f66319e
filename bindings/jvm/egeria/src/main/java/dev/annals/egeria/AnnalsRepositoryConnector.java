package dev.annals.egeria;

import dev.annals.Annals;
import dev.annals.AnnalsException;
import dev.annals.Repository;
import java.net.URI;
import java.nio.file.Path;
import java.util.Map;
import org.odpi.openmetadata.frameworks.auditlog.messagesets.AuditLogMessageDefinition;
import org.odpi.openmetadata.frameworks.connectors.ffdc.ConnectorCheckedException;
import org.odpi.openmetadata.frameworks.connectors.properties.EndpointProperties;
import org.odpi.openmetadata.repositoryservices.auditlog.OMRSAuditLogRecordSeverity;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.repositoryconnector.OMRSRepositoryConnector;

/**
 * Keeps the metadata of a server of Egeria in a repository of Annals.
 *
 * <p>Configuration properties: {@code address} of a server of Annals (or the address of the endpoint), or {@code folder}
 * of a repository that this process opens; neither is a repository in memory.
 */
public class AnnalsRepositoryConnector extends OMRSRepositoryConnector {
    static final String ADDRESS = "address";
    static final String FOLDER = "folder";

    /** Between start and disconnect. */
    private boolean isStarted;
    /** Null until the repository is open. */
    private Store store;
    private AnnalsMetadataCollection collection;

    /** Makes a connector; a provider does it. */
    public AnnalsRepositoryConnector() {}

    @Override
    public void setMetadataCollectionId(String id) {
        metadataCollectionId = id;
        if (id != null) {
            collection = new AnnalsMetadataCollection(this, serverName, repositoryHelper, repositoryValidator, id);
            metadataCollection = collection;
        }
    }

    /**
     * Opens the repository. One that does not open yet, because its server is not there or another program has its
     * folder, is a line in the audit log: calls try again, and the event mapper waits for it.
     */
    @Override
    public synchronized void start() throws ConnectorCheckedException {
        super.start();
        isStarted = true;
        try {
            store();
        } catch (AnnalsException error) {
            if (auditLog == null) {
                throw new ConnectorCheckedException(
                        Failures.definition(error, "start"), getClass().getName(), "start", error);
            }
            auditLog.logException(
                    "start",
                    new AuditLogMessageDefinition(
                            "ANNALS-REPOSITORY",
                            OMRSAuditLogRecordSeverity.EXCEPTION,
                            "The repository does not open: " + error.getMessage(),
                            "Each call tries again until it opens.",
                            "Look at the exception."),
                    error);
        } catch (IllegalArgumentException error) {
            throw new ConnectorCheckedException(
                    Failures.definition(error, "start"), getClass().getName(), "start", error);
        }
    }

    private Repository open() {
        Map<String, Object> settings = connectionProperties.getConfigurationProperties();
        if (settings == null) {
            settings = Map.of();
        }
        for (String name : settings.keySet()) {
            // A misspelt folder must not become a repository in memory.
            if (!name.equals(ADDRESS) && !name.equals(FOLDER)) {
                throw new IllegalArgumentException("expected the property address or folder, found " + name);
            }
        }
        Object address = settings.get(ADDRESS);
        Object folder = settings.get(FOLDER);
        EndpointProperties endpoint = connectionProperties.getEndpoint();
        if (address == null && endpoint != null && folder == null) {
            address = endpoint.getAddress();
        }
        if (address != null && folder != null) {
            throw new IllegalArgumentException(
                    "expected an address or a folder, found both: " + address + ", " + folder);
        }
        if (address != null) {
            return Annals.connect(URI.create(address.toString()));
        }
        return folder == null ? Annals.inMemory() : Annals.open(Path.of(folder.toString()));
    }

    /**
     * The open repository. A platform of Egeria runs a server also if the start of its repository failed, so a call
     * opens a repository that is not open yet. Errors: those of the opening; a logic error before the start and after
     * the end.
     */
    synchronized Store store() {
        if (!isStarted) {
            throw new IllegalStateException("the connector is not started; start it before its collection is used");
        }
        if (store == null) {
            store = named(new Store(open()));
        }
        return store;
    }

    private Store named(Store opened) {
        try {
            if (metadataCollectionId != null) {
                opened.name(metadataCollectionId);
            }
            return opened;
        } catch (AnnalsException error) {
            opened.close();
            throw error;
        }
    }

    AnnalsMetadataCollection collection() {
        return collection;
    }

    @Override
    public synchronized void disconnect() throws ConnectorCheckedException {
        super.disconnect();
        isStarted = false;
        if (store != null) {
            store.close();
            store = null;
        }
    }
}
