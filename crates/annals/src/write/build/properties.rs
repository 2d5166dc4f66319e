//! Refuses changes with too many properties before any work for them.

use std::collections::HashSet;
use std::fmt::Display;
use std::sync::Arc;

use crate::Result;
use crate::graph::{Graph, too_many_properties};
use crate::model::{Action, Id, PROPERTIES_MAX, Patch, PatchStep, TypeKind, Value};

type Properties = [(Arc<str>, Value)];

/// Errors: `TooLarge` if an instance, or a classification, would have too many properties in any case. If the count
/// depends on the graph, applying the change refuses it.
pub(super) fn check_counts(base: &Graph, action: &Action) -> Result<()> {
    let bag = action.bag();
    let (Some(kind), Some(id)) = (bag.kind, bag.id) else { return Ok(()) };
    let properties = bag.properties.unwrap_or_default();
    // An instance that had more properties before the bound existed may keep them.
    let count_max = match action {
        Action::Replace(_) if properties.len() > PROPERTIES_MAX => {
            PROPERTIES_MAX.max(properties_count(base, kind, id)?)
        }
        _ => PROPERTIES_MAX,
    };
    match action.classification() {
        Some(name) => {
            check(format_args!("classification {name}"), properties, PROPERTIES_MAX)?;
            check_patch(format_args!("classification {name} of {} {id}", kind.name()), bag.patch)?;
        }
        None => {
            check(format_args!("{} {id}", kind.name()), properties, count_max)?;
            check_patch(format_args!("{} {id}", kind.name()), bag.patch)?;
        }
    }
    let given = bag.classifications.unwrap_or_default().iter().map(|known| (&known.name, &known.properties));
    let copied = bag.copied.unwrap_or_default().iter().map(|known| (&known.name, &known.properties));
    let mut classifications = given.chain(copied);
    classifications.try_for_each(|(name, properties)| {
        check(format_args!("classification {name}"), properties, PROPERTIES_MAX)
    })
}

fn check(what: impl Display, properties: &Properties, count_max: usize) -> Result<()> {
    if properties.len() > count_max { Err(too_many_properties(what, properties.len())) } else { Ok(()) }
}

// Many steps may change one property.
fn check_patch(what: impl Display, patch: Option<&Patch>) -> Result<()> {
    let Some(patch) = patch.filter(|patch| patch.steps.len() > PROPERTIES_MAX) else { return Ok(()) };
    let sets = |step: &&PatchStep| matches!(step, PatchStep::Set(..) | PatchStep::Add(..));
    let names: HashSet<&str> =
        patch.steps.iter().filter(sets).filter_map(|step| step.name().map(|name| &**name)).collect();
    if names.len() > PROPERTIES_MAX { Err(too_many_properties(what, names.len())) } else { Ok(()) }
}

fn properties_count(base: &Graph, kind: TypeKind, id: &Id) -> Result<usize> {
    let found = base.table(kind).find(id)?;
    Ok(found.map_or(0, |(_, known)| known.properties.len()))
}
