package dev.annals.egeria;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.MatchCriteria;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.ArrayPropertyValue;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.EnumPropertyValue;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.InstanceProperties;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.InstancePropertyValue;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.InstanceStatus;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.PrimitivePropertyValue;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.search.ClassificationCondition;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.search.PropertyComparisonOperator;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.search.PropertyCondition;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.search.SearchClassifications;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.search.SearchProperties;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.typedefs.PrimitiveDefCategory;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.typedefs.TypeDef;
import org.odpi.openmetadata.repositoryservices.localrepository.repositorycontentmanager.OMRSRepositoryContentHelper;

/** Searches with random types, conditions, statuses and classifications. */
final class RandomSearches {
    private static final String USER = LocalServer.USER;

    private final Oracle oracle;
    private final Random random;
    private final RandomValues values;
    private final List<String> entityTypes;
    private final List<String> relationshipTypes;
    private final List<String> classifications;

    RandomSearches(
            Oracle oracle,
            Random random,
            RandomValues values,
            List<String> entityTypes,
            List<String> relationshipTypes,
            List<String> classifications) {
        this.oracle = oracle;
        this.random = random;
        this.values = values;
        this.entityTypes = new ArrayList<>(entityTypes);
        this.entityTypes.add("Referenceable");
        this.relationshipTypes = relationshipTypes;
        this.classifications = classifications;
    }

    void next() {
        TypeDef type = oracle.memory.type(values.of(entityTypes));
        TypeDef linking = oracle.memory.type(values.of(relationshipTypes));
        String guid = random.nextInt(5) == 0 ? null : type.getGUID();
        List<InstanceStatus> statuses =
                switch (random.nextInt(5)) {
                    case 0 -> List.of(InstanceStatus.ACTIVE);
                    case 1 -> List.of(InstanceStatus.DRAFT, InstanceStatus.DELETED);
                    default -> null;
                };
        List<String> classified = random.nextInt(4) == 0 ? List.of(values.of(classifications)) : null;
        MatchCriteria criteria = values.of(List.of(MatchCriteria.values()));
        switch (random.nextInt(7)) {
            case 0, 1 -> {
                InstanceProperties match = match(type);
                oracle.call(
                        "findEntitiesByProperty " + type.getName() + criteria + match + statuses + classified,
                        side -> side.collection()
                                .findEntitiesByProperty(
                                        USER, guid, match, criteria, 0, statuses, classified, null, null, null, 0));
            }
            case 2, 3 -> {
                SearchProperties search = search(type, 2);
                SearchClassifications with = random.nextInt(3) == 0 ? classifications() : null;
                oracle.call("findEntities " + type.getName() + search + with + statuses, side -> side.collection()
                        .findEntities(USER, type.getGUID(), null, search, 0, statuses, with, null, null, null, 0));
            }
            case 4 -> {
                TypeDef name = oracle.memory.type(values.of(classifications));
                InstanceProperties match = match(name);
                oracle.call(
                        "findEntitiesByClassification " + name.getName() + criteria + match + statuses,
                        side -> side.collection()
                                .findEntitiesByClassification(
                                        USER, guid, name.getName(), match, criteria, 0, statuses, null, null, null, 0));
            }
            case 5 -> {
                InstanceProperties match = match(linking);
                oracle.call(
                        "findRelationshipsByProperty " + linking.getName() + criteria + match, side -> side.collection()
                                .findRelationshipsByProperty(
                                        USER, linking.getGUID(), match, criteria, 0, null, null, null, null, 0));
            }
            default -> {
                SearchProperties search = search(linking, 2);
                oracle.call("findRelationships " + linking.getName() + search, side -> side.collection()
                        .findRelationships(USER, linking.getGUID(), null, search, 0, null, null, null, null, 0));
            }
        }
    }

    /** Null for none. */
    private InstanceProperties match(TypeDef type) {
        InstanceProperties all = values.properties(oracle.memory, type);
        InstanceProperties some = new InstanceProperties();
        if (all != null) {
            all.getInstanceProperties().forEach((name, value) -> {
                if (random.nextInt(3) == 0 && isScalar(value)) {
                    some.setProperty(name, isText(value) ? pattern() : value);
                }
            });
        }
        if (random.nextInt(6) == 0) {
            some.setProperty("metadataCollectionId", text("\\Q" + LocalServer.ID + "\\E"));
        }
        return some.getPropertyCount() == 0 ? null : some;
    }

    /** Lists and maps are compared as a whole. */
    private static boolean isScalar(InstancePropertyValue value) {
        return value instanceof PrimitivePropertyValue || value instanceof EnumPropertyValue;
    }

