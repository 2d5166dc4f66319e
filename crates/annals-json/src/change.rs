//! Changes and records as JSON: the operations of a transaction, and the entries of the feed.

use std::sync::{Arc, LazyLock};

use annals::action::{Bag, BagRef, Field, Form, Key};
use annals::{
    Action, Change, ClassificationContent, Id, InstanceId, Instant, Patch, PatchStep, Position, Provenance,
    ProvenanceKind, Record, Result, TypeKind, Value,
};
use serde_json::{Value as Json, json};

use super::difference::kind_name;
use super::provenance::*;
use super::{
    Object, array, boolean, classification_from_json, invalid, kind, object, only, optional_text,
    properties_from_json, text, type_from_json, type_to_json, value_from_json, value_to_json,
};

/// The JSON form of a record of the feed.
pub fn record_to_json(position: Position, record: &Record) -> Json {
    let changes: Vec<Json> =
        record.changes.iter().map(|change| change_to_json(change, record.valid_from)).collect();
    json!({
        "position": position.0,
        "instant": record.instant.to_string(),
        "author": &*record.author,
        "message": &*record.message,
        "changes": changes,
    })
}

/// A change. It has the valid time of its record unless it has its own.
pub fn change_to_json(change: &Change, record_valid_from: Option<Instant>) -> Json {
    let mut json = action_to_json(&change.action);
    if let Some(instant) = change.valid_from.or(record_valid_from) {
        json["validFrom"] = instant.to_string().into();
    }
    json
}

/// The JSON form of an action; [`action_from_json`] reads it back.
pub fn action_to_json(action: &Action) -> Json {
    let (form, bag) = (action.form(), action.bag());
    let mut json = json!({ "action": form.verb });
    if let Some(kind) = bag.kind {
        json["kind"] = kind.name().into();
    }
    form.fields.iter().for_each(|field| add_entry(&mut json, field, &bag));
    json
}

/// Adds an entry of the bag, if it exists.
fn add_entry(json: &mut Json, field: &Field, bag: &BagRef) {
    let id = |id: Option<&Id>| id.map(|id| id.to_string().into());
    let text = |text: Option<&Arc<str>>| text.map(|text| (**text).into());
    let entry = match field.key {
        Key::Id => id(bag.id),
        Key::From => id(bag.from),
        Key::To => id(bag.to),
        Key::NewId => id(bag.new_id),
        Key::Name => text(bag.name),
        Key::Status => text(bag.status),
        Key::Text => text(bag.text),
        Key::Properties => Some(properties_to_json(bag.properties.unwrap_or_default())),
        Key::Patch => bag.patch.map(patch_to_json),
        Key::Classifications => {
            bag.classifications.map(|contents| contents.iter().map(content_to_json).collect())
        }
        Key::WithRelationships => bag.with_relationships.map(Json::from),
        Key::Type => bag.definition.map(type_to_json),
        Key::Provenance => {
            bag.provenance.into_iter().for_each(|provenance| add_provenance(json, provenance));
            // Without a member it would state none, and leave what there is.
            if !field.is_required && bag.provenance == Some(&Provenance::default()) {
                json["provenance"] = ProvenanceKind::Local.name().into();
            }
            None
        }
        Key::Origin => {
            if let Some((version, created, updated)) = bag.origin {
                add_origin(json, version, created, updated);
            }
            None
        }
        Key::Copied => {
            let copied = bag.copied.filter(|copied| !copied.is_empty());
            copied.map(|copied| copied.iter().map(classification_copy_to_json).collect())
        }
        Key::CopiedOne => bag.copied.and_then(<[_]>::first).map(|copy| {
            add_classification_copy(json, copy);
            (*copy.name).into()
        }),
        Key::Instances => bag.instances.map(|instances| instances.iter().map(instance_to_json).collect()),
        other => unreachable!("{other:?} has a form in JSON"),
    };
    if let Some(entry) = entry {
        json[field.name] = entry;
    }
}

fn properties_to_json(properties: &[(Arc<str>, Value)]) -> Json {
    properties.iter().map(|(name, value)| (name.to_string(), value_to_json(value))).collect::<Object>().into()
}

fn instance_to_json(instance: &InstanceId) -> Json {
    json!({ "kind": kind_name(instance), "id": instance.id().to_string() })
}

