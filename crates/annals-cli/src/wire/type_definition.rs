//! Type definitions as JSON.

use annals::{AttributeDefinition, EndDefinition, Result, TypeDefinition, TypeKind, ValueType};
use serde_json::{Value as Json, json};

use super::{
    array, boolean, invalid, kind, object, only, optional_text, text, value_from_json, value_to_json,
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
    if let Some(value) = &attribute.default {
        json["default"] = value_to_json(value);
    }
    json
}

fn end_to_json(end: &EndDefinition) -> Json {
    json!({ "type": end.type_name.as_deref(), "many": end.is_many })
}

/// A type from its JSON form.
pub fn type_from_json(json: &Json) -> Result<TypeDefinition> {
    let what = "type";
    let fields = object(json, what)?;
    only(
        fields,
        what,
        &["kind", "name", "description", "supertypes", "closed", "attributes", "from", "to", "appliesTo"],
    )?;
    let name = text(fields, what, "name")?;
    let mut definition = match text(fields, what, "kind")? {
        "entity" => TypeDefinition::entity(name),
        "relationship" => TypeDefinition::relationship(name),
        "classification" => TypeDefinition::classification(name),
        unknown => {
            return Err(invalid(format!(
                "type {name}: expected kind entity, relationship or classification, found {unknown:?}"
            )));
        }
    };
    definition.description = optional_text(fields, what, "description")?.unwrap_or_default().into();
    definition.is_closed = boolean(fields, what, "closed", false)?;
    definition.supertypes = names(array(fields, what, "supertypes")?)?;
    definition.applies_to = names(array(fields, what, "appliesTo")?)?;
    for attribute in array(fields, what, "attributes")? {
        definition.attributes.push(attribute_from_json(attribute)?);
    }
    if fields.contains_key("from") || fields.contains_key("to") {
        let end = |key: &str| fields.get(key).map_or(Ok(ANY_END), end_from_json);
        definition.ends = Some([end("from")?, end("to")?]);
    }
    Ok(definition)
}

const ANY_END: EndDefinition = EndDefinition { type_name: None, is_many: true };

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
    only(fields, what, &["name", "type", "many", "required", "unique", "indexed", "default"])?;
    let type_name = optional_text(fields, what, "type")?.unwrap_or("any");
    let value_type = ValueType::ALL.into_iter().find(|known| known.name() == type_name).ok_or_else(|| {
        let known: Vec<&str> = ValueType::ALL.iter().map(|known| known.name()).collect();
        invalid(format!("attribute: unknown value type {type_name:?}; expected one of {}", known.join(", ")))
    })?;
    Ok(AttributeDefinition {
        is_many: boolean(fields, what, "many", false)?,
        is_required: boolean(fields, what, "required", false)?,
        is_unique: boolean(fields, what, "unique", false)?,
        is_indexed: boolean(fields, what, "indexed", true)?,
        default: fields.get("default").map(value_from_json).transpose()?,
        ..AttributeDefinition::new(text(fields, what, "name")?, value_type)
    })
}

fn end_from_json(json: &Json) -> Result<EndDefinition> {
    let what = "relationship end";
    let fields = object(json, what)?;
    only(fields, what, &["type", "many"])?;
    Ok(EndDefinition {
        type_name: optional_text(fields, what, "type")?.map(Into::into),
        is_many: boolean(fields, what, "many", true)?,
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
            .between(EndDefinition::one("person"), ANY_END);
        assert_eq!(type_from_json(&type_to_json(&definition)).unwrap(), definition);
    }
}
