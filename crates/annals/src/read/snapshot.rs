//! A snapshot: the graph at one position, seen as of now or as of an earlier time. It never changes.
#![expect(clippy::expect_used, reason = "a handle comes from the graph of its snapshot")]

mod plain;

use std::collections::BTreeSet;
use std::sync::Arc;

use super::past::held::Held;
use super::past::version::{Version, VersionKey};
use super::sight::SnapshotSight;
use super::source::{Pending, Source};
use crate::cancel::{Cancel, cancelled};
use crate::graph::indexed::Indexed;
use crate::graph::instance::headers::Shape;
use crate::graph::instance::past::{PastVersion, View};
use crate::graph::instance::row::Row;
use crate::graph::instance::unpacked::Instance;
use crate::graph::structures::link::Link;
use crate::graph::structures::slot_set::Extents;
use crate::graph::structures::symbols::Symbol;
use crate::graph::table::PlainSlots;
use crate::graph::{Graph, kind_of};
use crate::model::{Direction, Id, InstanceId, Instant, LogTag, Revision, StampRef, TypeKind, Value};
use crate::{Error, ErrorKind, Position, Result};

/// The time to read as of. Missing fields mean "now".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AsOf {
    /// Transaction time: what the repository knew at this position.
    pub position: Option<Position>,
    /// Transaction time: what the repository knew at this instant. Give either this or `position`.
    pub instant: Option<Instant>,
    /// Valid time: what was true at this instant, as known at the transaction time.
    pub valid: Option<Instant>,
}

/// The graph at one position. Cloning is cheap, reading never waits, and it never changes.
///
/// ```
/// let repository = annals::Repository::in_memory();
/// let mut transaction = repository.transaction();
/// let id = transaction.create_entity(annals::NewEntity::new("person").property("name", "Ada"))?;
/// transaction.commit()?;
/// let snapshot = repository.snapshot();
/// let ada = snapshot.entity(&id)?.unwrap();
/// assert_eq!(ada.property("name").unwrap().as_str(), Some("Ada"));
/// # Ok::<(), annals::Error>(())
/// ```
#[derive(Clone)]
pub struct Snapshot {
    indexed: Arc<Indexed>,
    source: Arc<Source>,
    // `None`: the present of the graph, which needs no past versions.
    view: Option<View>,
    pending: Option<Pending>,
    // Cancels long reads.
    cancel: Option<Cancel>,
    // `None`: everything is in sight.
    sight: Option<Arc<SnapshotSight>>,
    // Entities and relationships that need no check. Decided once, because each read asks.
    plain_slots: [PlainSlots; 2],
}

impl Snapshot {
    pub(crate) fn new(indexed: Arc<Indexed>, source: Arc<Source>) -> Snapshot {
        let plain_slots = plain::slots(&indexed.graph);
        Snapshot { indexed, source, view: None, pending: None, cancel: None, sight: None, plain_slots }
    }

    pub(crate) fn with_pending(indexed: Arc<Indexed>, source: Arc<Source>, pending: Pending) -> Snapshot {
        Snapshot { pending: Some(pending), ..Snapshot::new(indexed, source) }
    }

    #[inline]
    pub(crate) fn graph(&self) -> &Graph {
        &self.indexed.graph
    }

    /// The graph with its indexes.
    pub(crate) fn indexed(&self) -> &Indexed {
        &self.indexed
    }

    pub(crate) fn source(&self) -> &Arc<Source> {
        &self.source
    }

    pub(crate) fn pending(&self) -> Option<&Pending> {
        self.pending.as_ref()
    }

    pub(crate) fn view(&self) -> Option<View> {
        self.view
    }

    pub(in crate::read) fn sight(&self) -> Option<&SnapshotSight> {
        self.sight.as_deref()
    }

    pub(super) fn with_sight(self, sight: Arc<SnapshotSight>) -> Snapshot {
        Snapshot { sight: Some(sight), plain_slots: Default::default(), ..self }
    }

