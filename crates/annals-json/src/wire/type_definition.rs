//! Types.

use annals_json_form::form;
use schemars::{Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer};
use serde_json::{Value as Json, json};

use super::{Instant, Page, TypeKindName, Value, ValueTypeName};

named_forms![
    Type,
    TypePage,
    Types,
    TypePatch,
    TypesReceipt,
    TypeVerification,
    TypeDifference,
    Attribute,
    EnumElement,
    TypeEnd
];

/// The result of declaring types.
#[form]
#[schemars(example = json!({ "position": 42, "instant": "2025-08-09T10:00:00Z", "changes": 1 }))]
pub struct TypesReceipt {
    pub position: u64,
    pub instant: Instant,
    /// Number of types that are new, or extended.
    pub changes: u64,
}

/// A type: the declaration of entities, relationships, classifications or the values of an enum.
#[form]
#[schemars(example = type_example())]
pub struct Type {
    /// The kind in the path, if it may be left out.
    pub kind: Option<TypeKindName>,
    /// The name in the path, if it may be left out.
    pub name: Option<String>,
    pub description: Option<String>,
    pub supertypes: Option<Vec<String>>,
    pub attributes: Option<Vec<Attribute>>,
    /// For classifications: the types of entities that may have it.
    pub applies_to: Option<Vec<String>>,
    pub statuses: Option<Vec<String>>,
    pub initial_status: Option<String>,
    /// For enums: their values.
    pub elements: Option<Vec<EnumElement>>,
    pub deprecated: Option<bool>,
    pub replaced_by: Option<String>,
    /// 1 if left out; in a patch, one more than before.
    pub version: Option<u32>,
    /// True if instances may have only properties that attributes declare.
    pub closed: Option<bool>,
    /// For relationships: the start.
    pub from: Option<TypeEnd>,
    /// For relationships: the end.
    pub to: Option<TypeEnd>,
    pub propagatable: Option<bool>,
    /// Its id in another system.
    pub external_id: Option<String>,
    /// True if the engine reports violations but does not refuse them.
    pub advisory: Option<bool>,
    /// For relationships: they lead from a container to its children.
    pub containment: Option<Containment>,
    pub required_children: Option<Vec<String>>,
    /// Lists of attributes; the values of one list together may occur once among the children of one parent.
    pub unique_together: Option<Vec<Vec<String>>>,
}

/// Additions to a type, and new values of its members.
#[form]
#[schemars(example = json!({
    "statuses": ["retired"], "attributes": [{ "name": "label", "type": "string", "replacedBy": "name" }],
}))]
pub struct TypePatch {
    /// The kind in the path, if it may be left out.
    pub kind: Option<TypeKindName>,
    /// The name in the path, if it may be left out.
    pub name: Option<String>,
    pub description: Option<String>,
    pub supertypes: Option<Vec<String>>,
    pub attributes: Option<Vec<Attribute>>,
    /// For classifications: the types of entities that may have it.
    pub applies_to: Option<Vec<String>>,
    pub statuses: Option<Vec<String>>,
    pub initial_status: Option<String>,
    /// For enums: their values.
    pub elements: Option<Vec<EnumElement>>,
    pub deprecated: Option<bool>,
    pub replaced_by: Option<String>,
    /// 1 if left out; in a patch, one more than before.
    pub version: Option<u32>,
}

// The rules of containment.
#[form(inline)]
pub struct Containment {
    /// True if users order the children; false if left out.
    pub ordered: Option<bool>,
}

/// A page of types.
#[form]
#[schemars(example = json!({ "items": [type_example()], "next": null }))]
pub struct TypePage(pub Page<Type>);

/// Types to declare together.
#[form]
#[schemars(example = json!({ "types": [type_example()] }))]
pub struct Types {
    pub types: Vec<Type>,
}

/// The comparison of a type with the declared one.
#[form]
#[schemars(example = json!({ "outcome": "conflicting", "differences": [difference_example()] }))]
pub struct TypeVerification {
    pub outcome: TypeOutcome,
    pub differences: Vec<TypeDifference>,
}

// The result of a comparison of types.
#[form(inline)]
pub enum TypeOutcome {
    Unknown,
    Equal,
    Compatible,
    Conflicting,
}

/// A difference between two types.
#[form]
#[schemars(example = difference_example())]
pub struct TypeDifference {
    pub place: String,
    pub declared: String,
    pub given: String,
    /// True if the given type cannot replace the declared one.
    pub conflict: bool,
}

/// The declaration of a property.
#[form]
#[schemars(example = json!({ "name": "name", "type": "string", "required": true }))]
pub struct Attribute {
    pub name: String,
    /// `any` if left out.
    pub r#type: Option<ValueTypeName>,
    /// True if it may have several values.
    pub many: Option<bool>,
    pub required: Option<bool>,
    pub unique: Option<bool>,
    pub indexed: Option<bool>,
    pub default: Option<Value>,
    /// Name of the enum with its values.
    pub r#enum: Option<String>,
    /// The type of the items of a list or a map.
    pub items: Option<ValueTypeName>,
    pub deprecated: Option<bool>,
    pub replaced_by: Option<String>,
    /// True if it is part of the name in the parent; then it is also required.
    pub key: Option<bool>,
    pub minimum: Option<Value>,
    pub maximum: Option<Value>,
    /// A regular expression for the whole text.
    pub pattern: Option<String>,
    /// A path of names to a property that must have its value, such as `/interface/name`.
    pub reference: Option<String>,
}

/// A value of an enum.
#[form]
#[schemars(example = json!({ "ordinal": 0, "name": "red" }))]
pub struct EnumElement {
    pub ordinal: u32,
    pub name: String,
    pub description: Option<String>,
}

/// An end of the relationships of a type.
#[form]
#[schemars(example = json!({ "type": "package", "many": true, "name": "dependents" }))]
pub struct TypeEnd {
    /// The type of the entity there; null for any.
    #[serde(default, deserialize_with = "present")]
    #[schemars(schema_with = "text_or_null")]
    pub r#type: Option<Option<String>>,
    /// False if an entity at the other end has at most one such relationship.
    pub many: Option<bool>,
    /// The name of this end.
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
