package dev.annals.egeria;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import java.math.BigDecimal;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.Map;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.ArrayPropertyValue;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.EnumPropertyValue;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.InstanceProperties;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.InstancePropertyValue;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.MapPropertyValue;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.PrimitivePropertyValue;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.StructPropertyValue;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.typedefs.AttributeTypeDef;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.typedefs.CollectionDef;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.typedefs.CollectionDefCategory;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.typedefs.EnumDef;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.typedefs.EnumElementDef;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.typedefs.PrimitiveDef;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.typedefs.PrimitiveDefCategory;

/**
 * Reads the values of Egeria from their JSON form.
 *
 * <p>The form does not say whether a number is an int or a long: the declaration of the attribute does. An attribute
 * that no type declares has the category that fits the form.
 */
final class PropertyValues {
    private PropertyValues() {}

    /** Null if there are none. */
    static InstanceProperties properties(JsonObject members, Map<String, AttributeTypeDef> attributes) {
        if (members == null || members.size() == 0) {
            return null;
        }
        InstanceProperties properties = new InstanceProperties();
        members.entrySet()
                .forEach(member -> properties.setProperty(
                        member.getKey(), value(member.getValue(), attributes.get(member.getKey()))));
        return properties;
    }

    private static InstancePropertyValue value(JsonElement json, AttributeTypeDef type) {
        if (type instanceof PrimitiveDef primitive) {
            return primitive(json, primitive.getPrimitiveDefCategory());
        }
        if (type instanceof EnumDef definition && json.isJsonPrimitive()) {
            return element(json.getAsString(), definition);
        }
        if (type instanceof CollectionDef collection) {
            return collection(json, collection);
        }
        return undeclared(json);
    }

    private static InstancePropertyValue undeclared(JsonElement json) {
        if (json instanceof JsonArray array) {
            return list(array, null, null);
        }
        if (json instanceof JsonObject object) {
            if (object.has("$timestamp")) {
                return primitive(json, PrimitiveDefCategory.OM_PRIMITIVE_TYPE_DATE);
            }
            if (object.has("$decimal")) {
                return primitive(json, PrimitiveDefCategory.OM_PRIMITIVE_TYPE_BIGDECIMAL);
            }
            if (object.has("$float")) {
                return primitive(json, PrimitiveDefCategory.OM_PRIMITIVE_TYPE_DOUBLE);
            }
            return map(object, null, null);
        }
        JsonPrimitive primitive = json.getAsJsonPrimitive();
        if (primitive.isBoolean()) {
            return primitive(json, PrimitiveDefCategory.OM_PRIMITIVE_TYPE_BOOLEAN);
        }
        if (primitive.isString()) {
            return primitive(json, PrimitiveDefCategory.OM_PRIMITIVE_TYPE_STRING);
        }
        boolean isWhole = primitive.getAsString().chars().allMatch(unit -> unit == '-' || Character.isDigit(unit));
        return primitive(
                json,
                isWhole ? PrimitiveDefCategory.OM_PRIMITIVE_TYPE_LONG : PrimitiveDefCategory.OM_PRIMITIVE_TYPE_DOUBLE);
    }

    private static PrimitivePropertyValue primitive(JsonElement json, PrimitiveDefCategory category) {
        PrimitivePropertyValue value = new PrimitivePropertyValue();
        value.setPrimitiveDefCategory(category);
        value.setPrimitiveValue(content(text(json), category));
        value.setTypeName(category.getName());
        value.setTypeGUID(category.getGUID());
        return value;
    }

    /** The content of a form such as {@code {"$decimal": "1"}}, or of a plain value. */
    private static String text(JsonElement json) {
        if (json instanceof JsonObject object && object.size() > 0) {
            JsonElement first = object.entrySet().iterator().next().getValue();
            return first.isJsonPrimitive() ? first.getAsString() : first.toString();
        }
        return json.isJsonPrimitive() ? json.getAsString() : json.toString();
    }

