//! Type definitions as JSON.

use std::sync::Arc;

use annals::{
    AttributeDefinition, Containment, Deprecation, EndDefinition, EnumElement, Result, TypeDefinition,
    TypeDifference, TypeKind, TypeMatch, TypePatch, ValueType,
};
use serde_json::{Value as Json, json};

use super::wire::{self, TypeKindName, Value, ValueTypeName};
use super::{invalid, read, value_from_json, value_to_json};

/// The JSON form of a type. Members that are not set are left out.
pub fn type_to_json(definition: &TypeDefinition) -> Json {
    let [from, to] = match &definition.ends {
        Some(ends) => ends.each_ref().map(|end| Some(end_form(end))),
        None => [None, None],
    };
    let (deprecated, replaced_by) = deprecation_form(&definition.deprecation);
    let is_classification = definition.kind == TypeKind::Classification;
    let form = wire::Type {
        kind: Some(TypeKindName(definition.kind.name().to_owned())),
        name: Some(definition.name.to_string()),
        description: Some(definition.description.to_string()),
        supertypes: Some(texts(&definition.supertypes)),
        closed: Some(definition.is_closed),
        attributes: Some(definition.attributes.iter().map(attribute_form).collect()),
        from,
        to,
        applies_to: is_classification.then(|| texts(&definition.applies_to)),
        propagatable: definition.is_propagatable.then_some(true),
        advisory: definition.is_advisory.then_some(true),
        containment: definition
            .containment
            .map(|known| wire::Containment { ordered: Some(known.is_ordered) }),
        required_children: some(texts(&definition.required_children)),
        unique_together: some(definition.unique_together.iter().map(|names| texts(names)).collect()),
        statuses: some(texts(&definition.statuses)),
        initial_status: text(&definition.initial_status),
        external_id: text(&definition.external_id),
        elements: some(definition.elements.iter().map(element_form).collect()),
        version: (definition.version != 1).then_some(definition.version),
        deprecated,
        replaced_by,
    };
    serde_json::to_value(form).expect("all keys are strings")
}

fn attribute_form(attribute: &AttributeDefinition) -> wire::Attribute {
    let (deprecated, replaced_by) = deprecation_form(&attribute.deprecation);
    let value_form = |value| Value(value_to_json(value));
    let type_name = |value_type: ValueType| ValueTypeName(value_type.name().to_owned());
    wire::Attribute {
        name: attribute.name.to_string(),
        r#type: Some(type_name(attribute.value_type)),
        many: Some(attribute.is_many),
        required: Some(attribute.is_required),
        unique: Some(attribute.is_unique),
        indexed: Some(attribute.is_indexed),
        default: attribute.default.as_ref().map(value_form),
        r#enum: text(&attribute.enum_type),
        items: attribute.item_type.map(type_name),
        deprecated,
        replaced_by,
        key: attribute.is_key.then_some(true),
        minimum: attribute.minimum.as_ref().map(value_form),
        maximum: attribute.maximum.as_ref().map(value_form),
        pattern: text(&attribute.pattern),
        reference: text(&attribute.reference),
    }
}

fn element_form(element: &EnumElement) -> wire::EnumElement {
    let description = Some(element.description.to_string()).filter(|text| !text.is_empty());
    wire::EnumElement { ordinal: element.ordinal, name: element.name.to_string(), description }
}

fn deprecation_form(deprecation: &Option<Deprecation>) -> (Option<bool>, Option<String>) {
    let replaced_by = deprecation.as_ref().and_then(|known| text(&known.replaced_by));
    (deprecation.as_ref().map(|_| true), replaced_by)
}

