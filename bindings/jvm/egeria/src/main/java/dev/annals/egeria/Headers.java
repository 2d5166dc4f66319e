package dev.annals.egeria;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.io.Serializable;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Date;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.Classification;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.ClassificationOrigin;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.InstanceAuditHeader;
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

    void read(JsonObject json, InstanceAuditHeader header, String ownName) {
        String home = text(json, "home");
        JsonObject mappings = json.getAsJsonObject("mappings");
        header.setStatus(status(text(json, "status")));
        header.setStatusOnDelete(json.has("statusOnDelete") ? status(text(json, "statusOnDelete")) : null);
        header.setInstanceProvenanceType(provenance(text(json, "provenance")));
        header.setMetadataCollectionId(home == null ? ownId : home);
        header.setMetadataCollectionName(home == null ? ownName : text(mappings, HOME_NAME));
        header.setReplicatedBy(text(json, "replicatedBy"));
        header.setInstanceLicense(text(json, "license"));
        header.setMaintainedBy(texts(json.getAsJsonArray("maintainedBy")));
        header.setMappingProperties(mappings(mappings));
        String large = text(mappings, VERSION);
        header.setVersion(large == null ? version(json) : Long.parseLong(large));
        JsonObject created = json.getAsJsonObject("created");
        header.setCreatedBy(author(created));
        header.setCreateTime(date(created));
        // Annals counts the creation as an update, Egeria does not.
        boolean isUpdated = header.getVersion() > 1
                && (!json.has("home") || !json.get("updated").equals(created));
        header.setUpdatedBy(isUpdated ? author(json.getAsJsonObject("updated")) : null);
        header.setUpdateTime(isUpdated ? date(json.getAsJsonObject("updated")) : null);
    }

    /** The version at home, or that of the content: Egeria counts no classifications. */
    private long version(JsonObject json) {
        boolean isForeign = json.has("home") && !ownId.equals(text(json, "replicatedBy"));
        boolean isExternal = json.has("home") && !isForeign;
        String name = "version";
        if (json.has("homeVersion") && !isExternal) {
            name = "homeVersion";
        } else if (json.has("contentVersion") && !isForeign) {
            name = "contentVersion";
        }
        return json.get(name).getAsLong();
    }

    void readOrigin(JsonObject json, Classification classification) {
        String from = text(json, PROPAGATED_FROM);
        JsonObject mappings = json.getAsJsonObject("mappings");
        boolean isPropagated = from != null || text(mappings, ORIGIN) != null;
        classification.setClassificationOrigin(
                isPropagated ? ClassificationOrigin.PROPAGATED : ClassificationOrigin.ASSIGNED);
        classification.setClassificationOriginGUID(from == null ? text(mappings, ORIGIN_GUID) : from);
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
    static InstanceProperties effective(JsonObject json, InstanceProperties properties) {
        if (!json.has("effectiveFrom") && !json.has("effectiveTo")) {
            return properties;
        }
        InstanceProperties effective = properties == null ? new InstanceProperties() : properties;
        effective.setEffectiveFromTime(time(json, "effectiveFrom"));
        effective.setEffectiveToTime(time(json, "effectiveTo"));
        return effective;
    }

    private static Date time(JsonObject json, String name) {
        return json.has(name)
                ? new Date(PropertyValues.instant(text(json, name)).toEpochMilli())
                : null;
    }

    static InstanceStatus status(String name) {
        try {
            return InstanceStatus.valueOf(name.toUpperCase(Locale.ROOT));
        } catch (IllegalArgumentException error) {
            return InstanceStatus.UNKNOWN;
        }
    }

    private static InstanceProvenanceType provenance(String name) {
        return switch (name == null ? "local" : name) {
            case "local" -> InstanceProvenanceType.LOCAL_COHORT;
            case "export-archive" -> InstanceProvenanceType.EXPORT_ARCHIVE;
            case "content-pack" -> InstanceProvenanceType.CONTENT_PACK;
            case "deregistered" -> InstanceProvenanceType.DEREGISTERED_REPOSITORY;
            case "configuration" -> InstanceProvenanceType.CONFIGURATION;
            case "external-source" -> InstanceProvenanceType.EXTERNAL_SOURCE;
            default -> InstanceProvenanceType.UNKNOWN;
        };
    }

    private static List<String> texts(JsonArray array) {
        if (array == null || array.isEmpty()) {
            return null;
        }
        List<String> texts = new ArrayList<>();
        array.forEach(one -> texts.add(one.getAsString()));
        return texts;
    }

    private static Map<String, Serializable> mappings(JsonObject json) {
        Map<String, Serializable> found = new HashMap<>();
        if (json != null) {
            json.entrySet().stream()
                    .filter(one -> !one.getKey().startsWith(RESERVED))
                    .forEach(one -> found.put(one.getKey(), one.getValue().getAsString()));
        }
        return found.isEmpty() ? null : found;
    }

    private static String author(JsonObject stamp) {
        String author = text(stamp, "author");
        return author == null || author.isEmpty() ? null : author;
    }

    private static Date date(JsonObject stamp) {
        return new Date(PropertyValues.instant(text(stamp, "instant")).toEpochMilli());
    }

    /** Null if it is not there. */
    static String text(JsonObject json, String name) {
        JsonElement member = json == null ? null : json.get(name);
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
