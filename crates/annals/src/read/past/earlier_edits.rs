//! The edits that a candidate had: no reader needs those that it has no more, and they may be of instances that were purged
//! since.

use std::sync::Arc;

use crate::Result;
use crate::graph::Graph;
use crate::graph::instance::properties::Properties;
use crate::graph::structures::symbols::Symbol;
use crate::model::{Action, Change, InstanceId, PatchStep, Value};
use crate::record::{CANDIDATE, RECORDS_PROPERTY};

/// The properties of an earlier version of an entity, without edits if it holds a candidate.
pub(super) fn without_edits(graph: &Graph, type_name: Symbol, properties: Properties) -> Properties {
    if **graph.names.name(type_name) != *CANDIDATE {
        return properties;
    }
    let is_kept = |name: &Symbol| !graph.names.name(*name).starts_with(RECORDS_PROPERTY);
    let kept = properties.iter().filter(|(name, _)| is_kept(name));
    Properties::from_entries(kept.map(|(name, value)| (name, value.clone())).collect())
}

/// A change of the log without edits that its candidate has no more; `None` if it has none.
///
/// Errors: those of reading long values.
pub(crate) fn without_earlier_edits(graph: &Graph, change: &Change) -> Result<Option<Change>> {
    let Some(InstanceId::Entity(id)) = change.action.instance() else { return Ok(None) };
    // The id is a text that names the type, too.
    if id.text().is_none_or(|text| !text.starts_with(CANDIDATE)) {
        return Ok(None);
    }
    let slot = graph.entities.slot(&id);
    let Some(current) = slot.map_or(Ok(None), |slot| graph.entities.get(slot))? else { return Ok(None) };
    let is_current = |name: &Arc<str>, value: &Value| {
        graph.names.find(name).is_some_and(|name| current.properties.get(name) == Some(value))
    };
    let nothing = Value::Bytes(Arc::default());
    let (mut emptied, mut is_changed) = (change.clone(), false);
    let mut empty = |name: &Arc<str>, value: &mut Value| {
        if name.starts_with(RECORDS_PROPERTY) && !is_current(name, value) && *value != nothing {
            *value = nothing.clone();
            is_changed = true;
        }
    };
    match &mut emptied.action {
        Action::Replace(replace) => {
            replace.properties.iter_mut().for_each(|(name, value)| empty(name, value));
        }
        Action::Update(update) => {
            for step in &mut update.patch.steps {
                if let PatchStep::Set(name, value) = step {
                    empty(name, value);
                }
            }
        }
        _ => {}
    }
    let anchored = emptied.anchor.iter_mut().flat_map(|anchor| &mut anchor.properties);
    anchored.for_each(|(name, value)| empty(name, value));
    Ok(is_changed.then_some(emptied))
}
