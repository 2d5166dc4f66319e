//! Refuses values that a client must not write anew.

use std::sync::Arc;

use super::transaction::Transaction;
use crate::Result;
use crate::graph::kind_of;
use crate::model::{Action, InstanceId, PatchStep, Value};

/// A value that an action gives: the classification that has it, its property, and the value.
type Given<'a> = (Option<&'a str>, &'a Arc<str>, &'a Value);

impl Transaction {
    /// Refuses texts that are no IRIs. An older log may have them: a value that its instance, or its type, has now may
    /// stay, and values that return from the log, that come with a history, or that are copies are not checked.
    ///
    /// Errors: `InvalidArgument`; those of the changes so far.
    pub(super) fn check_new_values(&mut self, action: &Action) -> Result<()> {
        let is_copy = matches!(
            action,
            Action::SaveEntity(_)
                | Action::SaveRelationship(_)
                | Action::SaveClassification(_)
                | Action::SaveProxy(_)
        );
        if self.is_returning || self.is_history() || is_copy {
            return Ok(());
        }
        for given in given(action) {
            let (_, name, value) = given;
            if let Err(error) = value.check_iris(name)
                && !self.has_already(action, given)?
            {
                return Err(error);
            }
        }
        Ok(())
    }

    /// Makes changes with values that return from the log.
    pub(in crate::write) fn returning<T>(
        &mut self,
        change: impl FnOnce(&mut Transaction) -> Result<T>,
    ) -> Result<T> {
        let before = std::mem::replace(&mut self.is_returning, true);
        let outcome = change(self);
        self.is_returning = before;
        outcome
    }

    /// True if the instance, or the type, of an action has this value now, alone or in a set.
    fn has_already(&mut self, action: &Action, (classification, name, value): Given<'_>) -> Result<bool> {
        if let Action::DefineType(definition) = action {
            let known = self.typed()?.type_definition(definition.kind, &definition.name);
            let attributes = known.iter().flat_map(|known| &known.attributes);
            let mut defaults = attributes.map(|attribute| (&attribute.name, attribute.default.as_ref()));
            return Ok(defaults.any(|known| known == (name, Some(value))));
        }
        let Some(instance) = action.instance() else { return Ok(false) };
        let found = self.found(&instance, classification, name)?;
        Ok(found.is_some_and(|found| match &found {
            Value::Set(values) => found == *value || values.contains(value),
            _ => found == *value,
        }))
    }

    fn found(
        &mut self,
        instance: &InstanceId,
        classification: Option<&str>,
        name: &Arc<str>,
    ) -> Result<Option<Value>> {
        let graph = self.graph_of(instance)?;
        let Some((_, known)) = graph.table(kind_of(instance)).find(instance.id())? else { return Ok(None) };
        let Some(symbol) = graph.names.find(name) else { return Ok(None) };
        let properties = match classification {
            None => Some(&known.properties),
            Some(name) => {
                let name = graph.names.find(name);
                name.and_then(|name| known.classification(name)).map(|known| &known.properties)
            }
        };
        Ok(properties.and_then(|properties| properties.get(symbol)).cloned())
    }
}

/// All values that an action gives, with the defaults of a type.
fn given(action: &Action) -> impl Iterator<Item = Given<'_>> {
    let bag = action.bag();
    let own = action.classification();
    let properties = bag.properties.unwrap_or_default().iter();
    let steps = bag.patch.into_iter().flat_map(|patch| &patch.steps).filter_map(|step| match step {
        PatchStep::Set(name, value) | PatchStep::Add(name, value) => Some((name, value)),
        PatchStep::Unset(_) | PatchStep::Remove(..) | PatchStep::Clear => None,
    });
    let attributes = bag.definition.into_iter().flat_map(|definition| &definition.attributes);
    let defaults = attributes.filter_map(|attribute| Some((&attribute.name, attribute.default.as_ref()?)));
    let of_own = properties.map(|(name, value)| (name, value)).chain(steps).chain(defaults);
    let classifications = bag.classifications.unwrap_or_default().iter();
    let of_others = classifications.flat_map(|content| {
        content.properties.iter().map(|(name, value)| (Some(&*content.name), name, value))
    });
    of_own.map(move |(name, value)| (own, name, value)).chain(of_others)
}