fn content_to_json(content: &ClassificationContent) -> Json {
    let mut json = json!({ "name": &*content.name, "properties": properties_to_json(&content.properties) });
    content.provenance.iter().for_each(|provenance| add_provenance(&mut json, provenance));
    json
}

fn patch_to_json(patch: &Patch) -> Json {
    patch
        .steps
        .iter()
        .map(|step| match step {
            PatchStep::Set(name, value) => json!({ "set": &**name, "value": value_to_json(value) }),
            PatchStep::Unset(name) => json!({ "unset": &**name }),
            PatchStep::Add(name, value) => json!({ "add": &**name, "value": value_to_json(value) }),
            PatchStep::Remove(name, value) => json!({ "remove": &**name, "value": value_to_json(value) }),
            _ => json!({ "clear": true }),
        })
        .collect()
}

/// A patch: either its steps (`[{"set": "a", "value": 1}, {"unset": "b"}, {"add": "c", "value": 2}, {"remove": "c",
/// "value": 3}, {"clear": true}]`), or an object in the manner of JSON Merge Patch (`{"a": 1, "b": null}`).
///
/// Errors: `InvalidArgument` also for an object under `properties`, which is the form of instances: it would become one
/// property of this name. A step can set such a property.
pub fn patch_from_json(json: &Json) -> Result<Patch> {
    let steps = match json {
        Json::Object(fields) if fields.get("properties").is_some_and(Json::is_object) => {
            let properties = &fields["properties"];
            return Err(invalid(format!(
                "patch: expected the properties themselves, such as {}, found them under \"properties\"; for a property \
                 of this name write [{{\"set\": \"properties\", \"value\": …}}]",
                shown(properties)
            )));
        }
        Json::Object(fields) => fields
            .iter()
            .map(|(name, value)| match value {
                Json::Null => Ok(PatchStep::Unset(name.as_str().into())),
                value => {
                    let value = value_from_json(value).map_err(|error| error.with("property", name))?;
                    Ok(PatchStep::Set(name.as_str().into(), value))
                }
            })
            .collect::<Result<_>>()?,
        Json::Array(steps) => steps.iter().map(step_from_json).collect::<Result<_>>()?,
        other => {
            return Err(invalid(format!("patch: expected an object or an array, found {}", kind(other))));
        }
    };
    Ok(Patch { steps })
}

/// The patch that the user probably means; a short example if it is long.
fn shown(properties: &Json) -> String {
    const SHOWN_BYTES_MAX: usize = 200;
    let text = properties.to_string();
    if text.len() > SHOWN_BYTES_MAX { r#"{"name": "x"}"#.to_owned() } else { text }
}

fn step_from_json(json: &Json) -> Result<PatchStep> {
    let what = "patch step";
    let fields = object(json, what)?;
    let verbs = ["set", "unset", "add", "remove", "clear"];
    only(fields, what, &["set", "unset", "add", "remove", "clear", "value"])?;
    let mut found = verbs.into_iter().filter(|verb| fields.contains_key(*verb));
    let (Some(verb), None) = (found.next(), found.next()) else {
        return Err(invalid("patch step: expected exactly one of set, unset, add, remove, clear"));
    };
    let name = || text(fields, what, verb).map(Into::into);
    let value = || {
        let value =
            fields.get("value").ok_or_else(|| invalid(format!("patch step {verb}: expected a \"value\"")))?;
        value_from_json(value)
    };
    Ok(match verb {
        "set" => PatchStep::Set(name()?, value()?),
        "unset" => PatchStep::Unset(name()?),
        "add" => PatchStep::Add(name()?, value()?),
        "remove" => PatchStep::Remove(name()?, value()?),
        _ => PatchStep::Clear,
    })
}

/// Operations that are not actions.
const OTHERS: [&str; 5] = ["upsert", "undo", "take-back", "patch-type", "expect"];

/// The actions of operations.
pub fn actions() -> Vec<&'static str> {
    let verbs = Action::FORMS.iter().map(|form| form.verb).filter(|verb| *verb != "void");
    let mut actions: Vec<&str> = verbs.collect();
    actions.dedup();
    actions.extend(OTHERS);
    actions.extend(super::tree_operation::ACTIONS);
    actions
}

/// The members of all actions, each once.
static MEMBERS: LazyLock<Vec<&str>> = LazyLock::new(|| {
    let fields = Action::FORMS.iter().flat_map(|form| form.fields);
    // Only compactions write lists of instances, so no operation has one.
    let fields = fields.filter(|field| field.key != Key::Instances);
    let mut all = vec!["action", "kind", "validFrom"];
    for name in fields.flat_map(members) {
        if !all.contains(&name) {
            all.push(name);
        }
    }
    all
});

