//! One change to be written, with its valid time.

use annals::{Action, Instant, Result, Transaction};

/// One change to be written.
#[derive(Clone, Debug, PartialEq)]
pub struct Operation {
    /// What is done.
    pub action: Action,
    /// From when it is true; the commit instant if `None`.
    pub valid_from: Option<Instant>,
    /// True if it creates a relationship whose id the file does not say.
    pub has_fresh_id: bool,
}

impl Operation {
    /// Adds it to a transaction. Creates go through the methods that check names and add defaults of types.
    pub fn push(self, transaction: &mut Transaction) -> Result<()> {
        transaction.valid_from(self.valid_from);
        match self.action {
            Action::CreateEntity(new) => transaction.create_entity(new).map(drop),
            Action::CreateRelationship(new) => transaction.create_relationship(new).map(drop),
            Action::Classify(id, content) => transaction.classify(&id, content),
            Action::SaveEntity(copy) => transaction.save_entity_copy(*copy),
            other => transaction.push_action(other),
        }
    }

    /// True if it declares a type.
    pub fn is_definition(&self) -> bool {
        matches!(self.action, Action::DefineType(_))
    }
}
