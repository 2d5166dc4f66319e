//! Merges changes of the content of one instance, so that a transaction makes one version of it.

use std::sync::Arc;

use super::transaction::Transaction;
use crate::Result;
use crate::graph::actions as action;
use crate::graph::instance::patch::patch_entries;
use crate::graph::integrity::types::Attribute;
use crate::graph::kind_of;
use crate::model::{Action, AttributeDefinition, InstanceId, Patch, PatchStep, TypeKind, Value};

impl Transaction {
    /// Puts `action` into an earlier change of the same instance; gives it back if that would mean something else.
    pub(super) fn merge(&mut self, action: Action) -> Result<Option<Action>> {
        let Some(number) = self.merge_target(&action) else { return Ok(Some(action)) };
        let target = &self.record.changes[number].action;
        let Some(merged) = merged(target, &action) else { return Ok(Some(action)) };
        if self.own.as_ref().is_none_or(|own| !own.has(number)) && self.hides_error(target, &action) {
            return Ok(Some(action));
        }
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

    /// True if `then` takes away what the type of the instance refuses in `target`, which nobody has checked yet: a
    /// property without which it cannot be, or a value of another form.
    fn hides_error(&self, target: &Action, then: &Action) -> bool {
        let graph = self.base.graph();
        let Some(instance) = target.instance().filter(|_| !graph.types.is_empty()) else { return false };
        let kind = kind_of(&instance);
        let named = match target {
            Action::CreateEntity(new) => graph.names.find(&new.type_name),
            Action::CreateRelationship(new) => graph.names.find(&new.type_name),
            _ => {
                let table = graph.table(kind);
                table.slot(instance.id()).and_then(|slot| table.row(slot)).map(|row| row.type_name())
            }
        };
        let Some(declared) = named.and_then(|name| graph.types.get(kind, name)) else { return false };
        // All its properties, or only some.
        let whole = match target {
            Action::CreateEntity(new) => Some(&new.properties),
            Action::CreateRelationship(new) => Some(&new.properties),
            Action::Replace(replace) => Some(&replace.properties),
            _ => None,
        };
        let steps = if let Action::Update(update) = target { &update.patch.steps[..] } else { &[] };
        let is_taken = |name: &Arc<str>| match then {
            Action::Update(update) => {
                update.patch.steps.iter().any(|step| step.name().is_none_or(|known| known == name))
            }
            Action::Replace(_) => true,
            _ => false,
        };
        let is_refused = |name: &Arc<str>, value: &Value| match graph.names.find(name) {
            Some(name) => graph.check_property(declared, name, value).is_err(),
            None => declared.is_closed,
        };
        let set = steps.iter().filter_map(|step| match step {
            PatchStep::Set(name, value) => Some((name, value)),
            _ => None,
        });
        let given = whole.into_iter().flatten().map(|(name, value)| (name, value)).chain(set);
        let is_missing = |attribute: &Attribute| {
            let AttributeDefinition { is_required, default, name, .. } = &attribute.definition;
            let is_given = |given: &[(Arc<str>, Value)]| given.iter().any(|(known, _)| known == name);
            *is_required && default.is_none() && whole.is_some_and(|given| !is_given(given)) && is_taken(name)
        };
        given.into_iter().any(|(name, value)| is_taken(name) && is_refused(name, value))
            || declared.attributes.values().any(is_missing)
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
