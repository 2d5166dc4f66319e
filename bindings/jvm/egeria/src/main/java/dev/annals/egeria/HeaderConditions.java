package dev.annals.egeria;

import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.ArrayPropertyValue;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.InstancePropertyValue;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.InstanceProvenanceType;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.PrimitivePropertyValue;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.typedefs.TypeDef;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.typedefs.TypeDefCategory;

/**
 * Writes conditions on the headers of Egeria.
 *
 * <p>Annals has no home for own instances, no update for a first version, and counts microseconds.
 */
final class HeaderConditions {
    /** Headers with the same meaning on both sides. */
    private static final Map<String, String> SAME = Map.of(
            "guid", "id",
            "typeName", "type",
            "createdBy", "createdBy",
            "replicatedBy", "replicatedBy",
            "instanceLicense", "license",
            "maintainedBy", "maintainedBy",
            "reIdentifiedFromGUID", "reidentifiedFrom");

    private static final List<String> OTHERS = List.of(
            "version",
            "createTime",
            "effectiveFrom",
            "effectiveTo",
            "updateTime",
            "updatedBy",
            "status",
            "statusOnDelete",
            "instanceProvenanceType",
            "metadataCollectionId",
            "metadataCollectionName",
            "typeGUID");

    private static final List<String> OF_CLASSIFICATIONS = List.of(
            "createdBy",
            "version",
            "createTime",
            "updatedBy",
            "updateTime",
            "metadataCollectionId",
            "replicatedBy",
            "instanceLicense");

    private final TypeTable types;
    private final Headers headers;
    private final Function<String, String> ownName;

    HeaderConditions(TypeTable types, Headers headers, Function<String, String> ownName) {
        this.types = types;
        this.headers = headers;
        this.ownName = ownName;
    }

    /** Says whether Annals cannot search by this header of a classification. */
    static boolean isBeyond(String name) {
        boolean isHeader = SAME.containsKey(name) || OTHERS.contains(name);
        return isHeader && !OF_CLASSIFICATIONS.contains(name);
    }

    /** Empty if there is no such header. */
    Optional<JsonObject> condition(String name, Conditions.Scope scope, Conditions.Comparison comparison) {
        boolean isClassification = scope.category() == TypeDefCategory.CLASSIFICATION_DEF;
        if (isClassification && !OF_CLASSIFICATIONS.contains(name)) {
            return Optional.empty();
        }
        String same = SAME.get(name);
        if (same != null) {
            return Optional.of(comparison.on(header(same)));
        }
        return switch (name) {
            case "version" -> Optional.of(comparison.on(header(version(isClassification))));
            case "createTime" -> Optional.of(time("createdAt", comparison));
            case "effectiveFrom", "effectiveTo" -> Optional.of(time(name, comparison));
            case "updateTime" -> Optional.of(updated(time("updatedAt", comparison), isClassification));
            case "updatedBy" -> Optional.of(updated(comparison.on(header("updatedBy")), isClassification));
            case "status", "statusOnDelete" -> Optional.of(lowerCase(comparison).on(header(name)));
            case "instanceProvenanceType" -> Optional.of(provenance(comparison));
            case "metadataCollectionId" -> Optional.of(home(comparison));
            case "metadataCollectionName" -> Optional.of(homeName(comparison));
            case "typeGUID" -> Optional.of(typeGuid(scope.category(), comparison));
            default -> Optional.empty();
        };
    }

    private static JsonObject header(String name) {
        JsonObject condition = new JsonObject();
        condition.addProperty("header", name);
        return condition;
    }

    /** Egeria counts no changes of classifications as versions of their entity. */
    private static String version(boolean isClassification) {
        return isClassification ? "version" : "contentVersion";
    }

    /** Egeria knows no update of a first version. */
    private static JsonObject updated(JsonObject condition, boolean isClassification) {
        JsonObject later = Conditions.header(version(isClassification), ">");
        later.addProperty("value", 1);
        if (isClassification) {
            return Conditions.all(later, condition);
        }
        return Conditions.all(Conditions.any(later, Conditions.header("home", "exists")), condition);
    }

