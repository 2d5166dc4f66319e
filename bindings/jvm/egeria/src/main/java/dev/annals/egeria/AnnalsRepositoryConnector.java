package dev.annals.egeria;

import dev.annals.Annals;
import dev.annals.AnnalsException;
import dev.annals.ConnectOptions;
import dev.annals.Repository;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.odpi.openmetadata.frameworks.auditlog.messagesets.AuditLogMessageDefinition;
import org.odpi.openmetadata.frameworks.connectors.ffdc.ConnectorCheckedException;
import org.odpi.openmetadata.frameworks.connectors.properties.EndpointProperties;
import org.odpi.openmetadata.repositoryservices.auditlog.OMRSAuditLogRecordSeverity;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.repositoryconnector.OMRSRepositoryConnector;

/**
 * Keeps the metadata of a server of Egeria in a repository of Annals.
 *
 * <p>Configuration properties: {@code address} of a server of Annals (or the address of the endpoint), or {@code folder}
 * of a repository that this process opens; neither is a repository in memory. With an address, {@code tokenFile} holds
 * the token of this server of Egeria, and {@code caFile} the authorities of the server of Annals, in PEM.
 */
public class AnnalsRepositoryConnector extends OMRSRepositoryConnector {
    static final String ADDRESS = "address";
    static final String FOLDER = "folder";
    static final String TOKEN_FILE = "tokenFile";
    static final String CA_FILE = "caFile";
    static final List<String> PROPERTIES = List.of(ADDRESS, FOLDER, TOKEN_FILE, CA_FILE);

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
        Settings settings = Settings.of(connectionProperties, PROPERTIES);
        Optional<String> folder = settings.text(FOLDER);
        Optional<String> address = settings.text(ADDRESS);
        EndpointProperties endpoint = connectionProperties.getEndpoint();
        if (address.isEmpty() && endpoint != null && folder.isEmpty()) {
            address = Optional.ofNullable(endpoint.getAddress());
        }
        if (address.isPresent() && folder.isPresent()) {
            throw new IllegalArgumentException(
                    "expected an address or a folder, found both: " + address.get() + ", " + folder.get());
        }
        if (address.isPresent()) {
            return connect(URI.create(address.get()), settings);
        }
        for (String name : List.of(TOKEN_FILE, CA_FILE)) {
            if (settings.text(name).isPresent()) {
                throw new IllegalArgumentException(name + ": expected an address with it, found none");
            }
        }
        return folder.map(path -> Annals.open(Path.of(path))).orElseGet(Annals::inMemory);
    }

    private static Repository connect(URI server, Settings settings) {
        ConnectOptions options = ConnectOptions.defaults();
        if (settings.text(CA_FILE).isPresent()) {
            options = options.authorities(Path.of(settings.text(CA_FILE).get()));
        }
        if (settings.text(TOKEN_FILE).isPresent()) {
            boolean isHere = List.of("127.0.0.1", "[::1]", "localhost").contains(String.valueOf(server.getHost()));
            if (!"https".equals(server.getScheme()) && !isHere) {
                throw new IllegalArgumentException(TOKEN_FILE + ": the token would pass the network unencrypted; expected"
                        + " an address with https, found " + server);
            }
            options = options.header("Authorization", "Bearer " + token(settings.text(TOKEN_FILE).get()));
        }
        return Annals.connect(server, options);
    }

    private static String token(String file) {
        try {
            String token = Files.readString(Path.of(file)).strip();
            if (token.isEmpty() || token.chars().anyMatch(one -> one <= ' ' || one > '~')) {
                throw new IllegalArgumentException(TOKEN_FILE + " " + file
                        + ": expected one token and nothing else");
            }
            return token;
        } catch (IOException error) {
            throw new IllegalArgumentException(TOKEN_FILE + " " + file + ": " + error, error);
        }
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
