//! Reads plain JSON objects as entities or relationships: a user says which members hold their ids.

use annals::{Action, Id, NewEntity, NewRelationship, Result};
use annals_json::{Object, invalid, kind};
use serde_json::Value as Json;

use super::csv::Plain;
use super::instance_line::stated;
use super::json::wrapped;
use super::operation::Operation;

/// The type of entities for which neither a file nor an option names one.
pub const UNLABELLED: &str = "node";
/// The keys of lines in the native form.
const NATIVE: [&str; 5] = ["type", "entity", "relationship", "record", "collection"];

/// How plain objects become instances.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlainObjects {
    plain: Plain,
    type_name: Option<String>,
}

impl PlainObjects {
    /// Objects whose ids, or the ids of whose ends, are in these members.
    ///
    /// Errors: `InvalidArgument` for relationships without a type.
    pub fn new(plain: Plain, type_name: Option<String>) -> Result<PlainObjects> {
        if matches!(plain, Plain::Edges { .. }) && type_name.is_none() {
            return Err(invalid(
                "plain objects: expected the type of the relationships, found none; give it",
            ));
        }
        Ok(PlainObjects { plain, type_name })
    }

    /// True if the object is plain: it does not have the native form, in which one key says what it is.
    pub fn is_plain(fields: &Object) -> bool {
        let mut keys = fields.keys();
        match (keys.next(), keys.next()) {
            (Some(key), None) => {
                !NATIVE.contains(&&**key) || !(fields[key].is_object() || key == "collection")
            }
            _ => true,
        }
    }

    /// The operation that creates the instance of an object.
    pub fn operation(&self, fields: &Object) -> Result<Operation> {
        let mut rest = fields.clone();
        let is_entity = matches!(self.plain, Plain::Nodes { .. });
        let action = match &self.plain {
            Plain::Nodes { id } => {
                let id = named_id(fields, id)?.1;
                let type_name = self.type_name.as_deref().unwrap_or(UNLABELLED);
                let properties = stated(Some(&Json::Object(rest.clone())))?;
                let new = NewEntity { id, properties, ..NewEntity::new(type_name) };
                Action::CreateEntity(new)
            }
            Plain::Edges { from, to } => {
                let ends = [named_id(fields, from)?, named_id(fields, to)?];
                ends.iter().for_each(|(member, _)| drop(rest.remove(*member)));
                let [(_, from), (_, to)] = ends;
                Action::CreateRelationship(NewRelationship {
                    id: Id::random(),
                    type_name: self.type_name.as_deref().unwrap_or_default().into(),
                    from,
                    to,
                    properties: stated(Some(&Json::Object(rest.clone())))?,
                    status: None,
                    provenance: None,
                })
            }
        };
        let empty = rest.iter().filter(|(_, value)| value.is_null());
        let removed = empty.map(|(name, _)| name.as_str().into()).collect();
        Ok(Operation { has_fresh_id: !is_entity, removed, ..Operation::new(action, None) })
    }
}

/// The member that is named, and the id in it. The name may have a group in parentheses, which comes before the id.
fn named_id<'f>(fields: &'f Object, named: &str) -> Result<(&'f str, Id)> {
    let named = named.trim();
    let parts = || named.strip_suffix(')').and_then(|named| named.rsplit_once('('));
    let found = fields.get_key_value(named).map(|found| (found, "")).or_else(|| {
        let (member, group) = parts()?;
        Some((fields.get_key_value(member.trim())?, group))
    });
    let Some(((member, value), group)) = found else {
        let text = format!("expected an id as {named:?}, found no such member{}", wrapped::advice(fields));
        return Err(invalid(text));
    };
    let key = match value {
        Json::String(text) if !text.trim().is_empty() => text.trim().to_owned(),
        Json::Number(number) if !number.is_f64() => number.to_string(),
        other => {
            let text =
                format!("{member}: expected an id, which is a text or a whole number, found {}", kind(other));
            return Err(invalid(text));
        }
    };
    let id = if group.is_empty() { Id::new(&key)? } else { Id::new(&format!("{group}:{key}"))? };
    Ok((member, id))
}

#[cfg(test)]
mod tests {
    use annals::Value;
    use serde_json::json;

    use super::*;

    fn read(plain: Plain, json: &Json) -> std::result::Result<Operation, String> {
        let objects = PlainObjects::new(plain, Some("car".to_owned())).unwrap();
        objects.operation(json.as_object().unwrap()).map_err(|error| error.to_string())
    }

    #[test]
    fn a_plain_object_becomes_an_entity_or_a_relationship() {
        let nodes = |id: &str| Plain::Nodes { id: id.to_owned() };
        let object = json!({"Name": "a 1", "type": "x", "n": 1, "gone": null, "more": {"k": [1]}});
        let read_one = read(nodes("Name"), &object).unwrap();
        let Action::CreateEntity(new) = &read_one.action else { panic!("{read_one:?}") };
        assert_eq!((new.id.to_string().as_str(), &*new.type_name), ("a 1", "car"));
        let names: Vec<&str> = new.properties.iter().map(|(name, _)| &**name).collect();
        assert_eq!((names, &*read_one.removed), (vec!["Name", "more", "n", "type"], &["gone".into()][..]));
        let grouped = read(nodes("n(Car)"), &object).unwrap();
        assert_eq!(grouped.action.instance().unwrap().id().to_string(), "Car:1");
        let plain = Plain::Edges { from: "a".to_owned(), to: "b".to_owned() };
        let edge = read(plain, &json!({"a": 1, "b": "y", "w": 2})).unwrap();
        let Action::CreateRelationship(new) = &edge.action else { panic!("{edge:?}") };
        assert_eq!((new.from.to_string(), new.to.to_string()), ("1".to_owned(), "y".to_owned()));
        assert_eq!(new.properties, [("w".into(), Value::Integer(2))]);
        assert!(edge.has_fresh_id);
        for (name, reason) in [("x", "no such member"), ("gone", "found null"), ("more", "found an object")] {
            let found = read(nodes(name), &object).unwrap_err();
            assert!(found.contains(reason), "{found}");
        }
    }

    #[test]
    fn objects_of_the_native_form_are_not_plain() {
        let is_plain = |json: Json| PlainObjects::is_plain(json.as_object().unwrap());
        assert!(!is_plain(json!({"entity": {}})) && !is_plain(json!({"collection": "x"})));
        assert!(
            is_plain(json!({"entity": {}, "a": 1})) && is_plain(json!({"type": "x"})) && is_plain(json!({}))
        );
    }
}
