//! A candidate as the entity that holds it: its base, and its edits as the bytes of records.

use std::collections::HashSet;
use std::sync::Arc;

use super::model::{CANDIDATES_MAX, Candidate, Unconfirmed};
use crate::graph::actions as action;
use crate::model::{
    Action, Change, Id, InstanceId, Instant, NewEntity, NewRelationship, Patch, Record, TypeKind, Value,
};
use crate::read::{Entity, Snapshot};
use crate::record::{RECORDS_PROPERTY as EDITS, decode_record, encode_record};
use crate::search::Find;
use crate::write::Transaction;
use crate::write::build::internal::CANDIDATE;
pub(super) use crate::write::build::purged_edits::{COMMITTED, CONFIRM_BEFORE};
use crate::write::undo::found::BuiltOn;
use crate::{Error, ErrorKind, Position, Result};

/// Why undoing it failed.
pub(super) const FAILURE: &str = "failure";
/// Position that the edits are based on. Without it: the position of the entity's latest version.
const BASE: &str = "base";
/// The number of changes in the edits.
const CHANGES: &str = "changes";
/// Most properties with edits; when there are more, all edits are packed into few properties.
const EDITS_MAX: usize = 32;
/// A property holds at most about this many bytes of edits, or a single larger change.
const EDITS_BYTES: usize = 4 << 20;

/// The id of the entity that holds a candidate.
pub(super) fn id_of(name: &str) -> Result<Id> {
    if name.is_empty() || name.contains('/') || name == "." || name == ".." {
        let text = format!(
            "candidate {name:?}: expected a name without slashes that is not \".\" or \"..\"; choose another"
        );
        return Err(Error::new(ErrorKind::InvalidArgument, text));
    }
    Id::new(&format!("{CANDIDATE}:{name}"))
}

/// A candidate as read from its entity.
pub(super) struct StoredCandidate {
    pub(super) name: Arc<str>,
    pub(super) instance: InstanceId,
    pub(super) snapshot: Snapshot,
    candidate: Candidate,
    /// The names and the bytes of the properties that hold edits, in order.
    edits: Vec<(Arc<str>, Arc<[u8]>)>,
}

impl StoredCandidate {
    /// Errors: `NotFound`.
    pub(super) fn read(snapshot: &Snapshot, name: &str) -> Result<StoredCandidate> {
        let id = id_of(name)?;
        let Some(entity) = snapshot.entity(&id)?.filter(|entity| entity.type_name() == CANDIDATE) else {
            let text = format!("candidate {name}: it does not exist; open it first");
            return Err(Error::new(ErrorKind::NotFound, text).with("candidate", name));
        };
        let mut edits = Vec::new();
        for (property, value) in entity.properties() {
            if let (true, Value::Bytes(bytes)) = (property.starts_with(EDITS), value) {
                edits.push((Arc::from(property), bytes));
            }
        }
        edits.sort();
        let candidate = candidate_of(name.into(), &entity);
        let instance = InstanceId::Entity(id);
        Ok(StoredCandidate { name: name.into(), instance, snapshot: snapshot.clone(), candidate, edits })
    }

    /// The same candidate, if it is open.
    ///
    /// Errors: `PreconditionFailed` if it waits for a confirmation.
    pub(super) fn open(self) -> Result<StoredCandidate> {
        let Some(unconfirmed) = &self.candidate.unconfirmed else { return Ok(self) };
        let text = format!(
            "candidate {}: it was committed at position {} and waits for its confirmation until {}; confirm it, or take it back",
            self.name, unconfirmed.position, unconfirmed.confirm_before
        );
        Err(Error::new(ErrorKind::PreconditionFailed, text).with("candidate", &self.name))
    }

    /// The same candidate, if it waits for a confirmation.
    ///
    /// Errors: `PreconditionFailed`.
    pub(super) fn unconfirmed(self) -> Result<StoredCandidate> {
        if self.candidate.unconfirmed.is_some() {
            return Ok(self);
        }
        let text = format!("candidate {}: nothing waits for a confirmation; it is open", self.name);
        Err(Error::new(ErrorKind::PreconditionFailed, text).with("candidate", &self.name))
    }

