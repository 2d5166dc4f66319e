package dev.annals.egeria;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import dev.annals.Instance;
import dev.annals.Provenance;
import dev.annals.Stamp;
import java.io.Serializable;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Date;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.Classification;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.ClassificationOrigin;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.InstanceAuditHeader;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.InstanceHeader;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.InstanceProperties;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.InstanceProvenanceType;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.InstanceStatus;

/**
 * Reads and writes the headers of instances and classifications: status, versions, stamps, provenance.
 *
 * <p>Annals has no place for the name of a home, some origins of classifications, and versions beyond 2^31 - 1. They are
 * mappings whose names begin with {@code egeria:}, and do not show among the mappings that Egeria reads.
 */
final class Headers {
    private static final String RESERVED = "egeria:";
    private static final String HOME_NAME = RESERVED + "homeName";
    private static final String ORIGIN = RESERVED + "origin";
    private static final String ORIGIN_GUID = RESERVED + "originGUID";
    private static final String PROPAGATED_FROM = "propagatedFrom";
    private static final String VERSION = RESERVED + "version";
    private static final long VERSION_MAX = Integer.MAX_VALUE;

    private final String ownId;

    Headers(String ownId) {
        this.ownId = ownId;
    }

    String ownId() {
        return ownId;
    }

    // Reading.

    void read(Instance instance, InstanceHeader header, String ownName) {
        header.setStatus(status(instance.status()));
        read(instance.provenance(), version(instance), instance.created(), instance.updated(), header, ownName);
        header.setGUID(instance.id());
        header.setReIdentifiedFromGUID(
                instance.provenance().reidentifiedFrom().orElse(null));
    }

    /** The version at home, or that of the content: Egeria counts no classifications. */
    private long version(Instance instance) {
        Provenance provenance = instance.provenance();
        boolean hasHome = provenance.home().isPresent();
        boolean isExternal = hasHome && isReplicatedHere(provenance);
        if (provenance.homeVersion().isPresent() && !isExternal) {
            return provenance.homeVersion().getAsInt();
        }
        return hasHome && !isExternal ? instance.version() : instance.contentVersion();
    }

    private boolean isReplicatedHere(Provenance provenance) {
        return provenance.replicatedBy().filter(ownId::equals).isPresent();
    }

    void read(dev.annals.Classification classification, Classification header, String ownName) {
        // The status of every live one.
        header.setStatus(InstanceStatus.ACTIVE);
        Provenance provenance = classification.provenance();
        read(
                provenance,
                classification.version(),
                classification.created(),
                classification.updated(),
                header,
                ownName);
        Optional<String> from = provenance.propagatedFrom();
        Map<String, String> mappings = provenance.mappings();
        boolean isPropagated = from.isPresent() || mappings.containsKey(ORIGIN);
        header.setClassificationOrigin(isPropagated ? ClassificationOrigin.PROPAGATED : ClassificationOrigin.ASSIGNED);
        header.setClassificationOriginGUID(from.orElse(mappings.get(ORIGIN_GUID)));
    }

    private void read(
            Provenance provenance,
            long version,
            Stamp created,
            Stamp updated,
            InstanceAuditHeader header,
            String ownName) {
        Optional<String> home = provenance.home();
        Map<String, String> mappings = provenance.mappings();
        header.setStatusOnDelete(
                provenance.statusOnDelete().map(Headers::status).orElse(null));
        header.setInstanceProvenanceType(provenance(provenance.kind()));
        header.setMetadataCollectionId(home.orElse(ownId));
        header.setMetadataCollectionName(home.isPresent() ? mappings.get(HOME_NAME) : ownName);
        header.setReplicatedBy(provenance.replicatedBy().orElse(null));
        header.setInstanceLicense(provenance.license().orElse(null));
        if (!provenance.maintainedBy().isEmpty()) {
            header.setMaintainedBy(new ArrayList<>(provenance.maintainedBy()));
        }
        header.setMappingProperties(shown(mappings));
        String large = mappings.get(VERSION);
        header.setVersion(large == null ? version : Long.parseLong(large));
        header.setCreatedBy(author(created));
        header.setCreateTime(date(created));
        // Annals counts the creation as an update, Egeria does not.
        if (header.getVersion() > 1 && (home.isEmpty() || !updated.equals(created))) {
            header.setUpdatedBy(author(updated));
            header.setUpdateTime(date(updated));
        }
    }

    /** Annals knows the entity from which a classification was propagated; every other origin is a mapping. */
    private static void writeOrigin(Classification classification, JsonObject form, JsonObject mappings) {
        String guid = classification.getClassificationOriginGUID();
        boolean isPropagated = classification.getClassificationOrigin() == ClassificationOrigin.PROPAGATED;
        if (isPropagated && guid != null) {
            form.addProperty(PROPAGATED_FROM, guid);
        } else {
            put(mappings, ORIGIN, isPropagated ? ClassificationOrigin.PROPAGATED.name() : null);
            put(mappings, ORIGIN_GUID, guid);
        }
    }

    /** The properties with the time for which the instance counts; null if there is nothing. */
    static InstanceProperties effective(Provenance provenance, InstanceProperties properties) {
        if (provenance.effectiveFrom().isEmpty() && provenance.effectiveTo().isEmpty()) {
            return properties;
        }
        InstanceProperties effective = properties == null ? new InstanceProperties() : properties;
        effective.setEffectiveFromTime(date(provenance.effectiveFrom()));
        effective.setEffectiveToTime(date(provenance.effectiveTo()));
        return effective;
    }