    /// The same without a sight.
    pub(crate) fn unsighted(&self) -> Snapshot {
        Snapshot { sight: None, ..self.clone() }.with_plain_slots()
    }

    pub(super) fn with_view(&self, view: Option<View>) -> Snapshot {
        Snapshot { view, ..self.clone() }.with_plain_slots()
    }

    /// True if it shows the present, and not an earlier time.
    pub fn is_present(&self) -> bool {
        self.view.is_none()
    }

    /// True if it sees the present of the whole graph: then counts and lists of the graph are its own.
    #[inline]
    pub(crate) fn is_plain(&self) -> bool {
        self.view.is_none() && self.sight.is_none()
    }

    /// The same with complete indexes: for tests of the plans of a search.
    #[cfg(test)]
    pub(crate) fn settled(&self) -> Snapshot {
        self.over(Arc::new(self.indexed.settled().unwrap()), self.view)
    }

    /// The graph of this view, for keeping it.
    pub(super) fn shared_graph(&self) -> &Arc<Indexed> {
        &self.indexed
    }

    /// The same view of another graph.
    pub(super) fn over(&self, indexed: Arc<Indexed>, view: Option<View>) -> Snapshot {
        let is_plain = view.is_none() && self.sight.is_none();
        let plain_slots = if is_plain { plain::slots(&indexed.graph) } else { Default::default() };
        Snapshot {
            indexed,
            source: Arc::clone(&self.source),
            view,
            pending: self.pending.clone(),
            cancel: self.cancel.clone(),
            sight: self.sight.clone(),
            plain_slots,
        }
    }

    pub(super) fn with_cancel(self, cancel: Cancel) -> Snapshot {
        Snapshot { cancel: Some(cancel), ..self }
    }

    #[inline]
    pub(super) fn cancel(&self) -> Option<&Cancel> {
        self.cancel.as_ref()
    }

    /// Position of the last record this snapshot knows.
    pub fn position(&self) -> Position {
        self.view.map_or(self.indexed.graph.position, |view| Position(view.position))
    }

    /// The same without the record of a transaction that is not committed.
    pub(super) fn committed_position(&self) -> Position {
        let pending = self.pending.as_ref().map_or(u64::MAX, |pending| pending.position.saturating_sub(1));
        Position(self.position().0.min(pending))
    }

    /// The commit instant of the record at a position; `None` beyond this snapshot.
    pub fn instant_of(&self, position: Position) -> Option<Instant> {
        if position > self.position() {
            return None;
        }
        let index = usize::try_from(position.0.checked_sub(1)?).ok()?;
        self.indexed.graph.instants.get(index).map(|&micros| Instant::from_checked_micros(micros))
    }

    /// The same graph as of an earlier time.
    ///
    /// As of an instant of the last moments, a later snapshot may show more: a record gets its instant before it is
    /// durable. Ask [`Repository::wait_settled`](crate::Repository::wait_settled) before you take the snapshot, and what it
    /// shows never changes.
    ///
    /// Errors: `NotFound` for a position beyond the snapshot; `FutureInstant` for an instant in the future;
    /// `InvalidArgument` if both a position and an instant are given.
    pub fn as_of(&self, as_of: AsOf) -> Result<Snapshot> {
        if as_of == AsOf::default() {
            return Ok(self.clone());
        }
        for instant in [as_of.instant, as_of.valid].into_iter().flatten() {
            let last = Instant::from_checked_micros(self.indexed.graph.last_instant());
            if instant > last && instant > Instant::now() {
                return Err(future_instant(instant, last.max(Instant::now())));
            }
        }
        let position = match (as_of.position, as_of.instant) {
            (Some(_), Some(_)) => {
                return Err(Error::new(
                    ErrorKind::InvalidArgument,
                    "as of: expected a position or an instant, found both; give one",
                ));
            }
            (Some(position), None) if position > self.position() => {
                return Err(Error::new(
                    ErrorKind::NotFound,
                    format!("as of position {position}: expected at most {}", self.position()),
                ));
            }
            (Some(position), None) => position,
            // An uncommitted record has only a preliminary instant, so nothing is cached for it.
            (None, Some(instant)) if self.pending.is_some() => {
                self.indexed.graph.position_at(instant).min(self.position())
            }
            (None, Some(instant)) => self.source.position_at(self.graph(), instant).min(self.position()),
            (None, None) => self.position(),
        };
        let earlier = self.view.map_or(i64::MAX, |view| view.valid);
        let valid = as_of.valid.map_or(earlier, Instant::micros);
        let is_present = position == self.indexed.graph.position && valid == i64::MAX;
        let view = (!is_present).then_some(View { position: position.0, valid });
        let then = self.over(Arc::clone(&self.indexed), view);
        Ok(match self.sight_then(view)? {
            Some(sight) => then.with_sight(sight),
            None => then,
        })
    }