fn end_form(end: &EndDefinition) -> wire::TypeEnd {
    wire::TypeEnd { r#type: Some(text(&end.type_name)), many: Some(end.is_many), name: text(&end.name) }
}

fn text(text: &Option<Arc<str>>) -> Option<String> {
    text.as_deref().map(str::to_owned)
}

fn texts(names: &[Arc<str>]) -> Vec<String> {
    names.iter().map(ToString::to_string).collect()
}

fn some<T>(items: Vec<T>) -> Option<Vec<T>> {
    Some(items).filter(|items| !items.is_empty())
}

/// The JSON form of the result of [`annals::Snapshot::verify_type`].
pub fn verification_to_json(outcome: TypeMatch, differences: &[TypeDifference]) -> Json {
    let difference = |found: &TypeDifference| {
        json!({
            "place": found.place, "declared": found.declared, "given": found.given, "conflict": found.is_conflict,
        })
    };
    json!({ "outcome": outcome.name(), "differences": differences.iter().map(difference).collect::<Json>() })
}

/// A type from its JSON form.
pub fn type_from_json(json: &Json) -> Result<TypeDefinition> {
    type_from_form(read(json, "type")?)
}

/// The type that a form describes.
///
/// Errors: `InvalidArgument` for a missing kind or name, and for an unknown kind or value type.
pub fn type_from_form(given: wire::Type) -> Result<TypeDefinition> {
    let what = "type";
    let (kind, name) = named(given.kind, given.name, what)?;
    let ends = (given.from.is_some() || given.to.is_some()).then(|| [end(given.from), end(given.to)]);
    Ok(TypeDefinition {
        description: given.description.unwrap_or_default().into(),
        is_closed: given.closed.unwrap_or_default(),
        supertypes: names(given.supertypes),
        applies_to: names(given.applies_to),
        attributes: attributes(given.attributes)?,
        ends,
        is_propagatable: given.propagatable.unwrap_or_default(),
        is_advisory: given.advisory.unwrap_or_default(),
        containment: given
            .containment
            .map(|known| Containment { is_ordered: known.ordered.unwrap_or_default() }),
        required_children: names(given.required_children),
        unique_together: given
            .unique_together
            .into_iter()
            .flatten()
            .map(|names| self::names(Some(names)))
            .collect(),
        statuses: names(given.statuses),
        initial_status: given.initial_status.map(Into::into),
        external_id: given.external_id.map(Into::into),
        elements: elements(given.elements),
        version: given.version.unwrap_or(1),
        deprecation: deprecation(given.deprecated, given.replaced_by, what)?,
        kind,
        name: name.into(),
    })
}

/// Additions to a type, from their JSON form: `kind`, `name`, and the added or new members.
pub fn type_patch_from_json(json: &Json) -> Result<TypePatch> {
    let what = "patch of a type";
    let given: wire::TypePatch = read(json, what)?;
    let (kind, name) = named(given.kind, given.name, what)?;
    Ok(TypePatch {
        description: given.description.map(Into::into),
        supertypes: names(given.supertypes),
        attributes: attributes(given.attributes)?,
        applies_to: names(given.applies_to),
        statuses: names(given.statuses),
        initial_status: given.initial_status.map(Into::into),
        elements: elements(given.elements),
        version: given.version,
        deprecation: deprecation(given.deprecated, given.replaced_by, what)?,
        ..TypePatch::new(kind, &name)
    })
}

fn named(kind: Option<TypeKindName>, name: Option<String>, what: &str) -> Result<(TypeKind, String)> {
    let missing = |key: &str| invalid(format!("{what}: expected a string as {key:?}, found nothing"));
    let TypeKindName(kind) = kind.ok_or_else(|| missing("kind"))?;
    let known = TypeKind::ALL.into_iter().find(|known| known.name() == kind).ok_or_else(|| {
        let known = TypeKind::ALL.map(TypeKind::name).join(", ");
        invalid(format!("{what}: expected as kind one of {known}, found {kind:?}"))
    })?;
    Ok((known, name.ok_or_else(|| missing("name"))?))
}

fn names(given: Option<Vec<String>>) -> Vec<Arc<str>> {
    given.into_iter().flatten().map(Into::into).collect()
}

fn end(given: Option<wire::TypeEnd>) -> EndDefinition {
    given.map_or(EndDefinition::ANY, |given| EndDefinition {
        type_name: given.r#type.flatten().map(Into::into),
        is_many: given.many.unwrap_or(true),
        name: given.name.map(Into::into),
    })
}

fn elements(given: Option<Vec<wire::EnumElement>>) -> Vec<EnumElement> {
    let element = |given: wire::EnumElement| EnumElement {
        ordinal: given.ordinal,
        name: given.name.into(),
        description: given.description.unwrap_or_default().into(),
    };
    given.into_iter().flatten().map(element).collect()
}

fn deprecation(is_it: Option<bool>, replaced_by: Option<String>, what: &str) -> Result<Option<Deprecation>> {
    match (is_it.unwrap_or(replaced_by.is_some()), replaced_by) {
        (true, replaced_by) => Ok(Some(Deprecation { replaced_by: replaced_by.map(Into::into) })),
        (false, None) => Ok(None),
        (false, Some(_)) => Err(invalid(format!("{what}: it has \"replacedBy\" and is not deprecated"))),
    }
}

fn attributes(given: Option<Vec<wire::Attribute>>) -> Result<Vec<AttributeDefinition>> {
    given.into_iter().flatten().map(attribute).collect()
}

fn attribute(given: wire::Attribute) -> Result<AttributeDefinition> {
    let otherwise = if given.r#enum.is_some() { ValueType::String } else { ValueType::Any };
    let is_key = given.key.unwrap_or_default();
    let declared = AttributeDefinition {
        is_many: given.many.unwrap_or_default(),
        is_required: given.required.unwrap_or(is_key),
        is_unique: given.unique.unwrap_or_default(),
        is_indexed: given.indexed.unwrap_or(true),
        enum_type: given.r#enum.map(Into::into),
        item_type: given.items.map(value_type).transpose()?,
        deprecation: deprecation(given.deprecated, given.replaced_by, "attribute")?,
        is_key,
        pattern: given.pattern.map(Into::into),
        reference: given.reference.map(Into::into),
        ..AttributeDefinition::new(&given.name, given.r#type.map_or(Ok(otherwise), value_type)?)
    };
    let value = |given: Option<Value>| {
        given.map(|Value(json)| Ok::<_, annals::Error>(declared.read(&value_from_json(&json)?))).transpose()
    };
    let (default, minimum, maximum) = (value(given.default)?, value(given.minimum)?, value(given.maximum)?);
    Ok(AttributeDefinition { default, minimum, maximum, ..declared })
}

fn value_type(ValueTypeName(name): ValueTypeName) -> Result<ValueType> {
    ValueType::ALL.into_iter().find(|known| known.name() == name).ok_or_else(|| {
        let known: Vec<&str> = ValueType::ALL.iter().map(|known| known.name()).collect();
        invalid(format!("attribute: unknown value type {name:?}; expected one of {}", known.join(", ")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_reads_back_as_written() {
        let definition = TypeDefinition::relationship("owns")
            .supertype("has")
            .closed()
            .attribute(AttributeDefinition::new("since", ValueType::Date).required().unindexed())
            .attribute(AttributeDefinition::new("tags", ValueType::String).many().default_value("x"))
            .attribute(AttributeDefinition::of_enum("colour", "Colour").deprecated(Some("shade")))
            .attribute(AttributeDefinition::new("notes", ValueType::Map).items(ValueType::String))
            .attribute(AttributeDefinition::new("size", ValueType::Integer).within(1, 9))
            .attribute(
                AttributeDefinition::new("code", ValueType::String)
                    .key()
                    .matching("[a-z]+")
                    .referring_to("/a/b"),
            )
            .containing_in_order()
            .requiring_child("head")
            .unique_together(&["size", "code"])
            .between(EndDefinition::one("person").named("owner"), EndDefinition::ANY)
            .with_statuses(&["draft", "active"])
            .deprecated(None);
        let definition = TypeDefinition {
            external_id: Some("9548390c".into()),
            version: 7,
            is_advisory: true,
            ..definition
        };
        assert_eq!(type_from_json(&type_to_json(&definition)).unwrap(), definition);
        let colour = TypeDefinition::enumeration("Colour").element(0, "red").element(9, "green");
        assert_eq!(type_from_json(&type_to_json(&colour)).unwrap(), colour);
    }
}
