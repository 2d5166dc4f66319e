//! The effect of one change of the log on the instance it names.

use std::sync::Arc;

use crate::graph::instance::headers::Shape;
use crate::graph::instance::past::{ChangePlace, PastVersion};
use crate::graph::instance::unpacked::{Instance, NO_ENDS};
use crate::graph::instance_id;
use crate::graph::structures::symbols::Symbol;
use crate::model::{Action, Change, Id, InstanceId, Instant, Record, Status, TypeDefinition, TypeKind};
use crate::read::past::without_purged::WrittenVersion;
use crate::read::sight::snapshot_sight::VersionsInSight;
use crate::read::taken_along::Slot;
use crate::read::{AsOf, Difference, Snapshot};
use crate::tree::TreePath;
use crate::{Position, Result};

/// Most relationships of an entity and its contents that are checked for the count of those deleted or restored with
/// it. Units: relationships.
const TAKEN_ALONG_MAX: usize = 1_000_000;

/// One change of a record.
#[derive(Clone, Debug, PartialEq)]
pub enum LoggedChange {
    /// It made a version of an instance.
    Instance(Box<LoggedInstance>),
    /// It declared or extended a type, by this definition.
    Type(Box<TypeDefinition>),
    /// It named the collection of this repository.
    Collection(Arc<str>),
}

/// The version of an instance that a change made.
#[derive(Clone, Debug, PartialEq)]
pub struct LoggedInstance {
    /// The action: create, update, delete, …
    pub verb: &'static str,
    /// The instance, with its id in this version.
    pub id: InstanceId,
    /// Where it is in the tree of the default root as of the record, or was right before it deleted the instance; for a
    /// relationship that contains a child, the place of the child. `None` if it is in no tree, and under a sight.
    pub path: Option<TreePath>,
    /// Name of its type in this version.
    pub type_name: Arc<str>,
    /// Relationships: ids of the start and end entities in this version.
    pub ends: Option<[Id; 2]>,
    /// The number of the version.
    pub version: u32,
    /// The version it is based on; 0 for the first.
    pub base: u32,
    /// Name of its status in this version.
    pub status: Arc<str>,
    /// Its valid time.
    pub valid_from: Instant,
    /// The classification that was added, changed or removed, if the change has one.
    pub classification: Option<Arc<str>>,
    /// The differences from the version it is based on. The first version is compared with an instance without content
    /// and status.
    pub difference: Difference,
    /// How many relationships were deleted or restored with the entity.
    ///
    /// Units: relationships that still exist. If the entity and its contents have or had over a million, only that many
    /// are checked.
    pub relationships_count: usize,
    /// The same for contained entities at all levels.
    pub contained_count: usize,
}

impl LoggedChange {
    /// The action, by its name at every door.
    pub fn verb(&self) -> &'static str {
        match self {
            LoggedChange::Instance(instance) => instance.verb,
            LoggedChange::Type(_) => "define-type",
            LoggedChange::Collection(_) => "name-collection",
        }
    }
}

/// A version, found by the change that wrote it.
pub(super) struct Written<'s> {
    snapshot: &'s Snapshot,
    pub(super) kind: TypeKind,
    pub(super) slot: u32,
    instance: Arc<Instance>,
    version: PastVersion,
    /// The version that it is based on, unless it is hidden.
    base: Option<PastVersion>,
    // `None` without a sight.
    versions_in_sight: Option<&'s VersionsInSight>,
}

