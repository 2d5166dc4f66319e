package dev.annals.egeria;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.List;
import java.util.Random;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.ArrayPropertyValue;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.EnumPropertyValue;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.InstanceProperties;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.InstancePropertyValue;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.MapPropertyValue;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.PrimitivePropertyValue;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.typedefs.AttributeTypeDef;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.typedefs.CollectionDef;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.typedefs.CollectionDefCategory;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.typedefs.EnumDef;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.typedefs.EnumElementDef;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.typedefs.PrimitiveDef;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.typedefs.PrimitiveDefCategory;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.typedefs.TypeDef;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.typedefs.TypeDefAttribute;

/** Random values of few, so that searches find them. */
final class RandomValues {
    private static final List<String> TEXTS = List.of("a", "b", "abc", "Abc", "x.y", "Zoë (1)", "two words");
    private final Random random;

    RandomValues(Random random) {
        this.random = random;
    }

    <T> T of(List<T> list) {
        return list.get(random.nextInt(list.size()));
    }

    String text() {
        return of(TEXTS);
    }

    /** About half of the properties of a type; null for none. */
    InstanceProperties properties(LocalServer server, TypeDef type) {
        InstanceProperties properties = new InstanceProperties();
        List<TypeDefAttribute> attributes = server.helper.getAllPropertiesForTypeDef("test", type, "properties");
        if (attributes != null) {
            for (TypeDefAttribute attribute : attributes) {
                InstancePropertyValue value = value(attribute.getAttributeType());
                if (value != null && random.nextBoolean()) {
                    properties.setProperty(attribute.getAttributeName(), value);
                }
            }
        }
        return properties.getPropertyCount() == 0 ? null : properties;
    }

    private InstancePropertyValue value(AttributeTypeDef type) {
        if (type instanceof PrimitiveDef primitive) {
            return primitive(primitive.getPrimitiveDefCategory());
        }
        if (type instanceof EnumDef enumeration) {
            EnumElementDef element = of(enumeration.getElementDefs());
            EnumPropertyValue value = new EnumPropertyValue();
            value.setOrdinal(element.getOrdinal());
            value.setSymbolicName(element.getValue());
            value.setDescription(element.getDescription());
            value.setTypeName(type.getName());
            value.setTypeGUID(type.getGUID());
            return value;
        }
        CollectionDef collection = (CollectionDef) type;
        List<PrimitiveDefCategory> arguments = collection.getArgumentTypes();
        InstancePropertyValue item = primitive(arguments.get(arguments.size() - 1));
        if (collection.getCollectionDefCategory() == CollectionDefCategory.OM_COLLECTION_ARRAY) {
            ArrayPropertyValue array = new ArrayPropertyValue();
            array.setArrayCount(1);
            array.setArrayValue(0, item);
            return array;
        }
        MapPropertyValue map = new MapPropertyValue();
        map.setMapValue(random.nextInt(10) == 0 ? "$k" : "k", item);
        return map;
    }

    PrimitivePropertyValue primitive(PrimitiveDefCategory category) {
        PrimitivePropertyValue value = new PrimitivePropertyValue();
        value.setPrimitiveDefCategory(category);
        value.setTypeName(category.getName());
        value.setTypeGUID(category.getGUID());
        int number = random.nextInt(4) - 1;
        value.setPrimitiveValue(
                switch (category) {
                    case OM_PRIMITIVE_TYPE_BOOLEAN -> random.nextBoolean();
                    case OM_PRIMITIVE_TYPE_BYTE -> (byte) number;
                    case OM_PRIMITIVE_TYPE_SHORT -> (short) number;
                    case OM_PRIMITIVE_TYPE_INT -> number;
                    case OM_PRIMITIVE_TYPE_LONG -> (long) number;
                    case OM_PRIMITIVE_TYPE_FLOAT -> number / 3f;
                    case OM_PRIMITIVE_TYPE_DOUBLE -> number / 3d;
                    case OM_PRIMITIVE_TYPE_BIGINTEGER -> BigInteger.valueOf(number);
                    case OM_PRIMITIVE_TYPE_BIGDECIMAL -> new BigDecimal(number + ".50");
                    case OM_PRIMITIVE_TYPE_DATE -> 1_000_000_000_123L * (number + 1);
                    case OM_PRIMITIVE_TYPE_CHAR -> 'c';
                    default -> text();
                });
        return value;
    }
}
