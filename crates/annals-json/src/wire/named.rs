//! Named forms: their schemas, and the check that JSON has exactly the members of its type.

use schemars::generate::{Contract, SchemaSettings};
use schemars::transform::{Transform, transform_subschemas};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value as Json};

/// A JSON form with a name in the document.
#[derive(Clone)]
pub struct NamedForm {
    name: String,
    add: fn(&mut SchemaGenerator),
    write_again: fn(&Json) -> serde_json::Result<Json>,
}

/// Defines the function `forms` of a file: the forms with these types.
#[macro_export]
macro_rules! named_forms {
    ($($name:ty),* $(,)?) => {
        /// The forms of this file.
        pub fn forms() -> Vec<$crate::wire::NamedForm> {
            vec![$($crate::wire::NamedForm::of::<$name>()),*]
        }
    };
}

impl NamedForm {
    /// The form of a type.
    pub fn of<T: JsonSchema + DeserializeOwned + Serialize>() -> NamedForm {
        NamedForm {
            name: T::schema_name().into_owned(),
            add: |generator| drop(generator.subschema_for::<T>()),
            write_again: |json| serde_json::to_value(T::deserialize(json)?),
        }
    }

    /// Its name in the document.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Checks that JSON has this form: the type parses it, and writes the same.
    ///
    /// Errors: a text with the part that cannot be parsed, or with the different output.
    pub fn check(&self, json: &Json) -> Result<(), String> {
        let written = (self.write_again)(json).map_err(|error| format!("{error} in {json}"))?;
        if &written == json { Ok(()) } else { Err(format!("{json} is written as {written}")) }
    }
}

/// The schemas of these forms and of all forms that they refer to, by name, with examples.
///
/// Shape: JSON Schema 2020-12, as in OpenAPI 3.1; references lead to `#/components/schemas/`.
pub fn schemas_of(forms: &[NamedForm]) -> Map<String, Json> {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.definitions_path = "/components/schemas".into();
        settings.contract = Contract::Serialize;
        settings.transforms = vec![Box::new(Plain)];
    });
    let mut generator = settings.into_generator();
    forms.iter().for_each(|form| (form.add)(&mut generator));
    generator.take_definitions(true)
}

/// Removes parts that clients do not need: sizes of numbers, and null for optional members.
#[derive(Clone)]
struct Plain;

impl Transform for Plain {
    fn transform(&mut self, schema: &mut Schema) {
        // A size of Rust, such as uint64, which client generators do not know.
        if ["integer", "number"].iter().any(|name| has_type(schema, name)) {
            schema.remove("format");
        }
        if let Some(Json::Object(members)) = schema.get("properties") {
            let required = schema.get("required").and_then(Json::as_array);
            let is_required =
                |name: &String| required.is_some_and(|known| known.iter().any(|one| one == name));
            let optional: Vec<String> = members.keys().filter(|name| !is_required(name)).cloned().collect();
            let Some(Json::Object(members)) = schema.get_mut("properties") else { return };
            for name in optional {
                members.get_mut(&name).into_iter().for_each(without_null);
            }
        }
        // Null is never one of the other forms.
        if let Some(Json::Array(forms)) = schema.get("anyOf")
            && forms.iter().any(is_null)
        {
            one_of(schema);
        }
        // For an enum with null among its words, and for one beside null, client generators make several classes.
        if let Some(Json::Array(words)) = schema.get("enum")
            && words.contains(&Json::Null)
        {
            let mut words = std::mem::take(schema).to_value();
            without_null(&mut words);
            *schema = json_schema!({ "oneOf": [words, { "type": "null" }] });
        }
        // Order: the null of an `Option` must still be in `anyOf` at this point.
        transform_subschemas(self, schema);
        // Transforms do not visit the schema of a text's content.
        if let Some(Ok(inner)) = schema.get_mut("contentSchema").map(TryInto::try_into) {
            self.transform(inner);
        }
    }
}

/// Marks the forms of an untagged enum as exclusive.
pub fn one_of(schema: &mut Schema) {
    if let Some(forms) = schema.remove("anyOf") {
        schema.insert("oneOf".into(), forms);
    }
}

fn has_type(schema: &Schema, name: &str) -> bool {
    match schema.get("type") {
        Some(Json::Array(names)) => names.iter().any(|known| known == name),
        Some(known) => known == name,
        None => false,
    }
}

fn is_null(schema: &Json) -> bool {
    schema["type"] == "null"
}

/// Removes the null that an `Option` adds to its schema.
fn without_null(schema: &mut Json) {
    let Json::Object(members) = schema else { return };
    if let Some(Json::Array(names)) = members.get_mut("type") {
        names.retain(|name| name != "null");
        if let [name] = &names[..] {
            members["type"] = name.clone();
        }
    }
    if let Some(Json::Array(values)) = members.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
    // An `Option` of a reference, or of one of several forms.
    if let Some(Json::Array(forms)) = members.get_mut("anyOf") {
        forms.retain(|form| !is_null(form));
        if let [Json::Object(only)] = &mut forms[..] {
            let only = std::mem::take(only);
            members.remove("anyOf");
            // The description of the member is more specific than that of its type.
            for (name, value) in only {
                members.entry(name).or_insert(value);
            }
        }
    }
}
