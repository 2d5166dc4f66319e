//! What schemas are made of: texts, numbers, lists, objects, pages, and references to other schemas.

use serde_json::{Value as Json, json};

/// A reference to a schema.
pub fn reference(name: &str) -> Json {
    json!({ "$ref": format!("#/components/schemas/{name}") })
}

/// Any text.
pub fn text() -> Json {
    json!({ "type": "string" })
}

/// A whole number from 0.
pub fn number() -> Json {
    json!({ "type": "integer", "minimum": 0 })
}

/// True or false.
pub fn flag() -> Json {
    json!({ "type": "boolean" })
}

/// An instant.
pub fn instant() -> Json {
    json!({ "type": "string", "format": "date-time" })
}

/// A list of these.
pub fn list(items: Json) -> Json {
    json!({ "type": "array", "items": items })
}

/// An object with any names, and these under them.
pub fn map(values: Json) -> Json {
    json!({ "type": "object", "additionalProperties": values })
}

/// An object that has any members.
pub fn any_object() -> Json {
    json!({ "type": "object", "additionalProperties": true })
}

/// An object that has all these members and no other.
pub fn object(members: Json) -> Json {
    let required: Vec<String> = members.as_object().expect("members are an object").keys().cloned().collect();
    json!({ "type": "object", "properties": members, "required": required, "additionalProperties": false })
}

/// An object of which only some members must be there.
pub fn partial(required: &[&str], members: Json) -> Json {
    json!({ "type": "object", "properties": members, "required": required, "additionalProperties": false })
}

/// A page of these, and how many there are of them in all if they are counted.
pub fn page_of(items: Json, counted: bool) -> Json {
    let mut members = json!({ "items": list(items), "next": { "type": ["string", "null"] } });
    if counted {
        members["count"] = number();
    }
    object(members)
}

/// The members of both objects.
pub fn joined(mut json: Json, more: Json) -> Json {
    if let (Json::Object(known), Json::Object(more)) = (&mut json, more) {
        known.extend(more);
    }
    json
}

/// All members together.
pub fn with(parts: &[Json]) -> Json {
    let members = parts.iter().filter_map(Json::as_object).flatten();
    Json::Object(members.map(|(name, value)| (name.clone(), value.clone())).collect())
}

/// The kind of a type.
pub fn type_kinds() -> Json {
    json!({ "type": "string", "enum": annals::TypeKind::ALL.map(annals::TypeKind::name) })
}
