package dev.annals.egeria;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.MatchCriteria;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.ArrayPropertyValue;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.InstanceProperties;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.InstancePropertyValue;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.PrimitivePropertyValue;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.search.ClassificationCondition;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.search.PropertyComparisonOperator;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.search.PropertyCondition;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.search.SearchClassifications;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.search.SearchProperties;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.typedefs.PrimitiveDefCategory;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.typedefs.TypeDefCategory;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.repositoryconnector.OMRSRepositoryHelper;

/**
 * Writes the conditions of Egeria in the JSON form of docs/search.md.
 *
 * <p>A name is that of a property if a type of the search declares it, otherwise that of a header ({@link
 * HeaderConditions}), otherwise no instance has it. A text of a match is a regular expression; the four forms that
 * Egeria's helper makes become plain comparisons, which indexes answer.
 */
final class Conditions {
    private final OMRSRepositoryHelper helper;
    private final TypeTable types;
    private final HeaderConditions headers;

    Conditions(OMRSRepositoryHelper helper, TypeTable types, HeaderConditions headers) {
        this.helper = helper;
        this.types = types;
        this.headers = headers;
    }

    /** The instances to which conditions apply; a classification has headers of its own. */
    record Scope(TypeDefCategory category, Optional<String> type) {}

    // Match properties.

    JsonObject match(InstanceProperties match, MatchCriteria criteria, Scope scope) {
        Map<String, InstancePropertyValue> values = match == null ? null : match.getInstanceProperties();
        if (values == null || values.isEmpty()) {
            return all();
        }
        JsonArray conditions = new JsonArray();
        values.forEach((name, value) -> conditions.add(match(name, value, scope)));
        return combined(criteria, conditions);
    }

    private JsonObject match(String name, InstancePropertyValue value, Scope scope) {
        Comparison comparison = isText(value)
                ? like(((PrimitivePropertyValue) value).getPrimitiveValue().toString())
                : new Comparison("=", PropertyForms.value(value), value, false);
        return place(name, scope, comparison);
    }

    private static boolean isText(InstancePropertyValue value) {
        return value instanceof PrimitivePropertyValue primitive
                && primitive.getPrimitiveDefCategory() == PrimitiveDefCategory.OM_PRIMITIVE_TYPE_STRING
                && primitive.getPrimitiveValue() != null;
    }

    /** A property wins over a header of the same name; the header counts where the instance lacks the property. */
    private JsonObject place(String name, Scope scope, Comparison comparison) {
        boolean isProperty = types.possible(scope.type(), scope.category()).contains(name);
        Optional<JsonObject> header = headers.condition(name, scope, comparison);
        if (!isProperty) {
            return header.orElseGet(Conditions::none);
        }
        JsonObject property = comparison.on(property(name));
        // No header has a value of an enumeration.
        boolean isPlain = comparison.original() instanceof PrimitivePropertyValue;
        return header.filter(one -> isPlain)
                .map(one -> any(property, all(Comparison.MISSING.on(property(name)), one)))
                .orElse(property);
    }

    private static JsonObject property(String name) {
        JsonObject condition = new JsonObject();
        condition.addProperty("property", name);
        return condition;
    }

    /** The comparison that a regular expression means. */
    Comparison like(String expression) {
        boolean isCaseIgnored = helper.isCaseInsensitiveRegex(expression);
        String operator = helper.isExactMatchRegex(expression, isCaseIgnored)
                ? "="
                : helper.isStartsWithRegex(expression, isCaseIgnored)
                        ? "^="
                        : helper.isEndsWithRegex(expression, isCaseIgnored)
                                ? "$="
                                : helper.isContainsRegex(expression, isCaseIgnored) ? "~=" : "=~";
        String value = operator.equals("=~") ? expression : helper.getUnqualifiedLiteralString(expression);
        boolean isNocase = isCaseIgnored && !operator.equals("=~");
        PrimitivePropertyValue original = new PrimitivePropertyValue();
        original.setPrimitiveDefCategory(PrimitiveDefCategory.OM_PRIMITIVE_TYPE_STRING);
        original.setPrimitiveValue(expression);
        return new Comparison(operator, new JsonPrimitive(value), original, isNocase);
    }

    /** Free text: any text of the instance. */
    JsonObject text(String expression) {
        JsonObject condition = new JsonObject();
        condition.addProperty("text", true);
        return like(expression).on(condition);
    }

    // Search properties.

    JsonObject search(SearchProperties search, Scope scope, String method) throws SearchFault {
        List<PropertyCondition> all = search == null ? null : search.getConditions();
        if (all == null || all.isEmpty()) {
            return all();
        }
        JsonArray conditions = new JsonArray();
        for (PropertyCondition one : all) {
            conditions.add(search(one, scope, method));
        }
        return combined(search.getMatchCriteria(), conditions);
    }

