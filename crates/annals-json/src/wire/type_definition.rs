//! Types.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Value as Json, json};

use super::{NamedForm, Page, TypeKindName, Value, ValueTypeName};

/// The forms of this file.
pub fn forms() -> Vec<NamedForm> {
    named_forms![
        Type,
        TypePage,
        Types,
        TypePatch,
        TypeVerification,
        TypeDifference,
        Attribute,
        EnumElement,
        TypeEnd
    ]
}

/// A type: the declaration of entities, relationships, classifications or the values of an enum.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(example = type_example())]
pub struct Type {
    #[serde(flatten)]
    pub shared: TypeMembers,
    /// True if instances may have only properties that attributes declare.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub closed: Option<bool>,
    /// For relationships: the start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<TypeEnd>,
    /// For relationships: the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<TypeEnd>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub propagatable: Option<bool>,
    /// Its id in another system.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub external_id: Option<String>,
    /// True if the engine reports violations but does not refuse them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub advisory: Option<bool>,
    /// For relationships: they lead from a container to its children.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub containment: Option<Containment>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub required_children: Option<Vec<String>>,
    /// Lists of attributes; the values of one list together may occur once among the children of one parent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unique_together: Option<Vec<Vec<String>>>,
}

/// Additions to a type, and new values of its members.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(example = json!({
    "statuses": ["retired"], "attributes": [{ "name": "label", "type": "string", "replacedBy": "name" }],
}))]
pub struct TypePatch {
    #[serde(flatten)]
    pub shared: TypeMembers,
}

// The common members of a type and of a patch of a type.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub struct TypeMembers {
    /// The kind in the path, if it may be left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<TypeKindName>,
    /// The name in the path, if it may be left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub supertypes: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attributes: Option<Vec<Attribute>>,
    /// For classifications: the types of entities that may have it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub applies_to: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub statuses: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_status: Option<String>,
    /// For enums: their values.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elements: Option<Vec<EnumElement>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deprecated: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replaced_by: Option<String>,
    /// 1 if left out; in a patch, one more than before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<u64>,
}

// The rules of containment.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub struct Containment {
    /// True if users order the children; false if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ordered: Option<bool>,
}

/// A page of types.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(example = json!({ "items": [type_example()], "next": null }))]
pub struct TypePage(pub Page<Type>);

/// Types to declare together.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = json!({ "types": [type_example()] }))]
pub struct Types {
    pub types: Vec<Type>,
}

/// The comparison of a type with the declared one.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = json!({ "outcome": "conflicting", "differences": [difference_example()] }))]
pub struct TypeVerification {
    pub outcome: TypeOutcome,
    pub differences: Vec<TypeDifference>,
}

// The result of a comparison of types.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum TypeOutcome {
    Unknown,
    Equal,
    Compatible,
    Conflicting,
}

/// A difference between two types.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = difference_example())]
pub struct TypeDifference {
    pub place: String,
    pub declared: String,
    pub given: String,
    /// True if the given type cannot replace the declared one.
    pub conflict: bool,
}

/// The declaration of a property.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(example = json!({ "name": "name", "type": "string", "required": true }))]
pub struct Attribute {
    pub name: String,
    /// `any` if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub r#type: Option<ValueTypeName>,
    /// True if it may have several values.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub many: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub required: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unique: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub indexed: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<Value>,
    /// Name of the enum with its values.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub r#enum: Option<String>,
    /// The type of the items of a list or a map.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub items: Option<ValueTypeName>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deprecated: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replaced_by: Option<String>,
    /// True if it is part of the name in the parent; then it is also required.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub minimum: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub maximum: Option<Value>,
    /// A regular expression for the whole text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    /// A path of names to a property that must have its value, such as `/interface/name`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
}

/// A value of an enum.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = json!({ "ordinal": 0, "name": "red" }))]
pub struct EnumElement {
    pub ordinal: u64,
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// An end of the relationships of a type.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = json!({ "type": "package", "many": true, "name": "dependents" }))]
pub struct TypeEnd {
    /// The type of the entity there; null for any.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    #[schemars(schema_with = "text_or_null")]
    pub r#type: Option<Option<String>>,
    /// False if an entity at the other end has at most one such relationship.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub many: Option<bool>,
    /// The name of this end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// A required member that may be null.
fn present<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Option<String>>, D::Error> {
    Option::deserialize(from).map(Some)
}

fn text_or_null(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "oneOf": [{ "type": "string" }, { "type": "null" }] })
}

fn type_example() -> Json {
    json!({
        "kind": "entity", "name": "package", "closed": false, "statuses": ["draft", "active"],
        "initialStatus": "draft", "externalId": "283a127d-3acd-4d64-b558-1fce9db9a35b",
        "attributes": [{ "name": "name", "type": "string", "required": true }],
    })
}

fn difference_example() -> Json {
    json!({
        "place": "attribute size: value type", "declared": "integer", "given": "string", "conflict": true,
    })
}
