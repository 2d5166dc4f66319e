package dev.annals.egeria;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.Function;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.ArrayPropertyValue;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.Classification;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.EntityDetail;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.EntityProxy;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.EntitySummary;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.EnumPropertyValue;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.InstanceAuditHeader;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.InstanceGraph;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.InstanceHeader;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.InstanceProperties;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.InstancePropertyValue;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.MapPropertyValue;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.PrimitivePropertyValue;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.Relationship;

/**
 * Results of calls as texts that two repositories can agree on: identifiers are numbers of the test, times are left out,
 * lists without an order are sorted.
 *
 * <p>ALLOWED lists where the two may differ, and why. Everything else must be equal.
 */
final class Plain {
    /** The differences that the comparison leaves out. */
    static final List<String> ALLOWED = List.of(
            "who updated an entity, and when: in Annals a change of a classification is an update (gap G2)",
            "versions of copies that are classified and re-homed: the test does not do both (gap G2)",
            "versions of classifications beyond 1: the in-memory repository counts an update twice",
            "maintainedBy: Annals keeps what the writer states, Egeria's helper adds each updater (gap G6)",
            "ends of relationships beyond identifier and type: the in-memory repository keeps them as they once were",
            "old identifiers: the in-memory repository keeps a deleted entity under the old one, and the old one in"
                    + " deleted relationships and in loops",
            "relationships of deleted and purged entities: the in-memory repository keeps some and drops copies",
            "entities of a neighbourhood: the in-memory repository follows relationships of deleted entities; the test"
                    + " compares the relationships, and looks whether Annals gives all their ends",
            "undo without an update, and after a classification: the in-memory repository fails, or undoes the"
                    + " classification",
            "where an entity has no classifications, the in-memory repository fails with a NullPointerException");

    private final Function<String, String> names;
    private final Function<String, String> former;

    /** Names: the number of an identifier; identifiers without one are left out. Former: those of the past. */
    Plain(Function<String, String> names, Function<String, String> former) {
        this.names = names;
        this.former = former;
    }

    String of(Object result) {
        if (result == null) {
            return "nothing";
        }
        if (result instanceof EntityDetail entity) {
            return entity(entity) + properties(entity.getProperties());
        }
        if (result instanceof EntitySummary entity) {
            return entity(entity);
        }
        if (result instanceof Relationship relationship) {
            return header(relationship) + " version " + relationship.getVersion() + " by "
                    + relationship.getUpdatedBy() + " from " + end(relationship.getEntityOneProxy()) + " to "
                    + end(relationship.getEntityTwoProxy()) + properties(relationship.getProperties());
        }
        if (result instanceof Classification classification) {
            return classification(classification);
        }
        if (result instanceof InstanceGraph graph) {
            return of(graph.getRelationships());
        }
        if (result instanceof Collection<?> all) {
            List<String> texts = all.stream()
                    .filter(Objects::nonNull)
                    .filter(one -> !(one instanceof InstanceHeader header) || names.apply(header.getGUID()) != null)
                    .map(this::of)
                    .sorted()
                    .toList();
            return texts.isEmpty() ? "nothing" : String.join("\n  ", texts);
        }
        return result.toString();
    }

    private String entity(EntitySummary entity) {
        String classifications = entity.getClassifications() == null
                ? ""
                : entity.getClassifications().stream()
                        .map(this::classification)
                        .sorted()
                        .toList()
                        .toString();
        return header(entity) + " version " + entity.getVersion()
                + (classifications.equals("[]") ? "" : classifications);
    }

    private String header(InstanceHeader instance) {
        return names.apply(instance.getGUID()) + " " + audit(instance);
    }

    private String audit(InstanceAuditHeader instance) {
        String type = instance.getType() == null ? "?" : instance.getType().getTypeDefName();
        return type + " " + name(instance.getStatus()) + " " + name(instance.getStatusOnDelete()) + " "
                + name(instance.getInstanceProvenanceType()) + " " + instance.getMetadataCollectionId() + " "
                + instance.getReplicatedBy() + " " + instance.getInstanceLicense() + " " + instance.getCreatedBy();
    }

    private static String name(Enum<?> constant) {
        return constant == null ? "-" : constant.name();
    }

    private String classification(Classification one) {
        // A classification of the repository itself may have no home in memory.
        String home = one.getMetadataCollectionId() == null ? LocalServer.ID : one.getMetadataCollectionId();
        return one.getName() + " " + name(one.getStatus()) + " " + home + " " + (one.getVersion() > 1) + " "
                + one.getCreatedBy() + " " + one.getUpdatedBy() + " " + name(one.getClassificationOrigin()) + " "
                + one.getClassificationOriginGUID() + properties(one.getProperties());
    }

    private String end(EntityProxy end) {
        String name = names.apply(end.getGUID());
        return (name == null ? former.apply(end.getGUID()) : name) + " "
                + end.getType().getTypeDefName();
    }

    private static String properties(InstanceProperties properties) {
        Map<String, String> values = new TreeMap<>();
        if (properties != null && properties.getInstanceProperties() != null) {
            properties.getInstanceProperties().forEach((name, value) -> values.put(name, value(value)));
        }
        return " " + values;
    }

    private static String value(InstancePropertyValue value) {
        if (value instanceof PrimitivePropertyValue primitive) {
            return primitive.getPrimitiveDefCategory().getName() + ":" + primitive.getPrimitiveValue();
        }
        if (value instanceof EnumPropertyValue element) {
            return element.getTypeName() + ":" + element.getOrdinal() + ":" + element.getSymbolicName();
        }
        if (value instanceof MapPropertyValue map) {
            return "map" + properties(map.getMapValues());
        }
        if (value instanceof ArrayPropertyValue array) {
            return "array " + array.getArrayCount() + properties(array.getArrayValues());
        }
        return String.valueOf(value);
    }
}
