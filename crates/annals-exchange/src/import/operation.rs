//! One change to be written, with its valid time.

use std::sync::Arc;

use annals::action;
use annals::{Action, Instant, Result, Snapshot, Transaction};

use super::csv::Untyped;

/// One change to be written.
#[derive(Clone, Debug, PartialEq)]
pub struct Operation {
    /// The action.
    pub action: Action,
    /// Its valid time; the commit instant if `None`.
    pub valid_from: Option<Instant>,
    /// True if it creates a relationship whose id is not in the file.
    pub has_fresh_id: bool,
    /// Properties that the line leaves empty: a merge removes them.
    pub removed: Vec<Arc<str>>,
    /// The columns without a type, of which a merge reads the cells as the instance has them.
    pub untyped: Option<Arc<Untyped>>,
    /// True if the line states the classifications of the entity, also if it states that there are none.
    pub states_classifications: bool,
}

/// The effect of a line on its instance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Effect {
    /// It is new.
    #[default]
    Created,
    /// It changes.
    Updated,
    /// It is deleted.
    Deleted,
}

impl Effect {
    /// The effect of the operations of one line, which the first operation determines.
    pub fn of(snapshot: &Snapshot, operations: &[Operation]) -> Effect {
        match operations.first().map(|operation| &operation.action) {
            Some(Action::DefineType(definition)) => {
                let known = snapshot.type_definition(definition.kind, &definition.name);
                if known.is_some() { Effect::Updated } else { Effect::Created }
            }
            Some(
                Action::CreateEntity(_)
                | Action::CreateRelationship(_)
                | Action::SaveEntity(_)
                | Action::SaveRelationship(_)
                | Action::SaveProxy(_),
            ) => Effect::Created,
            Some(Action::Delete(_)) => Effect::Deleted,
            _ => Effect::Updated,
        }
    }
}

impl Operation {
    /// A change with an id from the file, which states no classifications.
    pub fn new(action: Action, valid_from: Option<Instant>) -> Operation {
        Operation {
            action,
            valid_from,
            has_fresh_id: false,
            removed: Vec::new(),
            untyped: None,
            states_classifications: false,
        }
    }

    /// Adds it to a transaction. Creations use the methods that check names and add defaults of types.
    pub fn push(self, transaction: &mut Transaction) -> Result<()> {
        transaction.valid_from(self.valid_from);
        match self.action {
            Action::CreateEntity(new) => transaction.create_entity(new).map(drop),
            Action::CreateRelationship(new) => transaction.create_relationship(new).map(drop),
            Action::Classify(action::Classify { entity: id, content }) => transaction.classify(&id, content),
            Action::SaveEntity(copy) => transaction.save_entity_copy(*copy),
            Action::SaveProxy(proxy) => transaction.save_proxy(*proxy),
            other => transaction.push_action(other),
        }
    }

    /// True if it declares a type.
    pub fn is_definition(&self) -> bool {
        matches!(self.action, Action::DefineType(_))
    }
}
