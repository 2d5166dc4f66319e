//! Schemas of what is no form of its own: references, and parameters that several endpoints have.

use serde_json::{Value as Json, json};

/// A reference to a schema.
pub fn reference(name: &str) -> Json {
    json!({ "$ref": format!("#/components/schemas/{name}") })
}

/// The kind of a type.
pub fn type_kinds() -> Json {
    json!({ "type": "string", "enum": annals::TypeKind::ALL.map(annals::TypeKind::name) })
}