    private static Object content(String text, PrimitiveDefCategory category) {
        return switch (category) {
            case OM_PRIMITIVE_TYPE_BOOLEAN -> Boolean.valueOf(text);
            case OM_PRIMITIVE_TYPE_BYTE -> Byte.valueOf(text);
            case OM_PRIMITIVE_TYPE_CHAR -> text.isEmpty() ? null : text.charAt(0);
            case OM_PRIMITIVE_TYPE_SHORT -> Short.valueOf(text);
            case OM_PRIMITIVE_TYPE_INT -> Integer.valueOf(text);
            case OM_PRIMITIVE_TYPE_LONG -> Long.valueOf(text);
            case OM_PRIMITIVE_TYPE_FLOAT -> (float) floating(text);
            case OM_PRIMITIVE_TYPE_DOUBLE -> floating(text);
            case OM_PRIMITIVE_TYPE_BIGINTEGER -> new BigDecimal(text).toBigInteger();
            case OM_PRIMITIVE_TYPE_BIGDECIMAL -> new BigDecimal(text);
            case OM_PRIMITIVE_TYPE_DATE -> instant(text).toEpochMilli();
            default -> text;
        };
    }

    private static double floating(String text) {
        return switch (text) {
            case "inf" -> Double.POSITIVE_INFINITY;
            case "-inf" -> Double.NEGATIVE_INFINITY;
            default -> Double.parseDouble(text);
        };
    }

    static Instant instant(String text) {
        return OffsetDateTime.parse(text).toInstant();
    }

    private static EnumPropertyValue element(String name, EnumDef definition) {
        EnumPropertyValue value = new EnumPropertyValue();
        value.setSymbolicName(name);
        value.setTypeName(definition.getName());
        value.setTypeGUID(definition.getGUID());
        List<EnumElementDef> elements = definition.getElementDefs();
        if (elements != null) {
            for (EnumElementDef element : elements) {
                if (name.equals(element.getValue())) {
                    value.setOrdinal(element.getOrdinal());
                    value.setDescription(element.getDescription());
                }
            }
        }
        return value;
    }

    private static InstancePropertyValue collection(JsonElement json, CollectionDef type) {
        List<PrimitiveDefCategory> arguments = type.getArgumentTypes();
        PrimitiveDefCategory last =
                arguments == null || arguments.isEmpty() ? null : arguments.get(arguments.size() - 1);
        if (json instanceof JsonArray array) {
            return list(array, type, last);
        }
        if (!(json instanceof JsonObject object)) {
            return undeclared(json);
        }
        if (type.getCollectionDefCategory() == CollectionDefCategory.OM_COLLECTION_STRUCT) {
            StructPropertyValue struct = new StructPropertyValue();
            struct.setAttributes(members(object, null));
            struct.setTypeName(type.getName());
            struct.setTypeGUID(type.getGUID());
            return struct;
        }
        return map(object, type, last);
    }

    private static ArrayPropertyValue list(JsonArray items, CollectionDef type, PrimitiveDefCategory category) {
        ArrayPropertyValue array = new ArrayPropertyValue();
        array.setArrayCount(items.size());
        for (int index = 0; index < items.size(); index++) {
            array.setArrayValue(index, item(items.get(index), category));
        }
        if (type != null) {
            array.setTypeName(type.getName());
            array.setTypeGUID(type.getGUID());
        }
        return array;
    }

    private static MapPropertyValue map(JsonObject object, CollectionDef type, PrimitiveDefCategory category) {
        MapPropertyValue map = new MapPropertyValue();
        map.setMapValues(members(object, category));
        if (type != null) {
            map.setTypeName(type.getName());
            map.setTypeGUID(type.getGUID());
        }
        return map;
    }

    private static InstanceProperties members(JsonObject object, PrimitiveDefCategory category) {
        JsonObject members = object.get("$map") instanceof JsonObject inner ? inner : object;
        InstanceProperties values = new InstanceProperties();
        members.entrySet().forEach(member -> values.setProperty(member.getKey(), item(member.getValue(), category)));
        return values;
    }

    private static InstancePropertyValue item(JsonElement json, PrimitiveDefCategory category) {
        boolean isPlain = category == null || category == PrimitiveDefCategory.OM_PRIMITIVE_TYPE_UNKNOWN;
        return isPlain ? undeclared(json) : primitive(json, category);
    }
}
