//! Operations of a transaction as JSON: actions, with their valid time, and `undo`.

use annals::{Action, Id, InstanceId, Instant, Result, Transaction};
use serde_json::Value as Json;

use super::change::{action_from_json, instance};
use super::{object, only, optional_text};

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
}

/// An operation from its JSON form: that of an action, or `{"action": "undo", "kind": …, "id": …}`; with `validFrom`
/// if it is true from another time on than now.
pub fn operation_from_json(json: &Json) -> Result<Operation> {
    let what = "operation";
    let fields = object(json, what)?;
    let valid_from = optional_text(fields, what, "validFrom")?.map(str::parse).transpose()?;
    let is_undo = fields.get("action").is_some_and(|verb| verb == "undo");
    if !is_undo {
        return Ok(Operation { what: What::Act(action_from_json(json)?), valid_from });
    }
    only(fields, what, &["action", "kind", "id", "validFrom"])?;
    Ok(Operation { what: What::Undo(instance(fields)?), valid_from })
}

impl Operation {
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
        }
    }
}