    pub(super) fn into_candidate(self) -> Candidate {
        self.candidate
    }

    pub(super) fn candidate(&self) -> &Candidate {
        &self.candidate
    }

    pub(super) fn base(&self) -> Position {
        self.candidate.base
    }

    /// The edits, in order.
    ///
    /// Errors: `Corrupted` if another program wrote the entity.
    pub(super) fn edits(&self) -> Result<Vec<Change>> {
        let mut changes = Vec::new();
        for (property, bytes) in &self.edits {
            let record = decode_record(Position::ZERO, bytes).map_err(|error| {
                let name = &self.name;
                let text = format!("candidate {name}: {property}: expected edits as a record; discard it");
                Error::new(ErrorKind::Corrupted, text).caused_by(error)
            })?;
            changes.extend(record.changes);
        }
        Ok(changes)
    }

    /// Adds edits. `t` must be on the snapshot that this was read from.
    pub(super) fn add(&self, t: &mut Transaction, edits: &[Change]) -> Result<()> {
        if edits.is_empty() {
            return Ok(());
        }
        let pieces = pieces(edits);
        if self.edits.len() + pieces.len() > EDITS_MAX {
            let all = [self.edits()?, edits.to_vec()].concat();
            return self.put(t, self.base(), &all);
        }
        let last = self.edits.last().and_then(|(property, _)| property.strip_prefix(EDITS)?.parse().ok());
        let next = last.map_or(1, |last: usize| last + 1);
        let count = i64::try_from(self.candidate.changes_count).unwrap_or(i64::MAX);
        self.write(t, Patch::new(), self.base(), count, (next, pieces, edits.len()))
    }

    /// Replaces all edits by others, with another base.
    pub(super) fn put(&self, t: &mut Transaction, base: Position, edits: &[Change]) -> Result<()> {
        let patch = self.edits.iter().fold(Patch::new(), |patch, (property, _)| patch.unset(property));
        self.write(t, patch, base, 0, (1, pieces(edits), edits.len()))
    }

    /// Opens it again after its commit was undone. The instances that it had created are now deleted, so its edits
    /// restore them.
    /// Edits of the instances that `stay` as they are, because others built on them, are dropped.
    pub(super) fn open_again(&self, t: &mut Transaction, stay: &[BuiltOn]) -> Result<()> {
        let stay: HashSet<&InstanceId> = stay.iter().map(|stays| &stays.instance).collect();
        let is_kept = |edit: &Change| !edit.action.named_instances().any(|instance| stay.contains(&instance));
        let edits: Vec<Change> = self.edits()?.into_iter().filter(is_kept).flat_map(brought_back).collect();
        self.put(t, self.base(), &edits)?;
        // Its base is the position at which the commit is undone.
        t.update(&self.instance, Patch::new().unset(BASE))
    }

    fn write(
        &self,
        t: &mut Transaction,
        mut patch: Patch,
        base: Position,
        count: i64,
        (first, pieces, more): (usize, Vec<Arc<[u8]>>, usize),
    ) -> Result<()> {
        for (number, bytes) in (first..).zip(pieces) {
            patch = patch.set(&format!("{EDITS}{number:09}"), Value::Bytes(bytes));
        }
        let count = count.saturating_add(i64::try_from(more).unwrap_or(i64::MAX));
        let base = i64::try_from(base.0).unwrap_or(i64::MAX);
        t.update(&self.instance, patch.set(BASE, base).set(CHANGES, count))
    }
}

