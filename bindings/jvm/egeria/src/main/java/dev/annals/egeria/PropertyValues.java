package dev.annals.egeria;

import java.math.BigDecimal;
import java.time.Instant;
import java.util.Base64;
import java.util.Collection;
import java.util.HashMap;
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
 * Makes Egeria's values of those of Annals.
 *
 * <p>Annals does not say whether a number is an int or a long: the declaration of the attribute does. A value that no
 * type declares, or that another client wrote with another class, has the category that fits it.
 */
final class PropertyValues {
    private PropertyValues() {}

    /** Null if there are none. */
    static InstanceProperties properties(Map<String, Object> members, Map<String, AttributeTypeDef> attributes) {
        if (members.isEmpty()) {
            return null;
        }
        InstanceProperties properties = new InstanceProperties();
        Map<String, InstancePropertyValue> values = new HashMap<>();
        members.forEach((name, value) -> values.put(name, value(value, attributes.get(name))));
        properties.setInstanceProperties(values);
        return properties;
    }

    private static InstancePropertyValue value(Object value, AttributeTypeDef type) {
        if (type instanceof PrimitiveDef primitive) {
            return item(value, primitive.getPrimitiveDefCategory());
        }
        if (type instanceof EnumDef definition && value instanceof String name) {
            return element(name, definition);
        }
        if (type instanceof CollectionDef collection) {
            return collection(value, collection);
        }
        return undeclared(value);
    }

    private static InstancePropertyValue undeclared(Object value) {
        if (value instanceof Collection<?> items) {
            return list(items, null, null);
        }
        if (value instanceof Map<?, ?> members) {
            return map(members, null, null);
        }
        if (value instanceof Boolean) {
            return primitive(value, PrimitiveDefCategory.OM_PRIMITIVE_TYPE_BOOLEAN);
        }
        if (value instanceof Long) {
            return primitive(value, PrimitiveDefCategory.OM_PRIMITIVE_TYPE_LONG);
        }
        if (value instanceof Double) {
            return primitive(value, PrimitiveDefCategory.OM_PRIMITIVE_TYPE_DOUBLE);
        }
        if (value instanceof BigDecimal) {
            return primitive(value, PrimitiveDefCategory.OM_PRIMITIVE_TYPE_BIGDECIMAL);
        }
        if (value instanceof Instant instant) {
            return primitive(instant.toEpochMilli(), PrimitiveDefCategory.OM_PRIMITIVE_TYPE_DATE);
        }
        String text = value instanceof byte[] bytes ? Base64.getEncoder().encodeToString(bytes) : value.toString();
        return primitive(text, PrimitiveDefCategory.OM_PRIMITIVE_TYPE_STRING);
    }

    private static PrimitivePropertyValue primitive(Object content, PrimitiveDefCategory category) {
        PrimitivePropertyValue value = new PrimitivePropertyValue();
        value.setPrimitiveDefCategory(category);
        value.setPrimitiveValue(content);
        value.setTypeName(category.getName());
        value.setTypeGUID(category.getGUID());
        return value;
    }

    /** The value in the class of a category; null if it has another class. */
    private static Object content(Object value, PrimitiveDefCategory category) {
        return switch (category) {
            case OM_PRIMITIVE_TYPE_BOOLEAN -> value instanceof Boolean ? value : null;
            case OM_PRIMITIVE_TYPE_BYTE -> value instanceof Long number ? number.byteValue() : null;
            case OM_PRIMITIVE_TYPE_CHAR -> value instanceof String text && !text.isEmpty() ? text.charAt(0) : null;
            case OM_PRIMITIVE_TYPE_SHORT -> value instanceof Long number ? number.shortValue() : null;
            case OM_PRIMITIVE_TYPE_INT -> value instanceof Long number ? number.intValue() : null;
            case OM_PRIMITIVE_TYPE_LONG -> value instanceof Long ? value : null;
            case OM_PRIMITIVE_TYPE_FLOAT -> value instanceof Number number ? number.floatValue() : null;
            case OM_PRIMITIVE_TYPE_DOUBLE -> value instanceof Number number ? number.doubleValue() : null;
            case OM_PRIMITIVE_TYPE_BIGINTEGER -> value instanceof BigDecimal number ? number.toBigInteger() : null;
            case OM_PRIMITIVE_TYPE_BIGDECIMAL -> value instanceof BigDecimal ? value : null;
            case OM_PRIMITIVE_TYPE_DATE -> value instanceof Instant instant ? instant.toEpochMilli() : null;
            default -> value instanceof String ? value : null;
        };
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

    private static InstancePropertyValue collection(Object value, CollectionDef type) {
        List<PrimitiveDefCategory> arguments = type.getArgumentTypes();
        PrimitiveDefCategory last =
                arguments == null || arguments.isEmpty() ? null : arguments.get(arguments.size() - 1);
        if (value instanceof Collection<?> items) {
            return list(items, type, last);
        }
        if (!(value instanceof Map<?, ?> map)) {
            return undeclared(value);
        }
        if (type.getCollectionDefCategory() == CollectionDefCategory.OM_COLLECTION_STRUCT) {
            StructPropertyValue struct = new StructPropertyValue();
            struct.setAttributes(members(map, null));
            struct.setTypeName(type.getName());
            struct.setTypeGUID(type.getGUID());
            return struct;
        }
        return map(map, type, last);
    }

    private static ArrayPropertyValue list(Collection<?> items, CollectionDef type, PrimitiveDefCategory category) {
        ArrayPropertyValue array = new ArrayPropertyValue();
        array.setArrayCount(items.size());
        int index = 0;
        for (Object item : items) {
            array.setArrayValue(index, item(item, category));
            index++;
        }
        if (type != null) {
            array.setTypeName(type.getName());
            array.setTypeGUID(type.getGUID());
        }
        return array;
    }

    private static MapPropertyValue map(Map<?, ?> members, CollectionDef type, PrimitiveDefCategory category) {
        MapPropertyValue map = new MapPropertyValue();
        map.setMapValues(members(members, category));
        if (type != null) {
            map.setTypeName(type.getName());
            map.setTypeGUID(type.getGUID());
        }
        return map;
    }

    private static InstanceProperties members(Map<?, ?> members, PrimitiveDefCategory category) {
        InstanceProperties values = new InstanceProperties();
        members.forEach((name, value) -> values.setProperty(name.toString(), item(value, category)));
        return values;
    }

    private static InstancePropertyValue item(Object value, PrimitiveDefCategory category) {
        Object content = category == null || category == PrimitiveDefCategory.OM_PRIMITIVE_TYPE_UNKNOWN
                ? null
                : content(value, category);
        return content == null ? undeclared(value) : primitive(content, category);
    }
}
