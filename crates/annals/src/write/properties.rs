//! Refuses changes with too many properties before anything is done for them.

use crate::graph::actions as action;
use std::collections::HashSet;
use std::fmt::Display;
use std::sync::Arc;

use crate::Result;
use crate::graph::{Graph, kind_of, too_many_properties};
use crate::model::{Action, ClassificationContent, InstanceId, PROPERTIES_MAX, Patch, PatchStep, Value};

type Properties = [(Arc<str>, Value)];

/// Errors: `TooLarge` if an instance, or a classification, would have too many properties, whatever it has now. What the graph must
/// be asked for, it refuses when the change is applied.
pub(super) fn check_counts(base: &Graph, action: &Action) -> Result<()> {
    match action {
        Action::CreateEntity(new) => {
            check(format_args!("entity {}", new.id), &new.properties)?;
            check_classifications(&new.classifications)
        }
        Action::CreateRelationship(new) => check(format_args!("relationship {}", new.id), &new.properties),
        Action::Update(action::Update { instance, patch }) => check_patch(instance, patch),
        Action::Replace(action::Replace { instance, properties, classifications }) => {
            // One that had more before there was a bound may keep them.
            if properties.len() > PROPERTIES_MAX && properties.len() > properties_count(base, instance)? {
                check(instance, properties)?;
            }
            check_classifications(classifications.as_deref().unwrap_or_default())
        }
        Action::Classify(action::Classify { content: classification, .. }) => {
            check_classifications(std::slice::from_ref(classification))
        }
        Action::Reclassify(action::Reclassify { entity, name, patch }) => {
            check_patch(format_args!("classification {name} of entity {entity}"), patch)
        }
        Action::SaveEntity(copy) => {
            check(format_args!("entity {}", copy.id), &copy.properties)?;
            copy.classifications
                .iter()
                .try_for_each(|known| check(format_args!("classification {}", known.name), &known.properties))
        }
        Action::SaveRelationship(copy) => check(format_args!("relationship {}", copy.id), &copy.properties),
        Action::SaveProxy(proxy) => check(format_args!("entity {}", proxy.id), &proxy.properties),
        Action::SaveClassification(action::SaveClassification { copy, .. }) => {
            check(format_args!("classification {}", copy.name), &copy.properties)
        }
        _ => Ok(()),
    }
}

fn check(what: impl Display, properties: &Properties) -> Result<()> {
    if properties.len() > PROPERTIES_MAX { Err(too_many_properties(what, properties.len())) } else { Ok(()) }
}

fn check_classifications(classifications: &[ClassificationContent]) -> Result<()> {
    classifications
        .iter()
        .try_for_each(|known| check(format_args!("classification {}", known.name), &known.properties))
}

// Many steps may be about one property.
fn check_patch(what: impl Display, patch: &Patch) -> Result<()> {
    if patch.steps.len() <= PROPERTIES_MAX {
        return Ok(());
    }
    let sets = |step: &&PatchStep| matches!(step, PatchStep::Set(..) | PatchStep::Add(..));
    let names: HashSet<&str> =
        patch.steps.iter().filter(sets).filter_map(|step| step.name().map(|name| &**name)).collect();
    if names.len() > PROPERTIES_MAX { Err(too_many_properties(what, names.len())) } else { Ok(()) }
}

fn properties_count(base: &Graph, instance: &InstanceId) -> Result<usize> {
    let found = base.table(kind_of(instance)).find(instance.id())?;
    Ok(found.map_or(0, |(_, known)| known.properties.len()))
}