    private static boolean isText(InstancePropertyValue value) {
        return value instanceof PrimitivePropertyValue primitive
                && primitive.getPrimitiveDefCategory() == PrimitiveDefCategory.OM_PRIMITIVE_TYPE_STRING;
    }

    private static PrimitivePropertyValue text(String text) {
        PrimitivePropertyValue value = new PrimitivePropertyValue();
        value.setPrimitiveDefCategory(PrimitiveDefCategory.OM_PRIMITIVE_TYPE_STRING);
        value.setPrimitiveValue(text);
        value.setTypeName(PrimitiveDefCategory.OM_PRIMITIVE_TYPE_STRING.getName());
        value.setTypeGUID(PrimitiveDefCategory.OM_PRIMITIVE_TYPE_STRING.getGUID());
        return value;
    }

    private PrimitivePropertyValue pattern() {
        String text = values.text();
        String part = text.substring(0, Math.max(1, text.length() / 2));
        OMRSRepositoryContentHelper helper = oracle.memory.helper;
        boolean isCaseIgnored = random.nextInt(4) == 0;
        return text(
                switch (random.nextInt(6)) {
                    case 0 -> helper.getStartsWithRegex(part, isCaseIgnored);
                    case 1 -> helper.getEndsWithRegex(text.substring(text.length() / 2), isCaseIgnored);
                    case 2 -> helper.getContainsRegex(part, isCaseIgnored);
                    case 3 -> "[a-c]+";
                    case 4 -> ".*o.*";
                    default -> helper.getExactMatchRegex(text, isCaseIgnored);
                });
    }

    /** Null for none. */
    private SearchProperties search(TypeDef type, int depth) {
        List<PropertyCondition> conditions = new ArrayList<>();
        InstanceProperties all = values.properties(oracle.memory, type);
        if (all != null) {
            all.getInstanceProperties().forEach((name, value) -> {
                if (random.nextInt(4) == 0 && isScalar(value)) {
                    conditions.add(condition(name, value));
                }
            });
        }
        if (depth > 0 && random.nextInt(4) == 0) {
            SearchProperties nested = search(type, depth - 1);
            if (nested != null) {
                PropertyCondition condition = new PropertyCondition();
                condition.setNestedConditions(nested);
                conditions.add(condition);
            }
        }
        if (conditions.isEmpty()) {
            return null;
        }
        SearchProperties search = new SearchProperties();
        search.setConditions(conditions);
        search.setMatchCriteria(values.of(List.of(MatchCriteria.values())));
        return search;
    }

    private PropertyCondition condition(String name, InstancePropertyValue value) {
        PropertyCondition condition = new PropertyCondition();
        condition.setProperty(name);
        boolean isNumber =
                value instanceof PrimitivePropertyValue primitive && primitive.getPrimitiveValue() instanceof Number;
        List<PropertyComparisonOperator> fitting = new ArrayList<>(List.of(
                PropertyComparisonOperator.EQ,
                PropertyComparisonOperator.NEQ,
                PropertyComparisonOperator.IS_NULL,
                PropertyComparisonOperator.NOT_NULL,
                PropertyComparisonOperator.IN));
        if (isNumber) {
            fitting.add(PropertyComparisonOperator.LT);
            fitting.add(PropertyComparisonOperator.LTE);
            fitting.add(PropertyComparisonOperator.GT);
            fitting.add(PropertyComparisonOperator.GTE);
        }
        if (isText(value)) {
            fitting.add(PropertyComparisonOperator.LIKE);
        }
        PropertyComparisonOperator operator = values.of(fitting);
        condition.setOperator(operator);
        switch (operator) {
            case IS_NULL, NOT_NULL -> {
                // Without a value.
            }
            case LIKE -> condition.setValue(pattern());
            case IN -> {
                ArrayPropertyValue array = new ArrayPropertyValue();
                array.setArrayCount(1);
                array.setArrayValue(0, value);
                condition.setValue(array);
            }
            default -> condition.setValue(value);
        }
        return condition;
    }

    private SearchClassifications classifications() {
        ClassificationCondition condition = new ClassificationCondition();
        String name = values.of(classifications);
        condition.setName(name);
        condition.setMatchProperties(search(oracle.memory.type(name), 0));
        SearchClassifications search = new SearchClassifications();
        search.setConditions(List.of(condition));
        search.setMatchCriteria(values.of(List.of(MatchCriteria.ALL, MatchCriteria.NONE)));
        return search;
    }
}
