package dev.annals.egeria;

import dev.annals.AnnalsException;
import dev.annals.LogRecord;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.BitSet;
import java.util.Iterator;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
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

/**
 * Follows the repository of the server and sends events to its cohorts: for its own writes, and for those of any other
 * client of Annals, in the order of the log.
 *
 * <p>With an event mapper Egeria's server sends no events itself. Configuration property {@code state}: a file that
 * holds the position of the last record whose events were sent, so that a restart goes on behind it; without the file,
 * or the property, it begins at the present. After a crash the events of one record may come twice. Each failure is a
 * line in the audit log under {@code ANNALS-EVENT-MAPPER}; a record whose events fail five times is left out.
 */
public class AnnalsEventMapper extends OMRSRepositoryEventMapperBase {
    static final String STATE = "state";
    private static final int RETRY_MS = 1_000;
    /** Attempts to send the events of one record. */
    private static final int ATTEMPTS_MAX = 5;
    /** Kinds of errors that have nothing to do with a record. */
    private static final Set<String> PASSING =
            Set.of("unavailable", "outcome-unknown", "not-writer", "closed", "io", "time-out", "cancelled", "locked");

    private volatile boolean isStopped;
    /** The position of the last record whose events were sent. Only the following thread uses it. */
    private OptionalLong last = OptionalLong.empty();
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
            Settings settings = Settings.of(connectionProperties, List.of(STATE));
            MapperState state = new MapperState(settings.text(STATE).map(Path::of));
            OptionalLong begin = begin(connector, state);
            isStopped = false;
            follower = new Thread(() -> follow(connector, begin, state), "annals event mapper");
            follower.setDaemon(true);
            follower.start();
        } catch (IOException | IllegalArgumentException error) {
            throw new ConnectorCheckedException(
                    Failures.definition(error, "start"), getClass().getName(), "start", error);
        }
    }

    /** Where to begin: behind the position in the file, or at the present. Empty if the repository does not open yet. */
    private OptionalLong begin(AnnalsRepositoryConnector connector, MapperState state) throws IOException {
        if (!state.isStored()) {
            return present(connector);
        }
        OptionalLong stored = state.position();
        if (stored.isEmpty()) {
            report(
                    "The state file of the event mapper holds no position",
                    "Events begin at the present. Those of writes since the last stop are not sent.",
                    "To send them, stop the server, write the position of the last record whose events were sent into"
                            + " the file as a number, and start the server; annals log shows positions.",
                    new IOException("the state file holds no position"));
            return present(connector);
        }
        return stored;
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
    private void follow(AnnalsRepositoryConnector connector, OptionalLong begin, MapperState state) {
        last = begin;
        int failed = 0;
        while (!isStopped) {
            try {
                if (last.isEmpty()) {
                    pause();
                    last = isStopped ? last : present(connector);
                    continue;
                }
                long end = connector.store().position();
                if (last.getAsLong() <= end) {
                    failed = 0;
                    send(connector, state);
                } else if (++failed < ATTEMPTS_MAX) {
                    pause();
                } else {
                    report(
                            "The repository ends at position " + end + ", before the position " + last.getAsLong()
                                    + " of the event mapper",
                            "Events go on at the end of the repository, which was probably restored from a backup.",
                            "Members of the cohort may keep what the restored repository does not have: let them ask for"
                                    + " instances again.",
                            new IllegalStateException("the repository ends before the position of the event mapper"));
                    last = OptionalLong.of(end);
                }
            } catch (Throwable error) {
                // Whatever it is: without this thread no event is sent.
                if (!isStopped) {
                    report(error);
                    pause();
                }
            }
        }
    }

    /** Sends the events of the records behind the last one until the stream of records ends. */
    private void send(AnnalsRepositoryConnector connector, MapperState state) throws IOException {
        state.sent(last.getAsLong());
        try (Stream<LogRecord> found = connector.store().follow(last.getAsLong())) {
            records = found;
            Events events = new Events(connector, new Outbound(), state);
            for (Iterator<LogRecord> each = found.iterator(); !isStopped && each.hasNext(); ) {
                LogRecord record = each.next();
                send(events, record);
                if (!isStopped) {
                    state.sent(record.position());
                    last = OptionalLong.of(record.position());
                }
            }
        }
    }

    /** Tries a record some times, and then goes on behind it. */
    private void send(Events events, LogRecord record) {
        BitSet done = new BitSet();
        for (int attempt = 1; !isStopped; attempt++) {
            List<Throwable> failures = events.send(record, done);
            if (failures.isEmpty()) {
                return;
            }
            if (attempt == ATTEMPTS_MAX) {
                failures.forEach(error -> report(
                        "An event of the record at position " + record.position() + " cannot be sent: " + error,
                        "The members of the cohort do not learn of this change. Later events are sent.",
                        "Look at the exception, and at the record in annals log.",
                        error));
                return;
            }
            report(failures.get(0));
            pause();
        }
    }

    /** True for a failure of the repository, of the way to it, or of the state file: no record is at fault. */
    static boolean isOfRepository(Throwable error) {
        return error instanceof UncheckedIOException
                || error instanceof AnnalsException known && (known.isRetryable() || PASSING.contains(known.kind()));
    }

    private void report(Throwable error) {
        report(
                "The event mapper of Annals waits and tries again: " + error,
                "No events are sent until it succeeds, or until this record has failed too often.",
                "Look at the exception.",
                error);
    }

    private void report(String message, String action, String remedy, Throwable error) {
        if (auditLog == null) {
            return;
        }
        try {
            auditLog.logException(
                    "follow",
                    new AuditLogMessageDefinition(
                            "ANNALS-EVENT-MAPPER",
                            OMRSAuditLogRecordSeverity.EXCEPTION,
                            Failures.quoted(message),
                            action,
                            remedy),
                    error);
        } catch (RuntimeException unheard) {
            // A log that fails must not end the events.
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
