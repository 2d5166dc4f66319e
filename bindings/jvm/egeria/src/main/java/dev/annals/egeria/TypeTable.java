package dev.annals.egeria;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.InstanceStatus;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.InstanceType;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.typedefs.AttributeTypeDef;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.typedefs.EnumDef;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.typedefs.TypeDef;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.typedefs.TypeDefAttribute;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.typedefs.TypeDefCategory;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.typedefs.TypeDefLink;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.repositoryconnector.OMRSRepositoryHelper;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.TypeErrorException;

/**
 * The types that Egeria knows, in the forms that the connector needs, and those that Annals does not know yet.
 *
 * <p>Egeria adds its 671 types one by one and then patches some of them, before it makes the first instance. So types
 * wait, and go to Annals in one transaction.
 */
final class TypeTable {
    private final OMRSRepositoryHelper helper;
    private final String source;

    private final Map<String, Map<String, AttributeTypeDef>> attributes = new ConcurrentHashMap<>();
    private final Map<String, List<String>> unique = new ConcurrentHashMap<>();
    private final Map<String, InstanceType> instanceTypes = new ConcurrentHashMap<>();
    private final Map<String, Set<String>> possible = new ConcurrentHashMap<>();
    /** The names of the subtypes of each type; null: not known yet. Egeria's helper examines all types for each. */
    private volatile Map<String, Set<String>> subtypes;

    /** Declarations that wait, by kind and name. Locked by itself. */
    private final Map<String, JsonObject> waiting = new LinkedHashMap<>();

    private volatile boolean hasWaiting;

    TypeTable(OMRSRepositoryHelper helper, String source) {
        this.helper = helper;
        this.source = source;
    }

    void add(TypeDef type) {
        add(TypeForms.type(type));
    }

    /** Primitive types and collections are part of Annals. */
    void add(AttributeTypeDef type) {
        if (type instanceof EnumDef enumeration) {
            add(TypeForms.enumeration(enumeration));
        }
    }

    private void add(JsonObject form) {
        synchronized (waiting) {
            waiting.put(form.get("kind").getAsString() + " " + form.get("name").getAsString(), form);
            hasWaiting = true;
        }
        forget();
    }

    private void forget() {
        attributes.clear();
        unique.clear();
        instanceTypes.clear();
        possible.clear();
        subtypes = null;
    }

    /** Declares the types that wait. Errors: those of Annals; the types then still wait. */
    void declare(Store store) {
        if (!hasWaiting) {
            return;
        }
        synchronized (waiting) {
            if (!hasWaiting) {
                return;
            }
            JsonArray types = new JsonArray();
            waiting.values().forEach(types::add);
            store.define(types);
            waiting.clear();
            hasWaiting = false;
            forget();
        }
    }

    /** The attributes of a type and its supertypes; none if Egeria does not know the type. */
    Map<String, AttributeTypeDef> attributes(String typeName) {
        return attributes.computeIfAbsent(typeName, this::findAttributes);
    }

    private Map<String, AttributeTypeDef> findAttributes(String typeName) {
        Map<String, AttributeTypeDef> found = new HashMap<>();
        all(typeName).forEach(attribute -> found.put(attribute.getAttributeName(), attribute.getAttributeType()));
        return found;
    }

    private List<TypeDefAttribute> all(String typeName) {
        TypeDef type = helper.getTypeDefByName(source, typeName);
        List<TypeDefAttribute> all =
                type == null ? null : helper.getAllPropertiesForTypeDef(source, type, "attributes");
        return all == null ? List.of() : all;
    }

    /** The names of the unique attributes of a type and its supertypes. */
    List<String> unique(String typeName) {
        return unique.computeIfAbsent(typeName, name -> all(name).stream()
                .filter(TypeDefAttribute::isUnique)
                .map(TypeDefAttribute::getAttributeName)
                .toList());
    }

    /** The names of attributes that an instance found by this type can have; empty type: by any type of the category. */
    Set<String> possible(Optional<String> typeName, TypeDefCategory category) {
        return possible.computeIfAbsent(typeName.orElse(category.name() + " *"), key -> {
            Set<String> names = new HashSet<>();
            if (typeName.isPresent()) {
                names.addAll(attributes(typeName.get()).keySet());
                subtypes(typeName.get())
                        .forEach(subtype -> names.addAll(attributes(subtype).keySet()));
            } else {
                helper.getKnownTypeDefs().stream()
                        .filter(type -> type.getCategory() == category)
                        .forEach(type -> names.addAll(attributes(type.getName()).keySet()));
            }
            return names;
        });
    }

    private Set<String> subtypes(String typeName) {
        Map<String, Set<String>> known = subtypes;
        if (known == null) {
            Map<String, TypeDefLink> supertypes = new HashMap<>();
            helper.getKnownTypeDefs().forEach(type -> supertypes.put(type.getName(), type.getSuperType()));
            Map<String, Set<String>> found = new HashMap<>();
            supertypes.forEach((name, first) -> {
                for (TypeDefLink one = first; one != null; one = supertypes.get(one.getName())) {
                    found.computeIfAbsent(one.getName(), above -> new HashSet<>())
                            .add(name);
                }
            });
            known = found;
            subtypes = found;
        }
        return known.getOrDefault(typeName, Set.of());
    }

    /** A new object each time, because Egeria's callers may change it. Empty if Egeria does not know the type. */
    Optional<InstanceType> instanceType(String typeName) {
        InstanceType known = instanceTypes.computeIfAbsent(typeName, name -> {
            TypeDef type = helper.getTypeDefByName(source, name);
            try {
                return type == null ? null : helper.getNewInstanceType(source, type);
            } catch (TypeErrorException error) {
                return null;
            }
        });
        return Optional.ofNullable(known).map(InstanceType::new);
    }

    /** Errors: the identifier is unknown. */
    String name(String guid, String parameter, String method) throws TypeErrorException {
        return helper.getTypeDef(source, parameter, guid, method).getName();
    }

    /** Says whether instances of a type can have the status. */
    boolean hasStatus(InstanceStatus status) {
        return helper.getKnownTypeDefs().stream()
                .anyMatch(type -> type.getValidInstanceStatusList() != null
                        && type.getValidInstanceStatusList().contains(status));
    }

    /** All types of a category. */
    List<TypeDef> all(TypeDefCategory category) {
        return helper.getKnownTypeDefs().stream()
                .filter(type -> type.getCategory() == category)
                .toList();
    }
}
