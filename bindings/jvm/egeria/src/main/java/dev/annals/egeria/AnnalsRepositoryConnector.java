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
import org.odpi.openmetadata.frameworks.connectors.properties.ConnectionProperties;
import org.odpi.openmetadata.frameworks.connectors.properties.EndpointProperties;
import org.odpi.openmetadata.repositoryservices.auditlog.OMRSAuditLogRecordSeverity;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.repositoryconnector.OMRSRepositoryConnector;

/**
 * Keeps the metadata of a server of Egeria in a repository of Annals.
 *
 * <p>Configuration properties: {@code address} of a server of Annals (or the address of the endpoint), or {@code folder}
 * of a repository that this process opens, or the URL of its log in a store; neither is a repository in memory. With an address, {@code tokenFile} holds
 * the token of this server of Egeria, and {@code caFile} the authorities of the server of Annals, in PEM. The token may be
 * the {@code clearPassword} of the connection instead.
 */
public class AnnalsRepositoryConnector extends OMRSRepositoryConnector {
    static final String ADDRESS = "address";
    static final String FOLDER = "folder";
    static final String TOKEN_FILE = "tokenFile";
    static final String CA_FILE = "caFile";
    /** Of the connection, and no configuration property. */
    private static final String PASSWORD = "clearPassword";
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

    /** Where a connection says that the repository is; in memory with neither a server nor a folder. */
    private record Place(
            Optional<URI> server, Optional<String> folder, ConnectionProperties connection, Settings settings) {}

    /** Reads a connection. It opens nothing. Errors: {@code IllegalArgumentException} for settings that do not fit. */
    private static Place place(ConnectionProperties connection) {
        Settings settings = Settings.of(connection, PROPERTIES);
        Optional<String> folder = settings.text(FOLDER);
        Optional<String> address = settings.text(ADDRESS);
        EndpointProperties endpoint = connection.getEndpoint();
        if (address.isEmpty() && endpoint != null && folder.isEmpty()) {
            address = Optional.ofNullable(endpoint.getAddress());
        }
        if (address.isPresent() && folder.isPresent()) {
            // Neither is shown: a URL may have a password.
            throw new IllegalArgumentException("expected an address or a folder, found both; leave one of them out");
        }
        boolean hasPassword = connection.getClearPassword() != null;
        for (String name : List.of(TOKEN_FILE, CA_FILE, PASSWORD)) {
            boolean isGiven = name.equals(PASSWORD) ? hasPassword : settings.text(name).isPresent();
            if (isGiven && address.isEmpty()) {
                throw new IllegalArgumentException(name + ": expected an address with it, found none");
            }
        }
        if (hasPassword && settings.text(TOKEN_FILE).isPresent()) {
            throw new IllegalArgumentException("expected the token in tokenFile or as clearPassword, found both");
        }
        Optional<URI> server = address.map(URI::create);
        if (hasPassword || settings.text(TOKEN_FILE).isPresent()) {
            checkSecret(server.orElseThrow(), hasPassword ? PASSWORD : TOKEN_FILE);
        }
        return new Place(server, folder, connection, settings);
    }

    private static void checkSecret(URI server, String name) {
        boolean isHere = List.of("127.0.0.1", "[::1]", "localhost").contains(String.valueOf(server.getHost()));
        if (!"https".equals(server.getScheme()) && !isHere) {
            throw new IllegalArgumentException(name + ": the token would pass the network unencrypted; expected"
                    + " an address with https, found " + server);
        }
    }

    /** Looks at a connection before its server starts. Errors: {@code ConnectorCheckedException} for settings that do not fit. */
    static void check(ConnectionProperties connection) throws ConnectorCheckedException {
        try {
            place(connection);
        } catch (IllegalArgumentException error) {
            throw Settings.refused(error, AnnalsRepositoryConnector.class);
        }
    }

    private Repository open() {
        Place place = place(connectionProperties);
        if (place.server().isPresent()) {
            return connect(place.server().get(), place);
        }
        return place.folder().map(folder -> Annals.open(folder)).orElseGet(Annals::inMemory);
    }

    private static Repository connect(URI server, Place place) {
        ConnectOptions options = ConnectOptions.defaults();
        Optional<String> authorities = place.settings().text(CA_FILE);
        if (authorities.isPresent()) {
            options = options.authorities(Path.of(authorities.get()));
        }
        Optional<String> token = place.settings()
                .text(TOKEN_FILE)
                .map(AnnalsRepositoryConnector::token)
                .or(() -> Optional.ofNullable(place.connection().getClearPassword()));
        return Annals.connect(server, token.isPresent() ? options.token(token.get()) : options);
    }

    /** The token in a file. Errors: {@code IllegalArgumentException} for a file that does not read. */
    private static String token(String file) {
        try {
            return Files.readString(Path.of(file)).strip();
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
