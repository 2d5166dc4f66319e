//! The rules for a definition of a type, and for its changes.

use std::collections::BTreeSet;

use super::status::check_status_name;
use crate::model::{AttributeDefinition, EnumElement, TypeDefinition, TypeKind, ValueType, check_name};
use crate::{Error, ErrorKind, Result};

/// Most elements of an enum type.
pub(crate) const ENUM_ELEMENTS_MAX: usize = 65_536;
/// Most statuses of a type.
pub(crate) const STATUSES_MAX: usize = 256;

pub(super) fn check_definition(definition: &TypeDefinition) -> Result<()> {
    check_name("type", &definition.name)?;
    let mut seen = BTreeSet::new();
    for attribute in &definition.attributes {
        check_name("attribute", &attribute.name)?;
        if !seen.insert(&attribute.name) {
            return Err(violation(definition, format!("attribute {} is declared twice", attribute.name)));
        }
        if attribute.is_unique && !attribute.is_indexed {
            return Err(violation(
                definition,
                format!("attribute {} is unique, which needs the index; leave it indexed", attribute.name),
            ));
        }
        check_attribute_type(definition, attribute)?;
        if let Some(value) = &attribute.default {
            value.check(&attribute.name)?;
            crate::graph::integrity::values::check_value(&definition.name, attribute, value)
                .map_err(|error| violation(definition, error.text().into()))?;
        }
    }
    let is_unique = definition.attributes.iter().any(|attribute| attribute.is_unique);
    if is_unique && definition.kind == TypeKind::Classification {
        return Err(violation(definition, "attributes of classifications cannot be unique".into()));
    }
    if definition.ends.is_some() && definition.kind != TypeKind::Relationship {
        return Err(violation(definition, "only relationship types have ends".into()));
    }
    if !definition.applies_to.is_empty() && definition.kind != TypeKind::Classification {
        return Err(violation(definition, "only classifications apply to entity types".into()));
    }
    if definition.is_propagatable && definition.kind != TypeKind::Classification {
        return Err(violation(definition, "only classifications are propagatable".into()));
    }
    check_containers(definition)?;
    check_enumeration(definition)?;
    check_statuses(definition)
}

fn check_containers(definition: &TypeDefinition) -> Result<()> {
    let TypeDefinition { kind, required_children, unique_together, .. } = definition;
    if definition.containment.is_some() && *kind != TypeKind::Relationship {
        return Err(violation(definition, "only relationship types lead from containers to children".into()));
    }
    let is_entity = *kind == TypeKind::Entity;
    let has_keys = definition.attributes.iter().any(|attribute| attribute.is_key);
    if !is_entity && (has_keys || !required_children.is_empty() || !unique_together.is_empty()) {
        let text = "only entity types have keys, required children, and attributes that are unique together";
        return Err(violation(definition, text.into()));
    }
    for name in required_children {
        check_name("child", name)?;
    }
    for names in unique_together {
        if names.is_empty() {
            return Err(violation(
                definition,
                "unique together: expected names of attributes, found none".into(),
            ));
        }
        names.iter().try_for_each(|name| check_name("attribute", name))?;
    }
    for attribute in definition.attributes.iter().filter(|attribute| attribute.is_key) {
        let is_scalar = !matches!(
            attribute.value_type,
            ValueType::Any | ValueType::List | ValueType::Map | ValueType::Content
        );
        if attribute.is_many || !attribute.is_required || !is_scalar {
            let text = format!(
                "attribute {} is a key; expected a required attribute with one scalar value",
                attribute.name
            );
            return Err(violation(definition, text));
        }
    }
    Ok(())
}

fn check_attribute_type(definition: &TypeDefinition, attribute: &AttributeDefinition) -> Result<()> {
    let AttributeDefinition { name, value_type, .. } = attribute;
    if attribute.enum_type.is_some() && *value_type != ValueType::String {
        let text = format!(
            "attribute {name} holds elements of an enum, which are strings; expected the value type string, found {}",
            value_type.name()
        );
        return Err(violation(definition, text));
    }
    if attribute.is_many && *value_type == ValueType::Content {
        let text = format!(
            "attribute {name}: a set holds no contents; expected an attribute with one content, or a list with items of \
             contents"
        );
        return Err(violation(definition, text));
    }
    for limit in attribute.minimum.iter().chain(&attribute.maximum) {
        if limit.value_type() != *value_type || !limit.is_scalar() {
            let text = format!(
                "attribute {name}: expected a minimum and a maximum of its value type {}, found {limit:?}",
                value_type.name()
            );
            return Err(violation(definition, text));
        }
    }
    if attribute.pattern.is_some() && *value_type != ValueType::String {
        let text = format!(
            "attribute {name}: only strings match a pattern, found the value type {}",
            value_type.name()
        );
        return Err(violation(definition, text));
    }
    if attribute.item_type.is_some() && !matches!(value_type, ValueType::List | ValueType::Map) {
        let text = format!(
            "attribute {name}: only lists and maps have items, found the value type {}",
            value_type.name()
        );
        return Err(violation(definition, text));
    }
    Ok(())
}

