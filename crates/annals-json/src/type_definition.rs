//! Type definitions as JSON.

use annals::{
    AttributeDefinition, Containment, Deprecation, EndDefinition, EnumElement, Result, TypeDefinition,
    TypeDifference, TypeKind, TypeMatch, TypePatch, ValueType,
};
use serde_json::{Value as Json, json};

use super::{
    Object, array, boolean, invalid, kind, number, object, only, optional_text, text, value_from_json,
    value_to_json,
};

/// The JSON form of a type.
pub fn type_to_json(definition: &TypeDefinition) -> Json {
    let texts =
        |names: &[std::sync::Arc<str>]| names.iter().map(|name| Json::from(&**name)).collect::<Json>();
    let mut json = json!({
        "kind": definition.kind.name(),
        "name": &*definition.name,
        "description": &*definition.description,
        "supertypes": texts(&definition.supertypes),
        "closed": definition.is_closed,
        "attributes": definition.attributes.iter().map(attribute_to_json).collect::<Json>(),
    });
    if let Some([from, to]) = &definition.ends {
        json["from"] = end_to_json(from);
        json["to"] = end_to_json(to);
    }
    if definition.kind == TypeKind::Classification {
        json["appliesTo"] = texts(&definition.applies_to);
    }
    // Members that are not set are left out.
    for (name, is_set) in [("propagatable", definition.is_propagatable), ("advisory", definition.is_advisory)]
    {
        if is_set {
            json[name] = true.into();
        }
    }
    if let Some(Containment { is_ordered }) = definition.containment {
        json["containment"] = json!({ "ordered": is_ordered });
    }
    if !definition.required_children.is_empty() {
        json["requiredChildren"] = texts(&definition.required_children);
    }
    if !definition.unique_together.is_empty() {
        json["uniqueTogether"] = definition.unique_together.iter().map(|names| texts(names)).collect();
    }
    if !definition.statuses.is_empty() {
        json["statuses"] = texts(&definition.statuses);
    }
    for (name, text) in
        [("initialStatus", &definition.initial_status), ("externalId", &definition.external_id)]
    {
        if let Some(text) = text {
            json[name] = (&**text).into();
        }
    }
    if !definition.elements.is_empty() {
        json["elements"] = definition.elements.iter().map(element_to_json).collect();
    }
    if definition.version != 1 {
        json["version"] = definition.version.into();
    }
    deprecation_to_json(definition.deprecation.as_ref(), &mut json);
    json
}

fn attribute_to_json(attribute: &AttributeDefinition) -> Json {
    let mut json = json!({
        "name": &*attribute.name,
        "type": attribute.value_type.name(),
        "many": attribute.is_many,
        "required": attribute.is_required,
        "unique": attribute.is_unique,
        "indexed": attribute.is_indexed,
    });
    for (name, value) in
        [("default", &attribute.default), ("minimum", &attribute.minimum), ("maximum", &attribute.maximum)]
    {
        if let Some(value) = value {
            json[name] = value_to_json(value);
        }
    }
    for (name, text) in
        [("enum", &attribute.enum_type), ("pattern", &attribute.pattern), ("reference", &attribute.reference)]
    {
        if let Some(text) = text {
            json[name] = (&**text).into();
        }
    }
    if attribute.is_key {
        json["key"] = true.into();
    }
    if let Some(item_type) = attribute.item_type {
        json["items"] = item_type.name().into();
    }
    deprecation_to_json(attribute.deprecation.as_ref(), &mut json);
    json
}

fn element_to_json(element: &EnumElement) -> Json {
    let mut json = json!({ "ordinal": element.ordinal, "name": &*element.name });
    if !element.description.is_empty() {
        json["description"] = (&*element.description).into();
    }
    json
}

fn deprecation_to_json(deprecation: Option<&Deprecation>, json: &mut Json) {
    let Some(Deprecation { replaced_by }) = deprecation else { return };
    json["deprecated"] = true.into();
    if let Some(name) = replaced_by {
        json["replacedBy"] = (&**name).into();
    }
}

