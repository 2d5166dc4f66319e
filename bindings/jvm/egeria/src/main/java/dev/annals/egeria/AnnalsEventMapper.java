package dev.annals.egeria;

import dev.annals.AnnalsException;
import dev.annals.LogRecord;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Iterator;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.Stream;
import org.odpi.openmetadata.frameworks.auditlog.messagesets.AuditLogMessageDefinition;
import org.odpi.openmetadata.frameworks.connectors.ffdc.ConnectorCheckedException;
import org.odpi.openmetadata.repositoryservices.auditlog.OMRSAuditLogRecordSeverity;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.Classification;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.EntityDetail;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.InstanceType;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.Relationship;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.repositoryeventmapper.OMRSRepositoryEventMapperBase;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.repositoryeventmapper.OMRSRepositoryEventProcessor;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.OMRSCheckedExceptionBase;

/**
 * Follows the repository of the server and sends events to its cohorts: for its own writes, and for those of any other
 * client of Annals, in the order of the log.
 *
 * <p>With an event mapper Egeria's server sends no events itself. Configuration property {@code state}: a file that
 * holds the position of the last record whose events were sent, so that a restart goes on behind it; without the file,
 * or the property, it begins at the present. After a crash the events of one record may come twice.
 */
public class AnnalsEventMapper extends OMRSRepositoryEventMapperBase {
    static final String STATE = "state";
    private static final int RETRY_MS = 1_000;

    private volatile boolean isStopped;
    private volatile Stream<LogRecord> records;
    private Thread follower;

    /** Makes an event mapper; a provider does it. */
    public AnnalsEventMapper() {}

    @Override
    public synchronized void start() throws ConnectorCheckedException {
        super.start();
        if (!(repositoryConnector instanceof AnnalsRepositoryConnector connector)) {
            throw new ConnectorCheckedException(
                    Failures.definition(
                            400,
                            "ANNALS-INVALID-ARGUMENT",
                            "expected a connector of Annals, found " + repositoryConnector),
                    getClass().getName(),
                    "start");
        }
        try {
            Optional<Path> state = state();
            OptionalLong told = state.isPresent() && Files.exists(state.get())
                    ? OptionalLong.of(Long.parseLong(Files.readString(state.get()).strip()))
                    : present(connector);
            isStopped = false;
            follower = new Thread(() -> follow(connector, told, state), "annals event mapper");
            follower.setDaemon(true);
            follower.start();
        } catch (IOException | NumberFormatException error) {
            throw new ConnectorCheckedException(
                    Failures.definition(error, "start"), getClass().getName(), "start", error);
        }
    }

    private Optional<Path> state() {
        Map<String, Object> settings = connectionProperties.getConfigurationProperties();
        Object file = settings == null ? null : settings.get(STATE);
        return Optional.ofNullable(file).map(path -> Path.of(path.toString()));
    }

    /** Empty if the repository does not open yet. */
    private OptionalLong present(AnnalsRepositoryConnector connector) {
        try {
            return OptionalLong.of(connector.store().position());
        } catch (AnnalsException error) {
            report(error);
            return OptionalLong.empty();
        }
    }

    /** Goes on after the server of Annals was away. Without a position it begins once the repository opens. */
    private void follow(AnnalsRepositoryConnector connector, OptionalLong begin, Optional<Path> state) {
        OptionalLong known = begin;
        while (!isStopped && known.isEmpty()) {
            pause();
            known = isStopped ? known : present(connector);
        }
        long position = known.orElse(0);
        while (!isStopped) {
            try (Stream<LogRecord> found = connector.store().follow(position)) {
                records = found;
                Events events = new Events(connector, new Outbound());
                for (Iterator<LogRecord> each = found.iterator(); !isStopped && each.hasNext(); ) {
                    LogRecord record = each.next();
                    events.send(record);
                    position = record.position();
                    if (state.isPresent()) {
                        write(state.get(), position);
                    }
                }
            } catch (AnnalsException | IllegalStateException | IOException | OMRSCheckedExceptionBase error) {
                if (!isStopped) {
                    report(error);
                    pause();
                }
            }
        }
    }