    private JsonObject search(PropertyCondition condition, Scope scope, String method) throws SearchFault {
        SearchProperties nested = condition.getNestedConditions();
        if (nested != null) {
            return search(nested, scope, method);
        }
        String name = condition.getProperty();
        PropertyComparisonOperator operator = condition.getOperator();
        InstancePropertyValue value = condition.getValue();
        if (name == null || operator == null) {
            return all();
        }
        return switch (operator) {
            case IS_NULL -> not(place(name, scope, Comparison.EXISTS));
            case NOT_NULL -> place(name, scope, Comparison.EXISTS);
            case NEQ -> not(place(name, scope, plain("=", value)));
            case IN -> place(name, scope, in(value));
            case LIKE -> place(name, scope, likeValue(value));
            case EQ -> place(name, scope, plain("=", value));
            case LT -> place(name, scope, plain("<", value));
            case LTE -> place(name, scope, plain("<=", value));
            case GT -> place(name, scope, plain(">", value));
            case GTE -> place(name, scope, plain(">=", value));
        };
    }

    /** A search that cannot be: the caller makes an exception of its text. */
    static final class SearchFault extends Exception {
        private static final long serialVersionUID = 1L;

        SearchFault(String text) {
            super(text);
        }
    }

    private static Comparison plain(String operator, InstancePropertyValue value) {
        return new Comparison(operator, PropertyForms.value(value), value, false);
    }

    private static Comparison in(InstancePropertyValue value) throws SearchFault {
        if (!(value instanceof ArrayPropertyValue array)) {
            throw new SearchFault("condition IN: expected an array of values, found " + value);
        }
        JsonArray values = new JsonArray();
        PropertyForms.elements(array).forEach(one -> values.add(PropertyForms.value(one)));
        return new Comparison("in", values, value, false);
    }

    private Comparison likeValue(InstancePropertyValue value) throws SearchFault {
        if (!isText(value)) {
            throw new SearchFault("condition LIKE: expected a regular expression as a string, found " + value);
        }
        return like(((PrimitivePropertyValue) value).getPrimitiveValue().toString());
    }

    // Classifications.

    /** At least one of them; no names: all. */
    static Optional<JsonObject> classified(List<String> names) {
        if (names == null || names.isEmpty()) {
            return Optional.empty();
        }
        JsonArray any = new JsonArray();
        names.forEach(name -> any.add(classified(name, all())));
        return Optional.of(combined(MatchCriteria.ANY, any));
    }

    static JsonObject classified(String name, JsonObject where) {
        JsonObject condition = new JsonObject();
        condition.addProperty("classified", name);
        condition.add("where", where);
        return condition;
    }

    JsonObject classified(SearchClassifications search, String method) throws SearchFault {
        List<ClassificationCondition> all = search == null ? null : search.getConditions();
        if (all == null || all.isEmpty()) {
            return all();
        }
        JsonArray conditions = new JsonArray();
        for (ClassificationCondition one : all) {
            Scope scope = new Scope(TypeDefCategory.CLASSIFICATION_DEF, Optional.ofNullable(one.getName()));
            conditions.add(classified(one.getName(), search(one.getMatchProperties(), scope, method)));
        }
        return combined(search.getMatchCriteria(), conditions);
    }

    // Parts.

    static JsonObject header(String name, String operator) {
        JsonObject condition = new JsonObject();
        condition.addProperty("header", name);
        condition.addProperty("operator", operator);
        return condition;
    }

    static JsonObject combined(MatchCriteria criteria, JsonArray conditions) {
        JsonObject combined = new JsonObject();
        combined.add(
                criteria == MatchCriteria.ANY ? "any" : criteria == MatchCriteria.NONE ? "none" : "all", conditions);
        return combined;
    }

    static JsonObject not(JsonObject condition) {
        return combined(MatchCriteria.NONE, array(condition));
    }

    static JsonObject all(JsonObject... conditions) {
        return combined(MatchCriteria.ALL, array(conditions));
    }

    static JsonObject any(JsonObject... conditions) {
        return combined(MatchCriteria.ANY, array(conditions));
    }

    /** No instance. */
    static JsonObject none() {
        return any();
    }

    private static JsonArray array(JsonObject... conditions) {
        JsonArray array = new JsonArray();
        for (JsonObject condition : conditions) {
            array.add(condition);
        }
        return array;
    }

    /** Names of a list as JSON. */
    static JsonArray texts(Iterable<String> texts) {
        JsonArray array = new JsonArray();
        texts.forEach(array::add);
        return array;
    }

    /** How a value is compared. Original: the value of Egeria. */
    record Comparison(String operator, JsonElement value, InstancePropertyValue original, boolean isCaseIgnored) {
        static final Comparison EXISTS = new Comparison("exists", JsonNull.INSTANCE, null, false);
        static final Comparison MISSING = new Comparison("missing", JsonNull.INSTANCE, null, false);

        /** Completes a condition that names its field. A comparison with null or with no values holds for no instance. */
        JsonObject on(JsonObject condition) {
            if (operator.equals("in") && value.getAsJsonArray().isEmpty()) {
                return none();
            }
            condition.addProperty("operator", operator);
            if (operator.equals("in")) {
                condition.add("values", value);
            } else if (!operator.equals("exists") && !operator.equals("missing")) {
                if (value.isJsonNull()) {
                    return operator.equals("=") ? missing(condition) : none();
                }
                condition.add("value", value);
            }
            if (isCaseIgnored) {
                condition.addProperty("nocase", true);
            }
            return condition;
        }

        private static JsonObject missing(JsonObject condition) {
            condition.addProperty("operator", "missing");
            return condition;
        }
    }
}