fn end_to_json(end: &EndDefinition) -> Json {
    let mut json = json!({ "type": end.type_name.as_deref(), "many": end.is_many });
    if let Some(name) = &end.name {
        json["name"] = (&**name).into();
    }
    json
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
    let what = "type";
    let fields = object(json, what)?;
    only(fields, what, &[SHARED_FIELDS, TYPE_FIELDS].concat())?;
    let name = text(fields, what, "name")?;
    let mut definition = match kind_from_json(fields, what)? {
        TypeKind::Entity => TypeDefinition::entity(name),
        TypeKind::Relationship => TypeDefinition::relationship(name),
        TypeKind::Classification => TypeDefinition::classification(name),
        TypeKind::Enum => TypeDefinition::enumeration(name),
    };
    definition.description = optional_text(fields, what, "description")?.unwrap_or_default().into();
    definition.is_closed = boolean(fields, what, "closed", false)?;
    definition.supertypes = names(array(fields, what, "supertypes")?)?;
    definition.applies_to = names(array(fields, what, "appliesTo")?)?;
    for attribute in array(fields, what, "attributes")? {
        definition.attributes.push(attribute_from_json(attribute)?);
    }
    if fields.contains_key("from") || fields.contains_key("to") {
        let end = |key: &str| fields.get(key).map_or(Ok(EndDefinition::ANY), end_from_json);
        definition.ends = Some([end("from")?, end("to")?]);
    }
    definition.is_propagatable = boolean(fields, what, "propagatable", false)?;
    definition.is_advisory = boolean(fields, what, "advisory", false)?;
    definition.containment = fields.get("containment").map(containment).transpose()?;
    definition.required_children = names(array(fields, what, "requiredChildren")?)?;
    for together in array(fields, what, "uniqueTogether")? {
        let Json::Array(together) = together else {
            return Err(invalid(format!(
                "type, uniqueTogether: expected lists of attributes, found {}",
                kind(together)
            )));
        };
        definition.unique_together.push(names(together)?);
    }
    definition.statuses = names(array(fields, what, "statuses")?)?;
    definition.initial_status = optional_text(fields, what, "initialStatus")?.map(Into::into);
    definition.external_id = optional_text(fields, what, "externalId")?.map(Into::into);
    definition.elements = elements(fields)?;
    definition.version = number(fields, what, "version")?.unwrap_or(1);
    definition.deprecation = deprecation(fields, what)?;
    Ok(definition)
}

/// Additions to a type, from their JSON form: `kind`, `name`, and the added or new members.
pub fn type_patch_from_json(json: &Json) -> Result<TypePatch> {
    let what = "patch of a type";
    let fields = object(json, what)?;
    only(fields, what, SHARED_FIELDS)?;
    let mut patch = TypePatch::new(kind_from_json(fields, what)?, text(fields, what, "name")?);
    patch.description = optional_text(fields, what, "description")?.map(Into::into);
    patch.supertypes = names(array(fields, what, "supertypes")?)?;
    patch.applies_to = names(array(fields, what, "appliesTo")?)?;
    patch.statuses = names(array(fields, what, "statuses")?)?;
    patch.initial_status = optional_text(fields, what, "initialStatus")?.map(Into::into);
    patch.elements = elements(fields)?;
    patch.version = number(fields, what, "version")?;
    patch.deprecation = deprecation(fields, what)?;
    for attribute in array(fields, what, "attributes")? {
        patch.attributes.push(attribute_from_json(attribute)?);
    }
    Ok(patch)
}

/// Members of a type that a patch has, too.
const SHARED_FIELDS: &[&str] = &[
    "kind",
    "name",
    "description",
    "supertypes",
    "attributes",
    "appliesTo",
    "statuses",
    "initialStatus",
    "elements",
    "deprecated",
    "replacedBy",
    "version",
];

const TYPE_FIELDS: &[&str] = &[
    "closed",
    "from",
    "to",
    "propagatable",
    "externalId",
    "advisory",
    "containment",
    "requiredChildren",
    "uniqueTogether",
];

fn containment(json: &Json) -> Result<Containment> {
    let what = "containment";
    let fields = object(json, what)?;
    only(fields, what, &["ordered"])?;
    Ok(Containment { is_ordered: boolean(fields, what, "ordered", false)? })
}

fn kind_from_json(fields: &Object, what: &str) -> Result<TypeKind> {
    let name = text(fields, what, "kind")?;
    TypeKind::ALL.into_iter().find(|kind| kind.name() == name).ok_or_else(|| {
        let known = TypeKind::ALL.map(TypeKind::name).join(", ");
        invalid(format!("{what}: expected as kind one of {known}, found {name:?}"))
    })
}