    private static void write(Path file, long position) throws IOException {
        Path next = file.resolveSibling(file.getFileName() + ".next");
        Files.writeString(next, position + "\n");
        Files.move(next, file, StandardCopyOption.ATOMIC_MOVE);
    }

    private void report(Exception error) {
        if (auditLog != null) {
            auditLog.logException(
                    "follow",
                    new AuditLogMessageDefinition(
                            "ANNALS-EVENT-MAPPER",
                            OMRSAuditLogRecordSeverity.EXCEPTION,
                            "The event mapper of Annals waits and tries again",
                            "No events are sent until it succeeds.",
                            "Look at the exception."),
                    error);
        }
    }

    private static void pause() {
        try {
            Thread.sleep(RETRY_MS);
        } catch (InterruptedException error) {
            Thread.currentThread().interrupt();
        }
    }

    /** The way to the cohorts, with the names of this server. */
    final class Outbound {
        private final OMRSRepositoryEventProcessor to = repositoryEventProcessor;
        private final String mapper = repositoryEventMapperName;
        private final String id = localMetadataCollectionId;
        private final String name = localServerName;
        private final String type = localServerType;
        private final String owner = localOrganizationName;

        void created(EntityDetail entity) {
            to.processNewEntityEvent(mapper, id, name, type, owner, entity);
        }

        void updated(EntityDetail before, EntityDetail entity) {
            to.processUpdatedEntityEvent(mapper, id, name, type, owner, before, entity);
        }

        void deleted(EntityDetail entity) {
            to.processDeletedEntityEvent(mapper, id, name, type, owner, entity);
        }

        void restored(EntityDetail entity) {
            to.processRestoredEntityEvent(mapper, id, name, type, owner, entity);
        }

        void identified(String formerGuid, EntityDetail entity) {
            to.processReIdentifiedEntityEvent(mapper, id, name, type, owner, formerGuid, entity);
        }

        void homed(String formerHome, EntityDetail entity) {
            to.processReHomedEntityEvent(mapper, id, name, type, owner, formerHome, entity);
        }

        void purgedEntity(InstanceType of, String guid) {
            to.processPurgedEntityEvent(mapper, id, name, type, owner, of.getTypeDefGUID(), of.getTypeDefName(), guid);
        }

        void classified(EntityDetail entity, Classification classification) {
            to.processClassifiedEntityEvent(mapper, id, name, type, owner, entity, classification);
        }

        void declassified(EntityDetail entity, Classification classification) {
            to.processDeclassifiedEntityEvent(mapper, id, name, type, owner, entity, classification);
        }

        void reclassified(EntityDetail entity, Classification before, Classification classification) {
            to.processReclassifiedEntityEvent(mapper, id, name, type, owner, entity, before, classification);
        }

        void created(Relationship relationship) {
            to.processNewRelationshipEvent(mapper, id, name, type, owner, relationship);
        }

        void updated(Relationship before, Relationship relationship) {
            to.processUpdatedRelationshipEvent(mapper, id, name, type, owner, before, relationship);
        }

        void deleted(Relationship relationship) {
            to.processDeletedRelationshipEvent(mapper, id, name, type, owner, relationship);
        }

        void restored(Relationship relationship) {
            to.processRestoredRelationshipEvent(mapper, id, name, type, owner, relationship);
        }

        void identified(String formerGuid, Relationship relationship) {
            to.processReIdentifiedRelationshipEvent(mapper, id, name, type, owner, formerGuid, relationship);
        }

        void homed(String formerHome, Relationship relationship) {
            to.processReHomedRelationshipEvent(mapper, id, name, type, owner, formerHome, relationship);
        }

        void purgedRelationship(InstanceType of, String guid) {
            to.processPurgedRelationshipEvent(
                    mapper, id, name, type, owner, of.getTypeDefGUID(), of.getTypeDefName(), guid);
        }
    }

    @Override
    public synchronized void disconnect() throws ConnectorCheckedException {
        isStopped = true;
        Stream<LogRecord> open = records;
        if (open != null) {
            open.close();
        }
        if (follower != null) {
            follower.interrupt();
        }
        super.disconnect();
    }
}
