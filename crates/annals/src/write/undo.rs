//! What takes back the last change of an instance: the changes that make a version like the one before.

use std::sync::Arc;

use crate::Result;
use crate::graph::instance::headers::HeaderNumber;
use crate::graph::instance::past::PastVersion;
use crate::graph::instance::unpacked::{Classification, Instance};
use crate::graph::kind_of;
use crate::model::{Action, Id, InstanceId, Patch, PatchStep, Status};
use crate::read::Snapshot;

/// What takes back the last change of a live instance that was live before, too.
pub(super) fn undone(
    snapshot: &Snapshot,
    instance: &InstanceId,
    slot: u32,
    known: &Instance,
    before: PastVersion,
) -> Result<Vec<Action>> {
    match undone_header(snapshot, instance, known, before.header) {
        Some(action) => Ok(vec![action]),
        None => undone_content(snapshot, instance, slot, known, before),
    }
}

/// What takes back a change of the header; `None` if that is not what was changed.
fn undone_header(
    snapshot: &Snapshot,
    instance: &InstanceId,
    known: &Instance,
    before: HeaderNumber,
) -> Option<Action> {
    let graph = snapshot.graph();
    let (was, is) = (graph.shape_of(known, before), graph.shape_of(known, known.header));
    let (header, now) = (graph.headers.get(before), graph.headers.get(known.header));
    if was.id != is.id {
        return Some(Action::Reidentify(instance.clone(), was.id));
    }
    if was.type_name != is.type_name {
        return Some(Action::Retype(instance.clone(), Arc::clone(graph.names.name(was.type_name))));
    }
    if was.ends != is.ends {
        let end = |side: usize| {
            (was.ends[side] != is.ends[side]).then(|| graph.entities.id(was.ends[side]).clone())
        };
        return Some(Action::Relink(instance.id().clone(), end(0), end(1)));
    }
    if let (None, Some(home)) = (header.home(), now.home()) {
        return Some(Action::Rehome(instance.clone(), Arc::clone(home)));
    }
    if header.status != now.status {
        let status = header.status.clone().unwrap_or_else(|| Status::Active.name().into());
        return Some(Action::SetStatus(instance.clone(), status));
    }
    if (&header.provenance, header.is_proxy) == (&now.provenance, now.is_proxy) {
        return None;
    }
    let provenance = header.provenance.as_deref().cloned().unwrap_or_default();
    Some(Action::SetProvenance(instance.clone(), Box::new(provenance)))
}

/// What puts the content of the version before in place. Of what belongs to another collection only classifications can
/// have been changed here.
fn undone_content(
    snapshot: &Snapshot,
    instance: &InstanceId,
    slot: u32,
    known: &Instance,
    before: PastVersion,
) -> Result<Vec<Action>> {
    let kind = kind_of(instance);
    let content = snapshot.instance(kind, slot, snapshot.content(kind, slot, before)?)?;
    if content.properties == known.properties {
        if content.classifications() == known.classifications() {
            return Ok(vec![Action::Update(instance.clone(), Patch::new())]);
        }
        if !snapshot.graph().is_own(known.header) {
            let actions = undone_classifications(snapshot, instance.id(), known, &content);
            if !actions.is_empty() {
                return Ok(actions);
            }
        }
    }
    let classifications = matches!(instance, InstanceId::Entity(_)).then(|| {
        content.classifications().iter().map(|known| snapshot.classification_content(known)).collect()
    });
    let properties = snapshot.named_properties(&content.properties);
    Ok(vec![Action::Replace(instance.clone(), properties, classifications)])
}

fn undone_classifications(snapshot: &Snapshot, id: &Id, now: &Instance, before: &Instance) -> Vec<Action> {
    let name = |known: &Classification| Arc::clone(snapshot.graph().names.name(known.name));
    let gone = now.classifications().iter().filter(|known| before.classification(known.name).is_none());
    let mut actions: Vec<Action> = gone.map(|known| Action::Declassify(id.clone(), name(known))).collect();
    for known in before.classifications() {
        let content = snapshot.classification_content(known);
        match now.classification(known.name) {
            None => actions.push(Action::Classify(id.clone(), content)),
            Some(other) if other.properties != known.properties => {
                let steps = content.properties.into_iter().map(|(name, value)| PatchStep::Set(name, value));
                let steps = [PatchStep::Clear].into_iter().chain(steps).collect();
                actions.push(Action::Reclassify(id.clone(), name(known), Patch { steps }));
            }
            Some(_) => {}
        }
    }
    actions
}
