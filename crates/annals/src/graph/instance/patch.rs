//! Applies the steps of a patch to properties and reports the change of each value.

use std::sync::Arc;

use super::properties::Properties;
use crate::graph::structures::symbols::Symbol;
use crate::model::{Patch, PatchStep, Value, ValueSet};
use crate::{Error, ErrorKind, Result};

/// The effect of a step on the values of one property.
#[derive(Clone, Debug)]
pub(crate) enum ValueChange {
    Added(Symbol, Value),
    Removed(Symbol, Value),
}

impl ValueChange {
    pub(crate) fn name(&self) -> Symbol {
        match self {
            ValueChange::Added(name, _) | ValueChange::Removed(name, _) => *name,
        }
    }
}

/// Applies `patch`; `symbol` gives the symbol of a name.
pub(crate) fn apply_patch(
    properties: &mut Properties,
    patch: &Patch,
    mut symbol: impl FnMut(&Arc<str>) -> Result<Symbol>,
) -> Result<Vec<ValueChange>> {
    let mut changes = Vec::new();
    for step in &patch.steps {
        match step {
            PatchStep::Set(name, value) => put(properties, symbol(name)?, Some(value.clone()), &mut changes),
            PatchStep::Unset(name) => put(properties, symbol(name)?, None, &mut changes),
            PatchStep::Add(name, value) => add(properties, name, symbol(name)?, value, &mut changes)?,
            PatchStep::Remove(name, value) => remove(properties, symbol(name)?, value, &mut changes),
            PatchStep::Clear => {
                changes
                    .extend(properties.iter().map(|(name, value)| ValueChange::Removed(name, value.clone())));
                *properties = Properties::new();
            }
        }
    }
    Ok(changes)
}

/// The changes from `before` to `after`.
pub(crate) fn differences(before: &Properties, after: &Properties) -> Vec<ValueChange> {
    let mut changes = Vec::new();
    for (name, value) in before.iter().filter(|(name, value)| after.get(*name) != Some(*value)) {
        changes.push(ValueChange::Removed(name, value.clone()));
    }
    for (name, value) in after.iter().filter(|(name, value)| before.get(*name) != Some(*value)) {
        changes.push(ValueChange::Added(name, value.clone()));
    }
    changes
}

fn put(properties: &mut Properties, name: Symbol, value: Option<Value>, changes: &mut Vec<ValueChange>) {
    let before = properties.put(name, value.clone());
    if before == value {
        return;
    }
    changes.extend(before.map(|value| ValueChange::Removed(name, value)));
    changes.extend(value.map(|value| ValueChange::Added(name, value)));
}

fn add(
    properties: &mut Properties,
    text: &str,
    name: Symbol,
    value: &Value,
    changes: &mut Vec<ValueChange>,
) -> Result<()> {
    let (values, is_changed) = with_value(text, properties.take(name), value)?;
    if is_changed {
        changes.push(ValueChange::Added(name, value.clone()));
    }
    properties.put(name, Some(values));
    Ok(())
}

fn remove(properties: &mut Properties, name: Symbol, value: &Value, changes: &mut Vec<ValueChange>) {
    let (rest, removed) = without_value(properties.take(name), value);
    changes.extend(removed.map(|value| ValueChange::Removed(name, value)));
    properties.put(name, rest);
}

/// A set of the values before and one more, and whether it differs from them.
fn with_value(text: &str, before: Option<Value>, value: &Value) -> Result<(Value, bool)> {
    // A single value becomes a set even if the added value is equal; checks of types must see this.
    let mut is_changed = false;
    let mut values = match before {
        None => ValueSet::new(),
        Some(Value::Set(values)) => values,
        Some(single) if single.is_scalar() => {
            let mut values = ValueSet::new();
            values.insert(&single)?;
            is_changed = true;
            values
        }
        Some(other) => {
            return Err(Error::new(
                ErrorKind::InvalidArgument,
                format!(
                    "property {text}: expected a set to add to, found a {}; set the property as a whole",
                    other.value_type().name()
                ),
            ));
        }
    };
    is_changed |= values.insert(value)?;
    Ok((Value::Set(values), is_changed))
}

/// The values before without one, and the removed value.
fn without_value(before: Option<Value>, value: &Value) -> (Option<Value>, Option<Value>) {
    match before {
        Some(Value::Set(mut values)) => {
            let removed = values.remove(value).then(|| value.clone());
            ((!values.is_empty()).then_some(Value::Set(values)), removed)
        }
        Some(single) if single == *value => (None, Some(single)),
        other => (other, None),
    }
}

/// Applies a patch to the properties of an action, of which the later of two with one name counts.
///
/// Errors: `InvalidArgument` for a value that cannot be added.
pub(crate) fn patch_entries(entries: &mut Vec<(Arc<str>, Value)>, patch: &Patch) -> Result<()> {
    let take = |entries: &mut Vec<(Arc<str>, Value)>, name: &Arc<str>| {
        let last = entries.iter().rposition(|(known, _)| known == name);
        let taken = last.map(|last| entries.remove(last).1);
        entries.retain(|(known, _)| known != name);
        taken
    };
    for step in &patch.steps {
        let after = match step {
            PatchStep::Set(name, value) => {
                take(entries, name);
                Some((name, value.clone()))
            }
            PatchStep::Unset(name) => {
                take(entries, name);
                None
            }
            PatchStep::Add(name, value) => {
                let before = take(entries, name);
                Some((name, with_value(name, before, value)?.0))
            }
            PatchStep::Remove(name, value) => {
                let before = take(entries, name);
                without_value(before, value).0.map(|rest| (name, rest))
            }
            PatchStep::Clear => {
                entries.clear();
                None
            }
        };
        entries.extend(after.map(|(name, value)| (Arc::clone(name), value)));
    }
    Ok(())
}