fn elements(fields: &Object) -> Result<Vec<EnumElement>> {
    let what = "enum element";
    array(fields, "type", "elements")?
        .iter()
        .map(|json| {
            let fields = object(json, what)?;
            only(fields, what, &["ordinal", "name", "description"])?;
            Ok(EnumElement {
                ordinal: number(fields, what, "ordinal")?.ok_or_else(|| {
                    invalid("enum element: expected a number as \"ordinal\", found nothing")
                })?,
                name: text(fields, what, "name")?.into(),
                description: optional_text(fields, what, "description")?.unwrap_or_default().into(),
            })
        })
        .collect()
}

fn deprecation(fields: &Object, what: &str) -> Result<Option<Deprecation>> {
    let replaced_by = optional_text(fields, what, "replacedBy")?.map(Into::into);
    let is_deprecated = boolean(fields, what, "deprecated", replaced_by.is_some())?;
    match (is_deprecated, replaced_by) {
        (true, replaced_by) => Ok(Some(Deprecation { replaced_by })),
        (false, None) => Ok(None),
        (false, Some(_)) => Err(invalid(format!("{what}: it has \"replacedBy\" and is not deprecated"))),
    }
}

fn names(items: &[Json]) -> Result<Vec<std::sync::Arc<str>>> {
    items
        .iter()
        .map(|item| {
            item.as_str()
                .map(Into::into)
                .ok_or_else(|| invalid(format!("type: expected the name of a type, found {}", kind(item))))
        })
        .collect()
}

fn attribute_from_json(json: &Json) -> Result<AttributeDefinition> {
    let what = "attribute";
    let fields = object(json, what)?;
    only(
        fields,
        what,
        &[
            "name",
            "type",
            "many",
            "required",
            "unique",
            "indexed",
            "default",
            "enum",
            "items",
            "deprecated",
            "replacedBy",
            "key",
            "minimum",
            "maximum",
            "pattern",
            "reference",
        ],
    )?;
    let enum_type = optional_text(fields, what, "enum")?;
    let otherwise = if enum_type.is_some() { "string" } else { "any" };
    let held = value_type(optional_text(fields, what, "type")?.unwrap_or(otherwise))?;
    let is_key = boolean(fields, what, "key", false)?;
    let declared = AttributeDefinition {
        is_many: boolean(fields, what, "many", false)?,
        is_required: boolean(fields, what, "required", is_key)?,
        is_unique: boolean(fields, what, "unique", false)?,
        is_indexed: boolean(fields, what, "indexed", true)?,
        enum_type: enum_type.map(Into::into),
        item_type: optional_text(fields, what, "items")?.map(value_type).transpose()?,
        deprecation: deprecation(fields, what)?,
        is_key,
        pattern: optional_text(fields, what, "pattern")?.map(Into::into),
        reference: optional_text(fields, what, "reference")?.map(Into::into),
        ..AttributeDefinition::new(text(fields, what, "name")?, held)
    };
    let value = |name: &str| {
        let value = fields.get(name).map(value_from_json).transpose();
        Ok::<_, annals::Error>(value?.map(|value| declared.read(&value)))
    };
    let (default, minimum, maximum) = (value("default")?, value("minimum")?, value("maximum")?);
    Ok(AttributeDefinition { default, minimum, maximum, ..declared })
}

fn value_type(name: &str) -> Result<ValueType> {
    ValueType::ALL.into_iter().find(|known| known.name() == name).ok_or_else(|| {
        let known: Vec<&str> = ValueType::ALL.iter().map(|known| known.name()).collect();
        invalid(format!("attribute: unknown value type {name:?}; expected one of {}", known.join(", ")))
    })
}

fn end_from_json(json: &Json) -> Result<EndDefinition> {
    let what = "relationship end";
    let fields = object(json, what)?;
    only(fields, what, &["type", "many", "name"])?;
    Ok(EndDefinition {
        type_name: optional_text(fields, what, "type")?.map(Into::into),
        is_many: boolean(fields, what, "many", true)?,
        name: optional_text(fields, what, "name")?.map(Into::into),
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