    private static Date date(Optional<Instant> time) {
        return time.map(one -> new Date(one.toEpochMilli())).orElse(null);
    }

    static InstanceStatus status(String name) {
        try {
            return InstanceStatus.valueOf(name.toUpperCase(Locale.ROOT));
        } catch (IllegalArgumentException error) {
            return InstanceStatus.UNKNOWN;
        }
    }

    private static InstanceProvenanceType provenance(String name) {
        return switch (name) {
            case "local" -> InstanceProvenanceType.LOCAL_COHORT;
            case "export-archive" -> InstanceProvenanceType.EXPORT_ARCHIVE;
            case "content-pack" -> InstanceProvenanceType.CONTENT_PACK;
            case "deregistered" -> InstanceProvenanceType.DEREGISTERED_REPOSITORY;
            case "configuration" -> InstanceProvenanceType.CONFIGURATION;
            case "external-source" -> InstanceProvenanceType.EXTERNAL_SOURCE;
            default -> InstanceProvenanceType.UNKNOWN;
        };
    }

    /** Null if there are none. */
    private static Map<String, Serializable> shown(Map<String, String> mappings) {
        Map<String, Serializable> found = null;
        for (Map.Entry<String, String> one : mappings.entrySet()) {
            if (!one.getKey().startsWith(RESERVED)) {
                found = found == null ? new HashMap<>() : found;
                found.put(one.getKey(), one.getValue());
            }
        }
        return found;
    }

    private static String author(Stamp stamp) {
        return stamp.author().isEmpty() ? null : stamp.author();
    }

    private static Date date(Stamp stamp) {
        return new Date(stamp.instant().toEpochMilli());
    }

    /** Null if it is not there. */
    static String text(JsonObject json, String name) {
        JsonElement member = json.get(name);
        return member == null || member.isJsonNull() ? null : member.getAsString();
    }

    // Writing.

    static String provenance(InstanceProvenanceType type) {
        return switch (type == null ? InstanceProvenanceType.LOCAL_COHORT : type) {
            case LOCAL_COHORT -> "local";
            case EXPORT_ARCHIVE -> "export-archive";
            case CONTENT_PACK -> "content-pack";
            case DEREGISTERED_REPOSITORY -> "deregistered";
            case CONFIGURATION -> "configuration";
            case EXTERNAL_SOURCE -> "external-source";
            default -> "unknown";
        };
    }

    /** Adds the provenance of an instance, with the time for which its properties count. */
    void write(InstanceAuditHeader header, InstanceProperties properties, JsonObject form) {
        JsonObject mappings = new JsonObject();
        String home = header.getMetadataCollectionId();
        if (home != null && !home.equals(ownId)) {
            form.addProperty("home", home);
            put(mappings, HOME_NAME, header.getMetadataCollectionName());
        }
        form.addProperty("provenance", provenance(header.getInstanceProvenanceType()));
        put(form, "replicatedBy", header.getReplicatedBy());
        put(form, "license", header.getInstanceLicense());
        if (header.getMaintainedBy() != null && !header.getMaintainedBy().isEmpty()) {
            JsonArray names = new JsonArray();
            header.getMaintainedBy().stream().distinct().forEach(names::add);
            form.add("maintainedBy", names);
        }
        if (header.getMappingProperties() != null) {
            header.getMappingProperties().forEach((name, value) -> put(mappings, name, text(value)));
        }
        if (header instanceof Classification classification) {
            writeOrigin(classification, form, mappings);
        }
        if (header.getVersion() > VERSION_MAX) {
            put(mappings, VERSION, Long.toString(header.getVersion()));
        }
        if (mappings.size() > 0) {
            form.add("mappings", mappings);
        }
        writeEffective(properties, form);
    }

    private static String text(Serializable value) {
        return value == null ? null : value.toString();
    }

    static void writeEffective(InstanceProperties properties, JsonObject form) {
        if (properties != null) {
            put(form, "effectiveFrom", instant(properties.getEffectiveFromTime()));
            put(form, "effectiveTo", instant(properties.getEffectiveToTime()));
        }
    }

    /** Adds version and stamps, which only copies have. */
    void writeOrigin(InstanceAuditHeader header, JsonObject form) {
        form.addProperty("version", Math.min(VERSION_MAX, Math.max(1, header.getVersion())));
        Date created = header.getCreateTime() == null ? new Date(0) : header.getCreateTime();
        form.add("created", stamp(created, header.getCreatedBy()));
        boolean isUpdated = header.getUpdateTime() != null;
        form.add(
                "updated",
                isUpdated
                        ? stamp(header.getUpdateTime(), header.getUpdatedBy())
                        : stamp(created, header.getCreatedBy()));
    }

    private static JsonObject stamp(Date time, String author) {
        JsonObject stamp = new JsonObject();
        stamp.addProperty("instant", instant(time));
        stamp.addProperty("author", author == null ? "" : author);
        return stamp;
    }

    private static String instant(Date time) {
        return time == null ? null : Instant.ofEpochMilli(time.getTime()).toString();
    }

    private static void put(JsonObject form, String name, String text) {
        if (text != null) {
            form.addProperty(name, text);
        }
    }
}