    /// Name of the collection of this repository; `None` if it has no name.
    pub fn collection(&self) -> Option<&str> {
        self.indexed.graph.collection.as_deref()
    }

    /// The slot of the instance that has this id in this snapshot.
    #[inline]
    pub(crate) fn slot_of(&self, kind: TypeKind, id: &Id) -> Option<u32> {
        self.slot_known(kind, id).filter(|slot| self.in_sight(kind, *slot))
    }

    /// The same, in sight or not.
    #[inline]
    pub(super) fn slot_known(&self, kind: TypeKind, id: &Id) -> Option<u32> {
        let table = self.indexed.graph.table(kind);
        match (table.slot(id), self.view) {
            (found, None) => found,
            (Some(slot), Some(_)) if self.indexed.graph.has_one_shape(kind, slot) => Some(slot),
            (found, Some(view)) => {
                let slot = found.or_else(|| table.former_ids.slot(id))?;
                let version = table.version_in(slot, view)?;
                (self.indexed.graph.id_in(kind, slot, version.header) == id).then_some(slot)
            }
        }
    }

    /// The id that the entity at `slot` has in this snapshot.
    pub(crate) fn id_seen(&self, slot: u32) -> &Id {
        self.id_of(TypeKind::Entity, slot)
    }

    /// The id that the instance at `slot` has in this snapshot.
    pub(crate) fn id_of(&self, kind: TypeKind, slot: u32) -> &Id {
        let table = self.indexed.graph.table(kind);
        let view = self.view.filter(|_| !self.indexed.graph.has_one_shape(kind, slot));
        let version = view.and_then(|view| table.version_in(slot, view));
        version.map_or_else(|| table.id(slot), |seen| self.indexed.graph.id_in(kind, slot, seen.header))
    }

    /// The version of the instance at `slot` that this snapshot sees; a deleted one only if asked for.
    #[inline]
    pub(crate) fn seen(&self, kind: TypeKind, slot: u32, with_deleted: bool) -> Result<Option<Held>> {
        if self.is_plain_live(kind, slot) {
            return Ok(Some(Held::InForce));
        }
        if !self.in_sight(kind, slot) {
            return Ok(None);
        }
        let table = self.indexed.graph.table(kind);
        let Some(view) = self.view else {
            let is_seen = table.is_live(slot) || with_deleted && table.row(slot).is_some();
            return if is_seen { self.in_force(kind, slot).map(Some) } else { Ok(None) };
        };
        let Some(version) = table.version_in(slot, view) else { return Ok(None) };
        if version.status == crate::Status::Deleted && !with_deleted {
            return Ok(None);
        }
        self.content(kind, slot, version).map(Some)
    }

    /// The version in force of the instance at `slot`, which must exist.
    ///
    /// Errors: those of reading spilled values. They are read when a handle is made, because the methods of a handle
    /// cannot fail.
    #[inline]
    pub(crate) fn in_force(&self, kind: TypeKind, slot: u32) -> Result<Held> {
        let table = self.indexed.graph.table(kind);
        if !table.has_spilled(slot) {
            return Ok(Held::InForce);
        }
        Ok(table.get(slot)?.map_or(Held::InForce, |whole| Held::Read(Version::new(&whole))))
    }

