//! Instances, as the door writes them in JSON: what commands show of them.

use annals::{Value, ValueType};
use annals_exchange::text::{joined, value_to_text};
use annals_json::{Object, provenance_from_json, value_from_json};
use serde_json::Value as Json;

use crate::output::{properties_summary, provenance_texts};

/// An instance, or another object of an answer.
#[derive(Clone, Copy)]
pub struct Shown<'j>(pub &'j Json);

impl<'j> Shown<'j> {
    /// A member that is a text; empty if it is missing.
    pub fn text(self, name: &str) -> &'j str {
        self.0.get(name).and_then(Json::as_str).unwrap_or_default()
    }

    /// A member that is a text, if it is there.
    pub fn optional(self, name: &str) -> Option<&'j str> {
        self.0.get(name).and_then(Json::as_str)
    }

    /// A member that is a number; 0 if it is missing.
    pub fn number(self, name: &str) -> u64 {
        self.0.get(name).and_then(Json::as_u64).unwrap_or_default()
    }

    /// True if a flag is set.
    pub fn is(self, name: &str) -> bool {
        self.0.get(name).and_then(Json::as_bool).unwrap_or_default()
    }

    /// A member that is an object, or any other value.
    pub fn of(self, name: &str) -> Shown<'j> {
        Shown(self.0.get(name).unwrap_or(&Json::Null))
    }

    /// The elements of a member that is an array.
    pub fn all(self, name: &str) -> impl Iterator<Item = Shown<'j>> + use<'j> {
        self.0.get(name).and_then(Json::as_array).into_iter().flatten().map(Shown)
    }

    /// The members of an object, by name.
    pub fn members(self) -> impl Iterator<Item = (&'j str, &'j Json)> + use<'j> {
        self.0.as_object().into_iter().flatten().map(|(name, value)| (name.as_str(), value))
    }

    /// Its properties, by name.
    pub fn properties(self) -> impl Iterator<Item = (&'j str, Value)> + use<'j> {
        self.of("properties").members().map(|(name, value)| (name, value_of(value)))
    }

    /// Its properties on one line, shortened.
    pub fn summary(self) -> String {
        properties_summary(self.properties())
    }

    /// Its classifications with their properties, on one line.
    pub fn classifications(self) -> String {
        let named = self.of("classifications").members();
        joined(named.map(|(name, known)| match Shown(known).summary() {
            properties if properties.is_empty() => name.to_owned(),
            properties => format!("{name} ({properties})"),
        }))
    }

    /// The fields of its provenance as text; missing fields are left out.
    pub fn provenance(self) -> Vec<(&'static str, String)> {
        let none = Object::new();
        let known = provenance_from_json(self.0.as_object().unwrap_or(&none), "instance");
        known.as_ref().map(provenance_texts).unwrap_or_default()
    }

    /// The row of an entity in a list: id, type, properties.
    pub fn entity_row(self) -> [String; 3] {
        [self.text("id").to_owned(), self.text("type").to_owned(), self.summary()]
    }

    /// The row of a relationship in a list: id, from, type, to, properties.
    pub fn relationship_row(self) -> [String; 5] {
        let [id, from, type_name, to] = ["id", "from", "type", "to"].map(|name| self.text(name).to_owned());
        [id, from, type_name, to, self.summary()]
    }
}

/// A value from its JSON form; a form of a newer version is shown as it is.
pub fn value_of(json: &Json) -> Value {
    value_from_json(json).unwrap_or_else(|_| Value::from(json.to_string()))
}

/// The two sides of a change of a value. If only their kind differs, each says its own.
pub fn value_sides(sides: Shown) -> [Option<String>; 2] {
    let [before, after] = ["before", "after"].map(|side| sides.of(side).0);
    let texts = [before, after].map(value_text);
    if texts[0].is_none() || texts[0] != texts[1] {
        return texts;
    }
    [before, after]
        .map(|side| value_text(side).map(|text| format!("{text} ({})", kind_text(&value_of(side)))))
}

/// The kind of a value, for people.
fn kind_text(value: &Value) -> String {
    let name = |value: &Value| match value.value_type() {
        ValueType::String => "text",
        value_type => value_type.name(),
    };
    match value {
        Value::List(values) if !values.is_empty() => format!("list of {}", name(&values[0])),
        Value::Set(values) => match values.iter().next() {
            Some(first) => format!("set of {}", name(&first)),
            None => "set".to_owned(),
        },
        value => name(value).to_owned(),
    }
}

/// A value on one line; nothing for null.
pub fn value_text(json: &Json) -> Option<String> {
    (!json.is_null()).then(|| value_to_text(&value_of(json)))
}