fn check_enumeration(definition: &TypeDefinition) -> Result<()> {
    if definition.kind != TypeKind::Enum {
        return match definition.elements.is_empty() {
            true => Ok(()),
            false => Err(violation(definition, "only enum types have elements".into())),
        };
    }
    let is_plain = definition.attributes.is_empty()
        && definition.supertypes.is_empty()
        && definition.statuses.is_empty()
        && definition.initial_status.is_none();
    if !is_plain {
        let text = "an enum type has elements; expected no attributes, supertypes and statuses";
        return Err(violation(definition, text.into()));
    }
    if definition.elements.len() > ENUM_ELEMENTS_MAX {
        let text =
            format!("expected at most {ENUM_ELEMENTS_MAX} elements, found {}", definition.elements.len());
        return Err(violation(definition, text));
    }
    let mut seen = BTreeSet::new();
    for element in &definition.elements {
        check_name("enum element", &element.name)?;
        // Ordinals may repeat: published enums have repeated ones, and properties hold the name.
        if !seen.insert(&element.name) {
            let text = format!("element {} occurs twice; names are unique", element.name);
            return Err(violation(definition, text));
        }
    }
    Ok(())
}

fn check_statuses(definition: &TypeDefinition) -> Result<()> {
    let TypeDefinition { statuses, initial_status, .. } = definition;
    if statuses.len() > STATUSES_MAX {
        let text = format!("expected at most {STATUSES_MAX} statuses, found {}", statuses.len());
        return Err(violation(definition, text));
    }
    for status in statuses.iter().chain(initial_status) {
        check_status_name(status)?;
    }
    match initial_status {
        Some(initial) if !statuses.is_empty() && !statuses.contains(initial) => Err(violation(
            definition,
            format!("initial status {initial}: expected one of {}", statuses.join(", ")),
        )),
        _ => Ok(()),
    }
}

/// A type may grow, but must not break anything that its instances rely on.
pub(super) fn check_extension(before: &TypeDefinition, after: &TypeDefinition) -> Result<()> {
    for old in &before.attributes {
        let Some(new) = after.attributes.iter().find(|new| new.name == old.name) else {
            return Err(violation(
                after,
                format!("attribute {} is missing; attributes cannot be taken away", old.name),
            ));
        };
        if new.is_key != old.is_key {
            let text = format!("attribute {}: it cannot become a key, or cease to be one", old.name);
            return Err(violation(after, text));
        }
        let is_other_enum = old.enum_type.is_some() && new.enum_type != old.enum_type;
        let is_other_item = old.item_type.is_some() && new.item_type != old.item_type;
        if (new.value_type, new.is_many) != (old.value_type, old.is_many) || is_other_enum || is_other_item {
            return Err(violation(
                after,
                format!(
                    "attribute {} holds {} {}; its value type cannot change",
                    old.name,
                    if old.is_many { "many" } else { "one" },
                    old.value_type.name()
                ),
            ));
        }
    }
    if before.containment != after.containment {
        let text = "a type that has been declared cannot begin, or cease, to lead from containers to children, nor order them otherwise";
        return Err(violation(after, text.into()));
    }
    for supertype in &before.supertypes {
        if !after.supertypes.contains(supertype) {
            return Err(violation(
                after,
                format!("supertype {supertype} is missing; it cannot be taken away"),
            ));
        }
    }
    for status in &before.statuses {
        if !after.statuses.contains(status) {
            return Err(violation(
                after,
                format!("status {status} is missing; statuses cannot be taken away"),
            ));
        }
    }
    for old in &before.elements {
        let is_kept = |new: &&EnumElement| (new.ordinal, &new.name) == (old.ordinal, &old.name);
        if !after.elements.iter().any(|new| is_kept(&new)) {
            return Err(violation(
                after,
                format!("element {} ({}) is missing or changed; elements stay", old.name, old.ordinal),
            ));
        }
    }
    match &before.external_id {
        Some(old) if after.external_id.as_ref() != Some(old) => {
            Err(violation(after, format!("its external id is {old}; it cannot change")))
        }
        _ => Ok(()),
    }
}

pub(super) fn violation(definition: &TypeDefinition, text: String) -> Error {
    Error::new(
        ErrorKind::TypeViolation,
        format!("{} type {}: {text}", definition.kind.name(), definition.name),
    )
}