    /// True if this snapshot sees the instance at `slot` live. Reads nothing from the log.
    #[inline]
    pub(crate) fn sees(&self, kind: TypeKind, slot: u32) -> bool {
        if self.is_plain_live(kind, slot) {
            return true;
        }
        let table = self.indexed.graph.table(kind);
        let is_live = match self.view {
            None => table.is_live(slot),
            Some(view) => {
                let version = table.version_in(slot, view);
                version.is_some_and(|version| version.status != crate::Status::Deleted)
            }
        };
        is_live && self.in_sight(kind, slot)
    }

    /// One version of the instance at `slot`, with its content.
    pub(crate) fn content(&self, kind: TypeKind, slot: u32, version: PastVersion) -> Result<Held> {
        let table = self.indexed.graph.table(kind);
        let row = table.known_row(slot);
        if row.version() == version.version {
            return self.in_force(kind, slot);
        }
        let key = VersionKey {
            kind,
            slot,
            version: version.version,
            changed: row.changed(),
            generation: self.indexed.graph.generation,
        };
        if let Some(known) = self.kept_version(key) {
            return Ok(Held::Read(known));
        }
        let current = table.known(slot)?;
        self.past_of(kind, slot, current).read(version).map(Held::Read)
    }

    /// The row of a handle.
    #[inline]
    pub(crate) fn row<'h>(&'h self, kind: TypeKind, slot: u32, held: &'h Held) -> Row<'h> {
        match held {
            Held::InForce => self.indexed.graph.table(kind).known_row(slot),
            Held::Read(version) => version.row(),
        }
    }

    /// A property of it.
    #[inline]
    pub(crate) fn value(&self, kind: TypeKind, slot: u32, held: &Held, name: Symbol) -> Option<Value> {
        match held {
            Held::InForce => self.indexed.graph.table(kind).value(slot, name),
            Held::Read(version) => version.row().property(name),
        }
    }

    /// The same, decoded.
    pub(crate) fn instance(&self, kind: TypeKind, slot: u32, held: Held) -> Result<Arc<Instance>> {
        match held {
            Held::InForce => self.indexed.graph.table(kind).known(slot),
            Held::Read(version) => {
                version.unpack(self.indexed.graph.id_in(kind, slot, version.row().header()))
            }
        }
    }

    /// The latest version of the instance at `slot` that this snapshot knows.
    pub(super) fn latest_version_at(&self, kind: TypeKind, slot: u32) -> u32 {
        let table = self.indexed.graph.table(kind);
        table.latest_version(slot, self.position().0).expect("a handle comes from this graph")
    }

    /// The birth of the instance at `slot`; zero for an instance of a transaction that is not committed.
    pub(super) fn birth_at(&self, kind: TypeKind, slot: u32) -> Position {
        let graph = self.graph();
        let birth = Position(graph.table(kind).birth(slot).expect("a handle comes from this graph"));
        // The position of an uncommitted record changes with each commit of another transaction.
        let is_uncommitted = self.pending.as_ref().is_some_and(|pending| pending.position == birth.0);
        if is_uncommitted { Position::ZERO } else { birth }
    }

    /// The birth and the latest version of the instance with this id in this snapshot, also if it is deleted; `None`
    /// if there is none.
    pub fn revision(&self, instance: &InstanceId) -> Option<Revision> {
        let kind = kind_of(instance);
        let slot = self.slot_ever(kind, instance.id())?;
        self.graph().table(kind).latest_version(slot, self.position().0)?;
        Some(self.revision_at(kind, slot))
    }

