//! A transaction whose first changes are the edits of a candidate.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use crate::graph::actions as action;
use crate::graph::instance_id;
use crate::model::{Action, Change, InstanceId, TypeKind};
use crate::read::Snapshot;
use crate::write::Transaction;
use crate::{Error, Position, Result};

impl Transaction {
    /// Begins with the edits of a candidate, which have another base.
    pub(in crate::write) fn begin_with_edits(&mut self, edits: Vec<Change>, base: Position) {
        self.edits = Some((base, edits.len()));
        self.defines_types = edits.iter().any(|change| matches!(change.action, Action::DefineType(_)));
        self.record_mut().changes = edits;
    }

    /// Checks the edits that were added since the view `before`.
    pub(in crate::write) fn check_edits(&mut self, before: &Snapshot) -> Result<()> {
        self.expectations.check_edits(self.base.graph(), before)?;
        self.current()?;
        self.check_size()
    }

    /// Makes the commit fail with `Conflict` if an edit takes other instances along then: what it names, and what the edits
    /// moved there.
    pub(in crate::write) fn expect_edits_along(&mut self) -> Result<()> {
        let record = Arc::clone(&self.record);
        if !record.changes.iter().any(|edit| edit.action.takes_along()) {
            return Ok(());
        }
        let mut moved = HashSet::new();
        for Change { action, .. } in &record.changes {
            match self.moved_child(action)? {
                Some(instance) if moved.insert(instance.clone()) => {
                    self.expect_taken_along(&action::Delete { instance }.into())?;
                }
                None if action.takes_along() => self.expect_taken_along(action)?,
                _ => {}
            }
        }
        Ok(())
    }

    /// The entity that an action puts into a container.
    fn moved_child(&self, action: &Action) -> Result<Option<InstanceId>> {
        let graph = self.base.graph();
        // A type that the edits declare may contain, too.
        let contains = |name: &str| {
            graph.names.find(name).is_none_or(|name| {
                let is_known = graph.is_type_known(TypeKind::Relationship, name);
                !is_known || graph.containment(name).is_some()
            })
        };
        let child = match action {
            Action::CreateRelationship(new) => contains(&new.type_name).then(|| new.to.clone()),
            Action::Relink(relink) => match self.base.relationship(&relink.id)? {
                Some(link) if !contains(link.type_name()) => None,
                link => relink.to.clone().or_else(|| link.map(|link| link.to().clone())),
            },
            _ => None,
        };
        Ok(child.map(InstanceId::Entity))
    }

    /// The edits that gave an instance a value that must be unique and that others have. `numbers` are those of the
    /// changes of this transaction.
    pub(in crate::write) fn edits_not_unique(&mut self, numbers: &[usize]) -> Result<Vec<(usize, Error)>> {
        self.own_graph()?;
        let Some(own) = &self.own else { return Ok(Vec::new()) };
        let (graph, mut found, mut told) = (own.graph(), BTreeMap::new(), HashSet::new());
        own.each_not_unique(|(kind, slot), name, error| {
            let instance = instance_id(kind, graph.table(kind).id(slot).clone());
            // Of two edits that clash with each other the first is told.
            if error.context().iter().any(|(name, holder)| *name == "holder" && told.contains(holder)) {
                return Ok(());
            }
            told.insert(instance.id().to_string());
            let gives = |change: &Change| {
                change.action.instance().as_ref() == Some(&instance)
                    && may_give(&change.action, graph.names.name(name))
            };
            // It may have been restored with its container, by an edit that does not name it.
            let edit =
                self.record.changes.iter().rposition(gives).or(self.record.changes.len().checked_sub(1));
            found.extend(edit.map(|edit| (numbers[edit], error)));
            Ok(())
        })?;
        Ok(found.into_iter().collect())
    }

    /// Adds a change if it can be applied.
    pub(in crate::write) fn try_change(&mut self, change: &Change) -> Result<()> {
        let before = self.own.clone();
        self.record_mut().changes.push(change.clone());
        self.own_graph().map(drop).inspect_err(|_| {
            self.record_mut().changes.pop();
            self.own = before;
        })
    }
}

/// True if an action may give its instance a value of this property.
fn may_give(action: &Action, name: &str) -> bool {
    match action {
        Action::Update(update) => {
            update.patch.steps.iter().any(|step| step.name().is_some_and(|known| &**known == name))
        }
        _ => action.classification().is_none(),
    }
}
