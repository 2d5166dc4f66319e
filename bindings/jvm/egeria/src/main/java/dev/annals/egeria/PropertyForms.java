package dev.annals.egeria;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Date;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.ArrayPropertyValue;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.EnumPropertyValue;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.InstanceProperties;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.InstancePropertyValue;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.MapPropertyValue;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.PrimitivePropertyValue;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.StructPropertyValue;

/**
 * Writes the values of Egeria in the JSON form of docs/json.md.
 *
 * <p>Null is no value of Annals: a property or a member that is null is left out. {@link PropertyValues} reads.
 */
final class PropertyForms {
    private PropertyForms() {}

    /** Shape: values by name. */
    static JsonObject properties(InstanceProperties properties) {
        JsonObject members = new JsonObject();
        Map<String, InstancePropertyValue> values = properties == null ? null : properties.getInstanceProperties();
        if (values != null) {
            values.forEach((name, value) -> add(members, name, value));
        }
        return members;
    }

    private static void add(JsonObject members, String name, InstancePropertyValue value) {
        JsonElement form = value(value);
        if (!form.isJsonNull()) {
            members.add(name, form);
        }
    }

    /** The form of a value; JSON null for null. */
    static JsonElement value(InstancePropertyValue value) {
        if (value == null) {
            return JsonNull.INSTANCE;
        }
        if (value instanceof PrimitivePropertyValue primitive) {
            return primitive(primitive);
        }
        if (value instanceof EnumPropertyValue element) {
            return element.getSymbolicName() == null ? JsonNull.INSTANCE : new JsonPrimitive(element.getSymbolicName());
        }
        if (value instanceof ArrayPropertyValue array) {
            return list(array);
        }
        if (value instanceof MapPropertyValue map) {
            return map(map.getMapValues());
        }
        if (value instanceof StructPropertyValue struct) {
            return map(struct.getAttributes());
        }
        throw new IllegalArgumentException("expected a value of a known category, found " + value);
    }

    private static JsonElement primitive(PrimitivePropertyValue value) {
        Object content = value.getPrimitiveValue();
        if (content == null) {
            return JsonNull.INSTANCE;
        }
        return switch (value.getPrimitiveDefCategory()) {
            case OM_PRIMITIVE_TYPE_BOOLEAN -> new JsonPrimitive(Boolean.parseBoolean(content.toString()));
            case OM_PRIMITIVE_TYPE_BYTE,
                    OM_PRIMITIVE_TYPE_SHORT,
                    OM_PRIMITIVE_TYPE_INT,
                    OM_PRIMITIVE_TYPE_LONG -> new JsonPrimitive(new BigDecimal(content.toString()).longValueExact());
            case OM_PRIMITIVE_TYPE_FLOAT, OM_PRIMITIVE_TYPE_DOUBLE -> decimalFraction(content);
            case OM_PRIMITIVE_TYPE_BIGINTEGER, OM_PRIMITIVE_TYPE_BIGDECIMAL -> form(
                    "$decimal", new BigDecimal(content.toString()).toPlainString());
            case OM_PRIMITIVE_TYPE_DATE -> date(milliseconds(content));
            default -> new JsonPrimitive(content.toString());
        };
    }

    private static JsonElement decimalFraction(Object content) {
        double number = Double.parseDouble(content.toString());
        if (Double.isFinite(number)) {
            return new JsonPrimitive(number);
        }
        return form("$float", Double.isNaN(number) ? "NaN" : number > 0 ? "inf" : "-inf");
    }

    /** A date is milliseconds; some callers give an object. */
    static long milliseconds(Object content) {
        return content instanceof Date date ? date.getTime() : Long.parseLong(content.toString());
    }

    static JsonElement date(long milliseconds) {
        return form("$timestamp", Instant.ofEpochMilli(milliseconds).toString());
    }

    private static JsonElement list(ArrayPropertyValue array) {
        JsonArray items = new JsonArray();
        elements(array).forEach(value -> {
            JsonElement form = value(value);
            if (!form.isJsonNull()) {
                items.add(form);
            }
        });
        return items;
    }

    /** The elements in the order of their indexes, which are names of properties. */
    static List<InstancePropertyValue> elements(ArrayPropertyValue array) {
        List<InstancePropertyValue> found = new ArrayList<>();
        InstanceProperties values = array.getArrayValues();
        if (values != null && values.getInstanceProperties() != null) {
            Map<String, InstancePropertyValue> byIndex = values.getInstanceProperties();
            List<String> names = new ArrayList<>(byIndex.keySet());
            names.sort((one, two) -> new BigInteger(one).compareTo(new BigInteger(two)));
            names.forEach(name -> found.add(byIndex.get(name)));
        }
        return found;
    }

    private static JsonElement map(InstanceProperties entries) {
        JsonObject members = new JsonObject();
        if (entries == null) {
            return members;
        }
        Iterator<String> names = entries.getPropertyNames();
        boolean isOdd = false;
        while (names.hasNext()) {
            String name = names.next();
            add(members, name, entries.getPropertyValue(name));
            isOdd |= name.startsWith("$");
        }
        if (!isOdd) {
            return members;
        }
        JsonObject form = new JsonObject();
        form.add("$map", members);
        return form;
    }

    private static JsonObject form(String key, String text) {
        JsonObject form = new JsonObject();
        form.addProperty(key, text);
        return form;
    }
}