/// The creation of an entity, or of a relationship; without an id it gets a new one.
pub fn creation_from_json(kind: TypeKind, fields: &Object) -> Result<Action> {
    let is_it = |form: &&Form| form.verb == "create" && form.kinds == [kind];
    let form = Action::FORMS.iter().find(is_it).expect("entities and relationships are created");
    of_form(form, kind, fields)
}

/// The action of a change in a record: as [`action_from_json`], and also a list of `instances`, which only records hold.
pub fn recorded_action_from_json(json: &Json) -> Result<Action> {
    let what = "operation";
    let fields = object(json, what)?;
    let has_list = |form: &&Form| form.fields.iter().any(|field| field.key == Key::Instances);
    let verb = fields.get("action").and_then(Json::as_str);
    let form = Action::FORMS.iter().filter(has_list).find(|form| Some(form.verb) == verb);
    match form.filter(|form| form.fields.iter().all(|field| fields.contains_key(field.name))) {
        Some(form) => {
            only(fields, what, &["action", "instances", "validFrom"])?;
            action(form, Bag::default(), fields)
        }
        None => action_from_json(json),
    }
}

/// An action from its JSON form. A creation without an id gets a new one.
pub fn action_from_json(json: &Json) -> Result<Action> {
    let what = "operation";
    let fields = object(json, what)?;
    only(fields, what, &MEMBERS)?;
    let verb = text(fields, what, "action")?;
    let mut forms = Action::FORMS.iter().filter(|form| form.verb == verb);
    let (first, second) = (forms.next(), forms.next());
    let Some(form) = first else {
        let known = actions().join(", ");
        return Err(invalid(format!("operation: unknown action {verb:?}; expected one of {known}")));
    };
    let kind = match (form.kinds, second) {
        ([], _) => {
            check_members(form, fields)?;
            return action(form, Bag::default(), fields);
        }
        ([kind], None) => *kind,
        _ if instance_kind(fields)? == "entity" => TypeKind::Entity,
        _ => TypeKind::Relationship,
    };
    let form = second.filter(|form| form.kinds == [kind]).unwrap_or(form);
    check_members(form, fields)?;
    of_form(form, kind, fields)
}

/// Refuses members that the action would not read.
fn check_members(form: &Form, fields: &Object) -> Result<()> {
    let is_read = |name: &str| {
        ["action", "kind", "validFrom"].contains(&name)
            || form.fields.iter().any(|field| members(field).any(|member| member == name))
    };
    let Some(name) = fields.keys().find(|name| !is_read(name)) else { return Ok(()) };
    let own: Vec<&str> = form.fields.iter().flat_map(members).collect();
    let (verb, own) = (form.verb, own.join(", "));
    Err(invalid(format!("operation {verb}: expected only {own}, found {name:?}, which it would not read")))
}