impl<'s> Written<'s> {
    /// The version of `id` that was written at `place`; `None` if it was purged since, even if another instance has its
    /// id now.
    pub(super) fn find(
        snapshot: &'s Snapshot,
        id: &InstanceId,
        place: ChangePlace,
    ) -> Result<Option<Written<'s>>> {
        let written = snapshot.written_version(id, place)?;
        Ok(written
            .map(|WrittenVersion { slot, instance, version }| Written::of(snapshot, slot, instance, version)))
    }

    /// The same for the instance at this slot.
    pub(super) fn at(
        snapshot: &'s Snapshot,
        (kind, slot): (TypeKind, u32),
        place: ChangePlace,
    ) -> Result<Option<Written<'s>>> {
        let Some(instance) = snapshot.graph().table(kind).get(slot)? else { return Ok(None) };
        let Some(version) = instance.written_at(place) else { return Ok(None) };
        Ok(Some(Written::of(snapshot, (kind, slot), instance, version)))
    }

    fn of(
        snapshot: &'s Snapshot,
        (kind, slot): Slot,
        instance: Arc<Instance>,
        version: PastVersion,
    ) -> Written<'s> {
        let base = instance.version_numbered(version.base);
        Written { snapshot, kind, slot, instance, version, base, versions_in_sight: None }
    }

    /// The same under a sight; `None` if this version is not in it.
    pub(super) fn within(
        self,
        versions_in_sight: Option<&'s VersionsInSight>,
    ) -> Result<Option<Written<'s>>> {
        let Some(versions) = versions_in_sight else { return Ok(Some(self)) };
        if !versions.has(self.kind, self.slot, self.version)? {
            return Ok(None);
        }
        let base = match self.base {
            Some(base) if versions.has(self.kind, self.slot, base)? => Some(base),
            _ => None,
        };
        Ok(Some(Written { base, versions_in_sight, ..self }))
    }

    /// Its type in this version, and in the version before.
    pub(super) fn types(&self) -> [Symbol; 2] {
        let type_in =
            |version: PastVersion| self.snapshot.graph().shape_of(&self.instance, version.header).type_name;
        [type_in(self.version), type_in(self.base.unwrap_or(self.version))]
    }

    /// The effect of the change; `head` is its record without changes.
    pub(super) fn logged(&self, head: &Record, change: &Change) -> Result<LoggedInstance> {
        let (snapshot, version) = (self.snapshot, self.version);
        let graph = snapshot.graph();
        let shape = graph.shape_of(&self.instance, version.header);
        let past = snapshot.past_of(self.kind, self.slot, Arc::clone(&self.instance));
        let before = self.base.map(|base| snapshot.content(self.kind, self.slot, base)).transpose()?;
        let after = past.read_with(version, (head, change))?;
        let ends = (shape.ends != NO_ENDS).then(|| shape.ends.map(|end| snapshot.id_seen(end).clone()));
        let [relationships_count, contained_count] = self.taken_along(&change.action)?;
        let path = self.path(&shape)?;
        Ok(LoggedInstance {
            verb: change.action.verb(),
            id: instance_id(self.kind, shape.id),
            path,
            type_name: Arc::clone(graph.names.name(shape.type_name)),
            ends,
            version: version.version,
            base: version.base,
            status: snapshot.status_name(&version),
            valid_from: Instant::from_checked_micros(version.valid_from),
            classification: change.action.classification().map(Into::into),
            difference: snapshot.difference_held(self.kind, self.slot, before, after)?,
            relationships_count,
            contained_count,
        })
    }

    /// The path as of the record, or right before it for a deletion.
    fn path(&self, shape: &Shape) -> Result<Option<TreePath>> {
        let graph = self.snapshot.graph();
        // To look at the tree of each record under a sight, all instances must be asked.
        if self.versions_in_sight.is_some() {
            return Ok(None);
        }
        let entity = match self.kind {
            TypeKind::Relationship if graph.containment(shape.type_name).is_none() => return Ok(None),
            TypeKind::Relationship => shape.ends[1],
            _ => self.slot,
        };
        if !graph.types.has_containment {
            return Ok(None);
        }
        let position = self.version.place.position;
        let is_deleted = self.version.status == Status::Deleted;
        let as_of = AsOf { position: Some(Position(position - u64::from(is_deleted))), ..AsOf::default() };
        let then = self.snapshot.as_of(as_of)?;
        then.tree().path_of(then.id_seen(entity))
    }

    /// How many relationships, and how many entities, were deleted or restored with the entity.
    fn taken_along(&self, action: &Action) -> Result<[usize; 2]> {
        if self.kind != TypeKind::Entity || !action.writes_along() {
            return Ok([0, 0]);
        }
        let mut taken = self.snapshot.taken_along(self.slot, self.version.place, TAKEN_ALONG_MAX)?;
        if let Some(versions_in_sight) = self.versions_in_sight {
            let place = self.version.place;
            let mut kept = Vec::new();
            for (kind, slot) in taken.into_iter().filter(|(kind, slot)| self.snapshot.in_sight(*kind, *slot))
            {
                let known = self.snapshot.graph().table(kind).get(slot)?;
                let version = known.and_then(|known| known.written_at(place));
                if version.map_or(Ok(false), |version| versions_in_sight.has(kind, slot, version))? {
                    kept.push((kind, slot));
                }
            }
            taken = kept;
        }
        let relationships = taken.iter().filter(|(kind, _)| *kind == TypeKind::Relationship).count();
        Ok([relationships, taken.len() - relationships])
    }
}