    /** A time of Egeria is a millisecond: all its microseconds are equal to it. */
    private static JsonObject time(String name, Conditions.Comparison comparison) {
        if (!(comparison.original() instanceof PrimitivePropertyValue primitive)
                || primitive.getPrimitiveValue() == null) {
            return comparison.on(header(name));
        }
        long milliseconds;
        try {
            milliseconds = PropertyForms.milliseconds(primitive.getPrimitiveValue());
        } catch (NumberFormatException error) {
            return Conditions.none();
        }
        return switch (comparison.operator()) {
            case "=" -> Conditions.all(bound(name, ">=", milliseconds), bound(name, "<", milliseconds + 1));
            case "<" -> bound(name, "<", milliseconds);
            case "<=" -> bound(name, "<", milliseconds + 1);
            case ">" -> bound(name, ">=", milliseconds + 1);
            case ">=" -> bound(name, ">=", milliseconds);
            default -> Conditions.none();
        };
    }

    private static JsonObject bound(String name, String operator, long milliseconds) {
        JsonObject condition = Conditions.header(name, operator);
        condition.add("value", PropertyForms.date(milliseconds));
        return condition;
    }

    private static Conditions.Comparison lowerCase(Conditions.Comparison comparison) {
        if (!comparison.value().isJsonPrimitive()) {
            return comparison;
        }
        String text = comparison.value().getAsString().toLowerCase(Locale.ROOT).replace(' ', '_');
        return new Conditions.Comparison(
                comparison.operator(), new JsonPrimitive(text), comparison.original(), comparison.isCaseIgnored());
    }

    private JsonObject provenance(Conditions.Comparison comparison) {
        if (!comparison.value().isJsonPrimitive()) {
            return comparison.on(header("provenance"));
        }
        String name = comparison.value().getAsString();
        try {
            name = Headers.provenance(InstanceProvenanceType.valueOf(name));
        } catch (IllegalArgumentException error) {
            // No name of a provenance: it equals none.
        }
        return new Conditions.Comparison(comparison.operator(), new JsonPrimitive(name), comparison.original(), false)
                .on(header("provenance"));
    }

    /** Own instances have no home. */
    private JsonObject home(Conditions.Comparison comparison) {
        JsonObject others = comparison.on(header("home"));
        return holds(comparison, headers.ownId())
                ? Conditions.any(Conditions.header("home", "missing"), others)
                : others;
    }

    /** Annals cannot search by the names of other homes. */
    private JsonObject homeName(Conditions.Comparison comparison) {
        String own = ownName.apply("metadataCollectionName");
        return own != null && holds(comparison, own) ? Conditions.header("home", "missing") : Conditions.none();
    }

    private JsonObject typeGuid(TypeDefCategory category, Conditions.Comparison comparison) {
        List<String> names = types.all(category).stream()
                .filter(type -> holds(comparison, type.getGUID()))
                .map(TypeDef::getName)
                .toList();
        if (names.isEmpty()) {
            return Conditions.none();
        }
        JsonObject condition = Conditions.header("type", "in");
        condition.add("values", Conditions.texts(names));
        return condition;
    }

    /** Says whether a text fulfils the comparison, as Egeria decides it. */
    private static boolean holds(Conditions.Comparison comparison, String text) {
        InstancePropertyValue original = comparison.original();
        if (comparison.operator().equals("exists")) {
            return true;
        }
        if (original instanceof ArrayPropertyValue array) {
            return PropertyForms.elements(array).stream()
                    .anyMatch(one -> PropertyForms.value(one).isJsonPrimitive()
                            && PropertyForms.value(one).getAsString().equals(text));
        }
        if (!comparison.value().isJsonPrimitive()) {
            return false;
        }
        String value = comparison.value().getAsString();
        String whole = comparison.isCaseIgnored() ? text.toLowerCase(Locale.ROOT) : text;
        String part = comparison.isCaseIgnored() ? value.toLowerCase(Locale.ROOT) : value;
        return switch (comparison.operator()) {
            case "=" -> whole.equals(part);
            case "^=" -> whole.startsWith(part);
            case "$=" -> whole.endsWith(part);
            case "~=" -> whole.contains(part);
            case "=~" -> matches(value, text);
            case "<" -> text.compareTo(value) < 0;
            case "<=" -> text.compareTo(value) <= 0;
            case ">" -> text.compareTo(value) > 0;
            case ">=" -> text.compareTo(value) >= 0;
            default -> false;
        };
    }

    private static boolean matches(String expression, String text) {
        try {
            return Pattern.matches(expression, text);
        } catch (PatternSyntaxException error) {
            // Annals reports it when it runs the search.
            return false;
        }
    }
}
