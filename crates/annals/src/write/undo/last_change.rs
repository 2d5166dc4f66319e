//! Undoes the last change of an instance: the changes that make a version equal to the one before.

use crate::graph::actions as action;
use std::sync::Arc;

use crate::graph::actions::act::VersionStep;
use crate::graph::instance::past::PastVersion;
use crate::graph::instance::unpacked::{Classification, Instance};
use crate::graph::kind_of;
use crate::model::{Action, Id, InstanceId, Patch, PatchStep, Status};
use crate::read::Snapshot;
use crate::write::Transaction;
use crate::{Error, ErrorKind, Result};

impl Transaction {
    /// Undoes the last change of an instance, in a new version.
    ///
    /// Errors: `NotFound`; `InvalidArgument` if it has only its first version, or a limited writer does not see the one
    /// before.
    pub fn undo(&mut self, instance: &InstanceId) -> Result<()> {
        self.reads.instance(instance.clone());
        let snapshot = self.current()?;
        let (slot, known) = snapshot.known(instance)?;
        let is_live = known.status != Status::Deleted;
        let before = match known.version_numbered(known.base) {
            // Its content would come back.
            Some(before) if is_live && before.status != Status::Deleted => {
                snapshot.is_version_in_sight(kind_of(instance), slot, before)?.then_some(before)
            }
            before => before,
        };
        let Some(before) = before else {
            return Err(Error::new(
                ErrorKind::InvalidArgument,
                format!(
                    "undo {instance}: expected a version before version {}; delete it instead",
                    known.version
                ),
            ));
        };
        let actions = match (known.status, before.status) {
            (Status::Deleted, _) => vec![Action::Restore(action::Restore {
                instance: instance.clone(),
                with_relationships: true,
            })],
            (_, Status::Deleted) => vec![Action::Delete(action::Delete { instance: instance.clone() })],
            _ => undone(snapshot, instance, slot, &known, before)?,
        };
        // The version before may be equal; a new version is made even so.
        self.returning(|t| actions.into_iter().try_for_each(|action| t.push_always(action)))
    }
}

impl Transaction {
    /// Undoes the last change of the properties of an instance, in a new version; its classifications and the fields of
    /// its header stay.
    ///
    /// Errors: `NotFound`; `Deleted`; `InvalidArgument` if its properties never were others; those of reading history.
    pub fn undo_content(&mut self, instance: &InstanceId) -> Result<()> {
        self.reads.instance(instance.clone());
        let snapshot = self.current()?;
        let (slot, known) = snapshot.known(instance)?;
        let kind = kind_of(instance);
        let mut number = known.base;
        let properties = loop {
            let Some(before) = known.version_numbered(number) else {
                let text = format!(
                    "undo the content of {instance}: expected a version with other properties before version {}, found none",
                    known.version
                );
                return Err(Error::new(ErrorKind::InvalidArgument, text));
            };
            snapshot.check_cancelled()?;
            if before.status != Status::Deleted && snapshot.is_version_in_sight(kind, slot, before)? {
                let content = snapshot.instance(kind, slot, snapshot.content(kind, slot, before)?)?;
                if content.properties != known.properties {
                    break snapshot.named_properties(&content.properties);
                }
            }
            number = before.base;
        };
        let action = action::Replace {
            instance: instance.clone(),
            properties,
            classifications: None,
            provenance: None,
        };
        self.returning(|t| t.push_always(action.into()))
    }
}

/// The changes that undo the last change of an instance that is live and was live before.
fn undone(
    snapshot: &Snapshot,
    instance: &InstanceId,
    slot: u32,
    known: &Instance,
    before: PastVersion,
) -> Result<Vec<Action>> {
    let graph = snapshot.graph();
    let step = VersionStep {
        graph,
        instance,
        was: graph.shape_of(known, before.header),
        is: graph.shape_of(known, known.header),
        before: graph.headers.get(before.header),
        now: graph.headers.get(known.header),
    };
    match Action::undo(&step) {
        Some(Action::SetProvenance(set)) => {
            undone_content(snapshot, instance, slot, known, before, Some(set))
        }
        Some(action) => Ok(vec![action]),
        None => undone_content(snapshot, instance, slot, known, before, None),
    }
}

/// The changes that restore the content of the version before, and its provenance if `set` does. In an instance of another collection, only
/// classifications can have changed here.
fn undone_content(
    snapshot: &Snapshot,
    instance: &InstanceId,
    slot: u32,
    known: &Instance,
    before: PastVersion,
    set: Option<action::SetProvenance>,
) -> Result<Vec<Action>> {
    let kind = kind_of(instance);
    let content = snapshot.instance(kind, slot, snapshot.content(kind, slot, before)?)?;
    let is_classified_alike = content.classifications() == known.classifications();
    if content.properties == known.properties {
        if is_classified_alike {
            if let Some(set) = set {
                return Ok(vec![set.into()]);
            }
            return Ok(vec![Action::Update(action::Update {
                instance: instance.clone(),
                patch: Patch::new(),
                provenance: None,
            })]);
        }
        if !snapshot.graph().is_own(known.header) {
            let actions = undone_classifications(snapshot, instance.id(), known, &content);
            if !actions.is_empty() {
                return Ok(actions);
            }
        }
    }
    let classifications = (!is_classified_alike).then(|| {
        content.classifications().iter().map(|known| snapshot.classification_content(known)).collect()
    });
    let properties = snapshot.named_properties(&content.properties);
    let provenance = set.map(|set| Arc::new(*set.provenance));
    let replace = action::Replace { instance: instance.clone(), properties, classifications, provenance };
    Ok(vec![replace.into()])
}

fn undone_classifications(snapshot: &Snapshot, id: &Id, now: &Instance, before: &Instance) -> Vec<Action> {
    let name = |known: &Classification| Arc::clone(snapshot.graph().names.name(known.name));
    let gone = now.classifications().iter().filter(|known| before.classification(known.name).is_none());
    let mut actions: Vec<Action> = gone
        .map(|known| Action::Declassify(action::Declassify { entity: id.clone(), name: name(known) }))
        .collect();
    for known in before.classifications() {
        let content = snapshot.classification_content(known);
        match now.classification(known.name) {
            None => actions.push(Action::Classify(action::Classify { entity: id.clone(), content })),
            Some(other) if (&other.properties, other.header) != (&known.properties, known.header) => {
                let is_other = other.header != known.header;
                let provenance = is_other.then(|| content.provenance.clone().unwrap_or_default());
                let steps = content.properties.into_iter().map(|(name, value)| PatchStep::Set(name, value));
                let steps = [PatchStep::Clear].into_iter().chain(steps).collect();
                actions.push(Action::Reclassify(action::Reclassify {
                    entity: id.clone(),
                    name: name(known),
                    patch: Patch { steps },
                    provenance,
                }));
            }
            Some(_) => {}
        }
    }
    actions
}
