package dev.annals.egeria;

import java.util.function.Consumer;
import org.odpi.openmetadata.frameworks.auditlog.AuditLog;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.EntityDetail;
import org.odpi.openmetadata.repositoryservices.eventmanagement.OMRSRepositoryEventExchangeRule;
import org.odpi.openmetadata.repositoryservices.eventmanagement.OMRSRepositoryEventManager;
import org.odpi.openmetadata.repositoryservices.localrepository.repositorycontentmanager.OMRSRepositoryContentValidator;

/** Tells each event about entities as a line, such as {@code new ID}, instead of sending it. */
final class MapperEvents extends OMRSRepositoryEventManager {
    private final Consumer<String> told;

    MapperEvents(
            OMRSRepositoryEventExchangeRule rule,
            OMRSRepositoryContentValidator validator,
            AuditLog log,
            Consumer<String> told) {
        super("test", rule, validator, log);
        this.told = told;
    }

    @Override
    public void processNewEntityEvent(
            String source, String id, String name, String type, String owner, EntityDetail entity) {
        told.accept("new " + entity.getGUID());
    }

    @Override
    public void processDeletedEntityEvent(
            String source, String id, String name, String type, String owner, EntityDetail entity) {
        told.accept("deleted " + entity.getGUID());
    }

    @Override
    public void processRestoredEntityEvent(
            String source, String id, String name, String type, String owner, EntityDetail entity) {
        told.accept("restored " + entity.getGUID());
    }

    @Override
    public void processPurgedEntityEvent(
            String source,
            String id,
            String name,
            String type,
            String owner,
            String typeGuid,
            String typeName,
            String guid) {
        told.accept("purged " + typeName + " " + guid);
    }
}
