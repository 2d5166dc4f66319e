package dev.annals.egeria;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import java.util.List;
import java.util.Locale;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.InstanceStatus;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.typedefs.AttributeTypeDef;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.typedefs.ClassificationDef;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.typedefs.CollectionDef;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.typedefs.CollectionDefCategory;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.typedefs.EnumDef;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.typedefs.EnumElementDef;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.typedefs.PrimitiveDef;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.typedefs.PrimitiveDefCategory;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.typedefs.RelationshipDef;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.typedefs.RelationshipEndCardinality;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.typedefs.RelationshipEndDef;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.typedefs.TypeDef;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.typedefs.TypeDefAttribute;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.typedefs.TypeDefAttributeStatus;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.typedefs.TypeDefLink;

/**
 * Writes the types of Egeria as declarations of Annals (docs/json.md, Types).
 *
 * <p>All are advisory: Egeria's servers do not enforce uniqueness and cardinalities.
 */
final class TypeForms {
    private TypeForms() {}

    static String kind(TypeDef type) {
        return switch (type.getCategory()) {
            case ENTITY_DEF -> "entity";
            case RELATIONSHIP_DEF -> "relationship";
            default -> "classification";
        };
    }

    static JsonObject type(TypeDef type) {
        JsonObject form = head(kind(type), type.getName(), type.getGUID(), type.getDescription());
        form.addProperty("advisory", true);
        if (type.getSuperType() != null) {
            form.add("supertypes", list(type.getSuperType().getName()));
        }
        attributes(form, type.getPropertiesDefinition());
        statuses(form, type);
        if (type instanceof RelationshipDef relationship) {
            form.add("from", end(relationship.getEndDef1()));
            form.add("to", end(relationship.getEndDef2()));
        }
        if (type instanceof ClassificationDef classification) {
            JsonArray names = new JsonArray();
            if (classification.getValidEntityDefs() != null) {
                classification.getValidEntityDefs().stream()
                        .map(TypeDefLink::getName)
                        .distinct()
                        .forEach(names::add);
            }
            form.add("appliesTo", names);
            form.addProperty("propagatable", classification.isPropagatable());
        }
        return form;
    }

    static JsonObject enumeration(EnumDef type) {
        JsonObject form = head("enum", type.getName(), type.getGUID(), type.getDescription());
        JsonArray elements = new JsonArray();
        if (type.getElementDefs() != null) {
            for (EnumElementDef element : type.getElementDefs()) {
                JsonObject one = new JsonObject();
                one.addProperty("ordinal", element.getOrdinal());
                one.addProperty("name", element.getValue());
                if (element.getDescription() != null) {
                    one.addProperty("description", element.getDescription());
                }
                elements.add(one);
            }
        }
        form.add("elements", elements);
        return form;
    }

    private static JsonObject head(String kind, String name, String guid, String description) {
        JsonObject form = new JsonObject();
        form.addProperty("kind", kind);
        form.addProperty("name", name);
        form.addProperty("externalId", guid);
        if (description != null) {
            form.addProperty("description", description);
        }
        return form;
    }

    /** Every instance can be deleted, so no type lists this status. */
    private static void statuses(JsonObject form, TypeDef type) {
        List<InstanceStatus> statuses = type.getValidInstanceStatusList();
        JsonArray names = new JsonArray();
        if (statuses != null) {
            statuses.stream()
                    .filter(status -> status != InstanceStatus.DELETED)
                    .map(TypeForms::status)
                    .distinct()
                    .forEach(names::add);
        }
        if (names.isEmpty()) {
            return;
        }
        form.add("statuses", names);
        if (type.getInitialStatus() != null) {
            form.addProperty("initialStatus", status(type.getInitialStatus()));
        }
    }

    static String status(InstanceStatus status) {
        return status.name().toLowerCase(Locale.ROOT);
    }

    private static JsonObject end(RelationshipEndDef end) {
        JsonObject form = new JsonObject();
        form.addProperty("type", end.getEntityType().getName());
        form.addProperty("many", end.getAttributeCardinality() != RelationshipEndCardinality.AT_MOST_ONE);
        if (end.getAttributeName() != null) {
            form.addProperty("name", end.getAttributeName());
        }
        return form;
    }

    private static void attributes(JsonObject form, List<TypeDefAttribute> attributes) {
        if (attributes == null || attributes.isEmpty()) {
            return;
        }
        JsonArray all = new JsonArray();
        attributes.forEach(attribute -> all.add(attribute(attribute)));
        form.add("attributes", all);
    }

    private static JsonObject attribute(TypeDefAttribute attribute) {
        JsonObject form = new JsonObject();
        form.addProperty("name", attribute.getAttributeName());
        if (attribute.isUnique()) {
            form.addProperty("unique", true);
        }
        if (attribute.getAttributeStatus() == TypeDefAttributeStatus.DEPRECATED_ATTRIBUTE) {
            form.addProperty("deprecated", true);
        }
        valueType(form, attribute.getAttributeType());
        return form;
    }

    private static void valueType(JsonObject form, AttributeTypeDef type) {
        if (type instanceof EnumDef) {
            form.addProperty("type", "string");
            form.addProperty("enum", type.getName());
        } else if (type instanceof CollectionDef collection) {
            boolean isList = collection.getCollectionDefCategory() == CollectionDefCategory.OM_COLLECTION_ARRAY;
            form.addProperty("type", isList ? "list" : "map");
        } else if (type instanceof PrimitiveDef primitive) {
            form.addProperty("type", primitive(primitive.getPrimitiveDefCategory()));
        }
    }

    private static String primitive(PrimitiveDefCategory category) {
        return switch (category) {
            case OM_PRIMITIVE_TYPE_BOOLEAN -> "boolean";
            case OM_PRIMITIVE_TYPE_BYTE,
                    OM_PRIMITIVE_TYPE_SHORT,
                    OM_PRIMITIVE_TYPE_INT,
                    OM_PRIMITIVE_TYPE_LONG -> "integer";
            case OM_PRIMITIVE_TYPE_FLOAT, OM_PRIMITIVE_TYPE_DOUBLE -> "float";
            case OM_PRIMITIVE_TYPE_BIGINTEGER, OM_PRIMITIVE_TYPE_BIGDECIMAL -> "decimal";
            case OM_PRIMITIVE_TYPE_DATE -> "timestamp";
            case OM_PRIMITIVE_TYPE_UNKNOWN -> "any";
            default -> "string";
        };
    }

    private static JsonArray list(String text) {
        JsonArray list = new JsonArray();
        list.add(text);
        return list;
    }
}