/// The members of an entry.
fn members(field: &Field) -> impl Iterator<Item = &'static str> {
    let (own, more): (_, &[&[&'static str]]) = match field.key {
        Key::Provenance => (None, &[PROVENANCE_FIELDS]),
        Key::Origin => (None, &[ORIGIN_FIELDS]),
        Key::CopiedOne => (Some(field.name), &[&["properties"], PROVENANCE_FIELDS, ORIGIN_FIELDS]),
        _ => (Some(field.name), &[]),
    };
    own.into_iter().chain(more.iter().flat_map(|names| names.iter().copied()))
}

fn of_form(form: &Form, kind: TypeKind, fields: &Object) -> Result<Action> {
    action(form, Bag { kind: Some(kind), ..Bag::default() }, fields)
}

/// The action of this form, with the members of `fields`.
fn action(form: &Form, mut bag: Bag, fields: &Object) -> Result<Action> {
    form.fields.iter().try_for_each(|field| take_entry(&mut bag, field, fields))?;
    // A change of content that states the provenance of a new instance takes away what there was.
    let is_change = ["update", "replace", "reclassify"].contains(&form.verb);
    if is_change && bag.provenance.is_none() && states_provenance(fields) {
        bag.provenance = Some(Provenance::default());
    }
    Action::from_bag(form, bag)
        .ok_or_else(|| invalid(format!("operation {}: expected all that it needs, found less", form.verb)))
}

/// Reads an entry from `fields` into the bag.
fn take_entry(bag: &mut Bag, field: &Field, fields: &Object) -> Result<()> {
    let (what, name) = ("operation", field.name);
    let found = || match field.is_required {
        true => text(fields, what, name).map(Some),
        false => optional_text(fields, what, name),
    };
    let id = || found()?.map(Id::new).transpose();
    let word = || Ok::<_, annals::Error>(found()?.map(Into::into));
    match field.key {
        Key::Id => bag.id = Some(id()?.unwrap_or_else(Id::random)),
        Key::From => bag.from = id()?,
        Key::To => bag.to = id()?,
        Key::NewId => bag.new_id = id()?,
        Key::Name => bag.name = word()?,
        Key::Status => bag.status = word()?,
        Key::Text => bag.text = word()?,
        Key::Properties => bag.properties = Some(properties_from_json(fields.get(name), name)?),
        Key::Patch => bag.patch = Some(patch(fields)?),
        Key::Classifications => {
            bag.classifications = fields.contains_key(name).then(|| classifications(fields)).transpose()?;
        }
        Key::WithRelationships => bag.with_relationships = Some(boolean(fields, what, name, true)?),
        Key::Type => {
            let definition =
                fields.get(name).ok_or_else(|| invalid("operation define-type: expected a \"type\""))?;
            bag.definition = Some(type_from_json(definition)?);
        }
        Key::Provenance if field.is_required => bag.provenance = Some(provenance_from_json(fields, what)?),
        Key::Provenance => bag.provenance = optional_provenance(fields, what)?.map(Arc::unwrap_or_clone),
        Key::Origin if field.is_required => bag.origin = Some(origin(fields, what)?),
        Key::Origin => bag.origin = optional_origin(fields, what)?,
        Key::Copied => bag.copied = Some(classification_copies(fields, what)?),
        Key::CopiedOne => {
            bag.copied = Some(vec![classification_copy(fields, what, text(fields, what, name)?)?]);
        }
        Key::Instances => {
            let listed = array(fields, what, name)?.iter();
            let one = |json| instance(object(json, "instance")?);
            bag.instances = Some(listed.map(one).collect::<Result<_>>()?);
        }
        other => unreachable!("{other:?} has a form in JSON"),
    }
    Ok(())
}

fn instance_kind(fields: &Object) -> Result<&str> {
    match text(fields, "operation", "kind")? {
        kind @ ("entity" | "relationship") => Ok(kind),
        unknown => {
            Err(invalid(format!("operation: expected kind entity or relationship, found {unknown:?}")))
        }
    }
}

pub(super) fn instance(fields: &Object) -> Result<InstanceId> {
    let id = Id::new(text(fields, "operation", "id")?)?;
    Ok(match instance_kind(fields)? {
        "entity" => InstanceId::Entity(id),
        _ => InstanceId::Relationship(id),
    })
}

fn patch(fields: &Object) -> Result<Patch> {
    patch_from_json(
        fields.get("patch").ok_or_else(|| invalid("operation: expected a \"patch\", found nothing"))?,
    )
}

/// Either `[{"name": …, "properties": {…}}]`, or `{name: {"properties": {…}}}` as in the form of an entity.
pub(super) fn classifications(fields: &Object) -> Result<Vec<ClassificationContent>> {
    let Some(Json::Object(named)) = fields.get("classifications") else {
        return array(fields, "operation", "classifications")?.iter().map(classification_from_json).collect();
    };
    named
        .iter()
        .map(|(name, content)| {
            let content = object(content, "classification")?;
            let own = ["properties", "version", "created", "updated"];
            only(content, "classification", &[&own, PROVENANCE_FIELDS].concat())?;
            Ok(ClassificationContent {
                provenance: optional_provenance(content, "classification")?,
                name: name.as_str().into(),
                properties: properties_from_json(content.get("properties"), "classification properties")?,
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn actions_read_back_as_written() {
        let lines = [
            r#"{"action":"create","kind":"entity","id":"a","type":"t","properties":{"p":1},"classifications":[{"name":"c","properties":{}}]}"#,
            r#"{"action":"create","kind":"relationship","id":"r","type":"t","from":"a","to":"b","properties":{}}"#,
            r#"{"action":"update","kind":"entity","id":"a","patch":[{"set":"p","value":2},{"unset":"q"},{"clear":true}]}"#,
            r#"{"action":"replace","kind":"relationship","id":"r","properties":{"x":[1]}}"#,
            r#"{"action":"restore","kind":"entity","id":"a","withRelationships":false}"#,
            r#"{"action":"create","kind":"entity","id":"a","type":"t","properties":{},"status":"draft","license":"CC0-1.0","mappings":{"k":"v"},"maintainedBy":["m"],"effectiveFrom":"2025-01-01T00:00:00Z"}"#,
            r#"{"action":"set-status","kind":"relationship","id":"r","status":"draft"}"#,
            r#"{"action":"set-provenance","kind":"entity","id":"a","license":"MIT","provenance":"unknown"}"#,
            r#"{"action":"rehome","kind":"entity","id":"a","home":"h"}"#,
            r#"{"action":"reidentify","kind":"entity","id":"a","newId":"b"}"#,
            r#"{"action":"retype","kind":"entity","id":"a","type":"u"}"#,
            r#"{"action":"relink","kind":"relationship","id":"r","to":"b"}"#,
            r#"{"action":"save-proxy","kind":"entity","id":"a","type":"t","properties":{},"home":"h"}"#,
            r#"{"action":"save-copy","kind":"entity","id":"a","type":"t","properties":{"p":1},"status":"draft","home":"h","version":7,"created":{"instant":"2025-01-01T00:00:00Z","author":"x"},"updated":{"instant":"2025-01-02T00:00:00Z","author":""},"classifications":[{"name":"c","properties":{},"home":"g","version":1,"created":{"instant":"2025-01-01T00:00:00Z","author":"x"},"updated":{"instant":"2025-01-01T00:00:00Z","author":"x"}}]}"#,
            r#"{"action":"save-copy","kind":"relationship","id":"r","type":"t","from":"a","to":"b","properties":{},"home":"h","version":1,"created":{"instant":"2025-01-01T00:00:00Z","author":"x"},"updated":{"instant":"2025-01-01T00:00:00Z","author":"x"}}"#,
            r#"{"action":"save-classification-copy","kind":"entity","id":"a","classification":"c","properties":{},"home":"h","version":2,"created":{"instant":"2025-01-01T00:00:00Z","author":"x"},"updated":{"instant":"2025-01-01T00:00:00Z","author":"x"}}"#,
            r#"{"action":"purge-copy","kind":"entity","id":"a","home":"h"}"#,
            r#"{"action":"purge-classification-copy","kind":"entity","id":"a","classification":"c","home":"h"}"#,
            r#"{"action":"name-collection","collection":"h"}"#,
            r#"{"action":"reclassify","kind":"entity","id":"a","classification":"c","patch":[{"add":"p","value":2}]}"#,
            r#"{"action":"update","kind":"entity","id":"a","patch":[],"provenance":"local"}"#,
            r#"{"action":"replace","kind":"relationship","id":"r","properties":{},"provenance":"local"}"#,
            r#"{"action":"reclassify","kind":"entity","id":"a","classification":"c","patch":[],"license":"MIT"}"#,
            r#"{"action":"save-proxy","kind":"entity","id":"a","type":"t","properties":{},"home":"h","license":"MIT","status":"draft","version":7,"created":{"instant":"2025-01-01T00:00:00Z","author":"x"},"updated":{"instant":"2025-01-02T00:00:00Z","author":""}}"#,
        ];
        for line in lines {
            let json: Json = serde_json::from_str(line).unwrap();
            assert_eq!(action_to_json(&action_from_json(&json).unwrap()), json);
        }
    }

    #[test]
    fn lists_of_instances_are_read_from_records_only() {
        for verb in ["delete", "restore"] {
            let json = json!({"action": verb, "instances": [
                {"kind": "relationship", "id": "r"}, {"kind": "entity", "id": "a"}
            ]});
            assert_eq!(action_to_json(&recorded_action_from_json(&json).unwrap()), json);
            assert!(action_from_json(&json).unwrap_err().to_string().contains("unknown field \"instances\""));
        }
        let plain = json!({"action": "delete", "kind": "entity", "id": "a"});
        assert_eq!(action_to_json(&recorded_action_from_json(&plain).unwrap()), plain);
    }

    #[test]
    fn misspelt_fields_are_refused() {
        let json = json!({"action": "delete", "kind": "entity", "id": "a", "idd": 1});
        assert!(action_from_json(&json).unwrap_err().to_string().contains("idd"));
    }
}
