//! Operations of a transaction as JSON: actions, with their valid time, and what becomes actions in its snapshot.

use annals::{Action, Id, InstanceId, Instant, Result, Transaction, TypePatch};
use serde_json::Value as Json;

use super::change::{action_from_json, instance};
use super::{object, only, optional_text, type_patch_from_json};

/// One operation of a transaction.
#[derive(Clone, Debug, PartialEq)]
pub struct Operation {
    what: What,
    valid_from: Option<Instant>,
}

#[derive(Clone, Debug, PartialEq)]
enum What {
    Act(Action),
    Undo(InstanceId),
    PatchType(Box<TypePatch>),
}

/// An operation from its JSON form: that of an action, or `{"action": "undo", "kind": …, "id": …}`; with `validFrom`
/// if it is true from another time on than now.
pub fn operation_from_json(json: &Json) -> Result<Operation> {
    let what = "operation";
    let fields = object(json, what)?;
    let valid_from = optional_text(fields, what, "validFrom")?.map(str::parse).transpose()?;
    let found = match fields.get("action").and_then(Json::as_str) {
        Some("undo") => {
            only(fields, what, &["action", "kind", "id", "validFrom"])?;
            What::Undo(instance(fields)?)
        }
        Some("patch-type") => {
            only(fields, what, &["action", "type", "validFrom"])?;
            let patch = fields.get("type").unwrap_or(&Json::Null);
            What::PatchType(Box::new(type_patch_from_json(patch)?))
        }
        _ => What::Act(action_from_json(json)?),
    };
    Ok(Operation { what: found, valid_from })
}

impl Operation {
    /// The id of the instance that it is about.
    pub fn id(&self) -> Option<Id> {
        match &self.what {
            What::Act(action) => action.instance().map(|instance| instance.id().clone()),
            What::Undo(instance) => Some(instance.id().clone()),
            What::PatchType(_) => None,
        }
    }

    /// Adds it to a transaction; its own valid time goes before `valid_from`.
    ///
    /// Shape: the id of the instance that it creates, if it creates one.
    pub fn add_to(&self, transaction: &mut Transaction, valid_from: Option<Instant>) -> Result<Option<Id>> {
        transaction.valid_from(self.valid_from.or(valid_from));
        match &self.what {
            What::Act(Action::CreateEntity(new)) => transaction.create_entity(new.clone()).map(Some),
            What::Act(Action::CreateRelationship(new)) => {
                transaction.create_relationship(new.clone()).map(Some)
            }
            What::Act(Action::Classify(entity, content)) => {
                transaction.classify(entity, content.clone()).map(|()| None)
            }
            What::Act(action) => transaction.push_action(action.clone()).map(|()| None),
            What::Undo(instance) => transaction.undo(instance).map(|()| None),
            What::PatchType(patch) => transaction.patch_type(patch).map(|()| None),
        }
    }
}
