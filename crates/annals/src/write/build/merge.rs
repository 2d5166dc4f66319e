//! Merges changes of the content of one instance, so that a transaction makes one version of it.

use std::sync::Arc;

use super::transaction::Transaction;
use crate::Result;
use crate::graph::actions as action;
use crate::graph::instance::patch::patch_entries;
use crate::graph::kind_of;
use crate::model::{Action, InstanceId, Patch, PatchStep, TypeKind};

impl Transaction {
    /// Puts `action` into an earlier change of the same instance; gives it back if that would mean something else.
    pub(super) fn merge(&mut self, action: Action) -> Result<Option<Action>> {
        let Some(number) = self.merge_target(&action) else { return Ok(Some(action)) };
        let Some(merged) = merged(&self.record.changes[number].action, &action) else {
            return Ok(Some(action));
        };
        super::properties::check_counts(self.base.graph(), &merged)?;
        if !self.amend_own(number, &action) {
            return Ok(Some(action));
        }
        self.record_mut().changes[number].action = merged;
        Ok(None)
    }

    /// The number of the change that may take `action`: the last one that names its instance, if no change after it may
    /// depend on the values.
    fn merge_target(&mut self, action: &Action) -> Option<usize> {
        let is_content = matches!(action, Action::Update(_) | Action::Replace(_) | Action::Classify(_));
        let is_plain = !self.is_always && !self.is_returning && !self.defines_types;
        // The error of an earlier change must not vanish with it.
        if !is_content || !is_plain || self.is_broken || self.own_valid_from().is_some() {
            return None;
        }
        let instance = action.instance()?;
        let number = self.touched.last_naming(&self.record.changes, &instance)?;
        // The edits of a candidate have another base.
        let is_edit = self.edits.is_some_and(|(_, count)| number < count);
        let target = &self.record.changes[number];
        if is_edit || target.valid_from.is_some() || self.gives_name(&instance, &target.action, action) {
            return None;
        }
        Some(number)
    }

    /// True if the action may change the name of a child of a container: changes in between may need the name.
    fn gives_name(&self, instance: &InstanceId, target: &Action, action: &Action) -> bool {
        let graph = self.base.graph();
        if !graph.types.has_containment {
            return false;
        }
        let type_name = match target {
            Action::CreateEntity(new) => graph.names.find(&new.type_name),
            _ => {
                let table = graph.table(kind_of(instance));
                table.slot(instance.id()).and_then(|slot| table.row(slot)).map(|row| row.type_name())
            }
        };
        let keys = type_name.map_or(&[][..], |name| graph.keys_of(name));
        let is_key = |name: &Arc<str>| graph.names.find(name).is_some_and(|name| keys.contains(&name));
        match action {
            _ if kind_of(instance) == TypeKind::Relationship => true,
            Action::Update(update) => update.patch.steps.iter().any(|step| step.name().is_none_or(is_key)),
            Action::Replace(_) => !keys.is_empty(),
            _ => false,
        }
    }

    /// Changes the version in the own graph that the change `number` made; false if it cannot.
    fn amend_own(&mut self, number: usize, action: &Action) -> bool {
        // Order: what only the view shares must not be copied.
        self.record_mut();
        let Some(own) = self.own.as_mut().filter(|own| own.has(number)) else { return true };
        let is_amended = own.amend(number, action, &self.record, self.base.source().memory()).is_ok();
        if !is_amended {
            self.own = None;
        }
        is_amended
    }
}

/// One action for both; `None` if there is none.
fn merged(first: &Action, then: &Action) -> Option<Action> {
    // A provenance is checked with the change that states it.
    if then.bag().provenance.is_some() && !matches!(then, Action::Classify(_)) {
        return None;
    }
    let mut merged = first.clone();
    match (&mut merged, then) {
        (Action::CreateEntity(new), Action::Update(update)) => {
            patch_entries(&mut new.properties, &update.patch).ok()?;
        }
        (Action::CreateRelationship(new), Action::Update(update)) => {
            patch_entries(&mut new.properties, &update.patch).ok()?;
        }
        (Action::Replace(first), Action::Update(update)) => {
            patch_entries(&mut first.properties, &update.patch).ok()?;
        }
        (Action::Update(first), Action::Replace(replace)) => {
            merged = action::Replace { provenance: first.provenance.take(), ..replace.clone() }.into();
        }
        // Classifications have versions, too: each change of them counts.
        (_, Action::Replace(replace)) if replace.classifications.is_some() => return None,
        (Action::CreateEntity(new), Action::Replace(replace)) => {
            new.properties.clone_from(&replace.properties);
        }
        (Action::CreateRelationship(new), Action::Replace(replace)) => {
            new.properties.clone_from(&replace.properties);
        }
        (Action::Replace(first), Action::Replace(replace)) => {
            first.properties.clone_from(&replace.properties);
        }
        (Action::Update(first), Action::Update(update)) => append(&mut first.patch, &update.patch),
        (Action::CreateEntity(new), Action::Classify(classify)) => {
            if new.classifications.iter().any(|known| known.name == classify.content.name) {
                return None;
            }
            new.classifications.push(classify.content.clone());
        }
        _ => return None,
    }
    Some(merged)
}

/// Adds the steps of `then`, without earlier steps that they make useless.
fn append(patch: &mut Patch, then: &Patch) {
    for step in &then.steps {
        match step {
            PatchStep::Set(name, _) | PatchStep::Unset(name) => {
                patch.steps.retain(|known| known.name() != Some(name));
            }
            PatchStep::Clear => patch.steps.clear(),
            PatchStep::Add(..) | PatchStep::Remove(..) => {}
        }
        patch.steps.push(step.clone());
    }
}