    /// The revision of the instance at `slot`, which has a version in this snapshot.
    pub(super) fn revision_at(&self, kind: TypeKind, slot: u32) -> Revision {
        let version = self.latest_version_at(kind, slot);
        let is_of = |pending: &&Pending| {
            let row = self.graph().table(kind).row(slot);
            row.is_some_and(|row| row.changed() == pending.position && row.versions() == version)
        };
        let base = self.pending.as_ref().filter(is_of).map_or(Position::ZERO, |pending| pending.base);
        Revision { birth: self.birth_at(kind, slot), version, base, log: self.log_tag() }
    }

    /// The log of this snapshot, as tags name it.
    pub fn log_tag(&self) -> LogTag {
        self.source.log_tag()
    }

    pub(crate) fn stamp(&self, stamp: crate::graph::instance::unpacked::RowStamp) -> StampRef<'_> {
        let author = self.indexed.graph.authors.name(stamp.author);
        StampRef { instant: Instant::from_checked_micros(stamp.micros), author }
    }

    /// Number of live entities.
    ///
    /// Units: entities. In the present it is one look-up; as of an earlier time it checks every entity.
    pub fn entities_count(&self) -> u64 {
        self.instances_count(TypeKind::Entity)
    }

    /// Number of live relationships. Cost: as [`Snapshot::entities_count`].
    pub fn relationships_count(&self) -> u64 {
        self.instances_count(TypeKind::Relationship)
    }

    fn instances_count(&self, kind: TypeKind) -> u64 {
        let table = self.indexed.graph.table(kind);
        if self.is_plain() {
            return table.lists.by_type.extents.len() as u64;
        }
        self.seen_slots(kind).count() as u64
    }

    fn seen_slots(&self, kind: TypeKind) -> impl Iterator<Item = u32> + '_ {
        let slots = 0..u32::try_from(self.indexed.graph.table(kind).slots_count()).unwrap_or(u32::MAX);
        slots.filter(move |slot| self.sees(kind, *slot) && !self.is_proxy(kind, *slot))
    }

    /// False if no instance is a proxy in this snapshot, which saves checking each.
    pub(crate) fn has_proxies(&self) -> bool {
        self.indexed.graph.headers.has_proxy()
            && (self.view.is_some() || self.indexed.graph.entities.lists.proxies.present.len() > 0)
    }

    /// True if the instance at `slot` is a proxy in this snapshot.
    #[inline]
    pub(crate) fn is_proxy(&self, kind: TypeKind, slot: u32) -> bool {
        let table = self.indexed.graph.table(kind);
        let Some(view) = self.view else { return table.lists.proxies.present.contains(slot) };
        table.lists.proxies.ever.contains(slot)
            && table
                .version_in(slot, view)
                .is_some_and(|seen| self.indexed.graph.headers.get(seen.header).is_proxy)
    }

    /// The type in this snapshot of the instance at `slot`, which the snapshot sees.
    pub(crate) fn type_seen(&self, kind: TypeKind, slot: u32) -> Symbol {
        let row = self.indexed.graph.table(kind).known_row(slot);
        self.shape_seen(kind, slot).map_or_else(|| row.type_name(), |shape| shape.type_name)
    }

    /// Id, type and ends in this snapshot of the instance at `slot`; `None` if they are those of its row.
    #[inline]
    pub(crate) fn shape_seen(&self, kind: TypeKind, slot: u32) -> Option<&Shape> {
        if self.indexed.graph.has_one_shape(kind, slot) {
            return None;
        }
        let version = self.indexed.graph.table(kind).version_in(slot, self.view?)?;
        self.indexed.graph.shape(kind, slot, version.header)
    }

    /// True if the relationship has this link in this snapshot, which sees the relationship: it may have had other ends
    /// then, or another type.
    #[inline]
    pub(crate) fn has_link(&self, own: u32, direction: Direction, link: Link) -> bool {
        let (kind, slot) = (TypeKind::Relationship, link.relationship);
        if self.indexed.graph.has_one_shape(kind, slot) {
            return true;
        }
        let Some(row) = self.indexed.graph.relationships.row(slot) else { return false };
        let shape = self.shape_seen(kind, slot);
        let (found, type_name) =
            shape.map_or((row.ends(), row.type_name()), |shape| (shape.ends, shape.type_name));
        let ends = if direction == Direction::Out { [own, link.other] } else { [link.other, own] };
        found == ends && type_name == link.type_name
    }

    /// Number of live instances by type, without subtypes, most frequent first. Cost: as [`Snapshot::entities_count`].
    ///
    /// Shape: `[(type name, count)]`.
    /// Errors: those of reading history, for classifications as of an earlier time only.
    pub fn counts(&self, kind: TypeKind) -> Result<Vec<(Arc<str>, u64)>> {
        let table = self.indexed.graph.table(kind);
        let mut counts: Vec<u64> = vec![0; self.indexed.graph.names.len()];
        if kind == TypeKind::Classification {
            self.count_classified(&mut counts)?;
        } else if self.is_plain() {
            table
                .lists
                .by_type
                .extents
                .iter()
                .for_each(|(name, slots)| counts[name.index()] = slots.len() as u64);
        } else {
            for slot in self.seen_slots(kind) {
                counts[self.type_seen(kind, slot).index()] += 1;
            }
        }
        let mut named: Vec<(Arc<str>, u64)> = self
            .indexed
            .graph
            .names
            .iter()
            .zip(counts)
            .filter(|(_, count)| *count > 0)
            .map(|(name, count)| (Arc::clone(name), count))
            .collect();
        named.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        Ok(named)
    }

    fn count_classified(&self, counts: &mut [u64]) -> Result<()> {
        if self.is_plain() {
            let classified = self.indexed.graph.entities.lists.classified.present.iter();
            classified.for_each(|(name, slots)| counts[name.index()] = slots.len() as u64);
            return Ok(());
        }
        let entities = &self.indexed.graph.entities;
        let extents = [&entities.lists.classified.present, &entities.lists.classified.past]
            .into_iter()
            .flat_map(Extents::iter);
        let slots: BTreeSet<u32> = extents.flat_map(|(_, slots)| slots.iter()).collect();
        for slot in slots {
            let Some(entity) = self.entity_at(slot)?.filter(|found| !found.is_proxy()) else { continue };
            let row = self.row(TypeKind::Entity, slot, &entity.held);
            for classification in row.classifications() {
                counts[classification.name().index()] += 1;
            }
        }
        Ok(())
    }

    #[inline]
    pub(crate) fn live_slot(&self, id: &Id) -> Result<u32> {
        let found = self.slot_of(TypeKind::Entity, id).filter(|slot| self.sees(TypeKind::Entity, *slot));
        found.ok_or_else(|| self.no_entity(id))
    }

    #[cold]
    fn no_entity(&self, id: &Id) -> Error {
        let instance = InstanceId::Entity(id.clone());
        self.check_known(&instance)
            .err()
            .unwrap_or_else(|| Error::new(ErrorKind::NotFound, format!("{instance} does not exist")))
    }
}

impl Snapshot {
    /// The same snapshot; its searches and walks end with `Cancelled` once `cancel` triggers. They check every few
    /// dozen to thousand elements; look-ups of single instances do not.
    #[must_use]
    pub fn cancelled_by(&self, cancel: &Cancel) -> Snapshot {
        self.clone().with_cancel(cancel.clone())
    }

    /// Errors: `Cancelled` if reads through this snapshot were cancelled.
    #[inline]
    pub(crate) fn check_cancelled(&self) -> Result<()> {
        match self.cancel() {
            Some(cancel) if cancel.is_cancelled() => Err(cancelled()),
            _ => Ok(()),
        }
    }
}

/// The error of a read as of an instant after `now`.
pub(crate) fn future_instant(instant: Instant, now: Instant) -> Error {
    let text = format!("as of {instant}: expected an instant of the past, now is {now}");
    Error::new(ErrorKind::FutureInstant, text)
}