/// The changes that restore an instance instead of creating it; any other change is unchanged.
fn brought_back(change: Change) -> Vec<Change> {
    let Change { action, valid_from, .. } = change;
    let (instance, properties, classifications, provenance) = match action {
        Action::CreateEntity(NewEntity { id, properties, classifications, provenance, .. }) => {
            (InstanceId::Entity(id), properties, Some(classifications), provenance)
        }
        Action::CreateRelationship(NewRelationship { id, properties, provenance, .. }) => {
            (InstanceId::Relationship(id), properties, None, provenance)
        }
        action => return vec![Change { valid_from, ..Change::from(action) }],
    };
    let restore = action::Restore { instance: instance.clone(), with_relationships: false };
    let replace = action::Replace { instance, properties, classifications, provenance };
    [Action::from(restore), replace.into()].map(|action| Change { valid_from, ..Change::from(action) }).into()
}

/// Opens a candidate.
pub(super) fn open(t: &mut Transaction, name: &str) -> Result<()> {
    let id = id_of(name)?;
    let base = t.base().clone();
    if let Some(found) = base.entity(&id)? {
        if found.type_name() != CANDIDATE {
            let text = format!(
                "candidate {name}: expected that its id is free, found the entity {id} of the type {}; choose another name",
                found.type_name()
            );
            return Err(Error::new(ErrorKind::AlreadyExists, text).with("candidate", name));
        }
        let text = format!("candidate {name}: there is one of this name; edit it, or discard it first");
        return Err(Error::new(ErrorKind::AlreadyExists, text).with("candidate", name));
    }
    if all(&base)?.len() >= CANDIDATES_MAX {
        let text = format!("candidate {name}: expected at most {CANDIDATES_MAX} candidates; discard some");
        return Err(Error::new(ErrorKind::TooLarge, text));
    }
    t.message(&format!("candidate {name}: opened"));
    let position = i64::try_from(base.position().0).unwrap_or(i64::MAX);
    let entity = NewEntity { id, ..NewEntity::new(CANDIDATE) };
    t.create_entity(entity.property(BASE, position).property(CHANGES, 0)).map(drop)
}

/// All candidates, by name.
pub(super) fn all(snapshot: &Snapshot) -> Result<Vec<Candidate>> {
    let graph = snapshot.graph();
    if !graph.names.find(CANDIDATE).is_some_and(|name| graph.is_type_known(TypeKind::Entity, name)) {
        return Ok(Vec::new());
    }
    let found = snapshot.find_entities(&Find::of(CANDIDATE).limit(CANDIDATES_MAX))?;
    let named = found.items.iter().filter_map(|entity| {
        let id = entity.id().to_string();
        let name = id.strip_prefix(CANDIDATE)?.strip_prefix(':')?;
        Some(candidate_of(name.into(), entity))
    });
    let mut all: Vec<Candidate> = named.collect();
    all.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(all)
}

fn candidate_of(name: Arc<str>, entity: &Entity<'_>) -> Candidate {
    let number = |property| match entity.property(property) {
        Some(Value::Integer(number)) => u64::try_from(number).ok(),
        _ => None,
    };
    let confirm_before = match entity.property(CONFIRM_BEFORE) {
        Some(Value::Timestamp(instant)) => Some(instant),
        _ => None,
    };
    let failure = entity.property(FAILURE).and_then(|value| value.as_str().map(Arc::from));
    let unconfirmed = confirm_before.map(|confirm_before: Instant| Unconfirmed {
        position: number(COMMITTED).map_or(entity.position(), Position),
        confirm_before,
        failure,
    });
    Candidate {
        name,
        base: number(BASE).map_or(entity.position(), Position),
        changes_count: number(CHANGES).unwrap_or(0),
        created: entity.created().to_stamp(),
        updated: entity.updated().to_stamp(),
        unconfirmed,
    }
}

/// The edits divided into values for properties.
fn pieces(edits: &[Change]) -> Vec<Arc<[u8]>> {
    let record = |changes: &[Change]| {
        let changes = changes.to_vec();
        let (instant, author, message) = (Instant::default(), Arc::default(), Arc::default());
        encode_record(&Record { instant, author, message, changes, ..Record::default() })
    };
    let whole = record(edits);
    if whole.len() <= EDITS_BYTES || edits.len() <= 1 {
        return vec![whole.into()];
    }
    let (first, second) = edits.split_at(edits.len() / 2);
    [pieces(first), pieces(second)].concat()
}
