//! The versions of an instance, with author, time and reason.

use std::collections::VecDeque;
use std::sync::Arc;

use super::held::Held;
use super::past_of::PastOf;
use crate::graph::instance::past::PastVersion;
use crate::graph::instance::unpacked::Instance;
use crate::graph::{kind_of, reidentified};
use crate::model::{Change, Id, InstanceId, Instant, Record, Status};
use crate::read::instance::{Entity, Relationship};
use crate::read::snapshot::Snapshot;
use crate::read::stored::stored_bytes;
use crate::search::PAGE_BYTES_MAX;
use crate::structures::number::narrow;
use crate::{Error, ErrorKind, Position, Result};

/// One version of an instance, without its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VersionInfo {
    /// Its number; the first is 1.
    pub version: u32,
    /// The version it is based on; 0 for the first.
    pub base: u32,
    /// The position of its record.
    pub position: Position,
    /// Its instant.
    pub instant: Instant,
    /// Its author; may be empty.
    pub author: Arc<str>,
    /// Its reason; may be empty.
    pub message: Arc<str>,
    /// Its valid time.
    pub valid_from: Instant,
    /// Whether the instance is live in it.
    pub status: Status,
    /// Name of its status: `deleted`, `active`, or another status of its type.
    pub status_name: Arc<str>,
    /// Name of its collection then; `None` for this repository's own.
    pub home: Option<Arc<str>>,
    /// Its id then, if it has another one now.
    pub former_id: Option<Id>,
    /// True if it was only a proxy.
    pub is_proxy: bool,
    /// Its number without the versions that changed only classifications.
    pub content_version: u32,
    /// The action: create, update, delete, …
    pub verb: &'static str,
    /// True if it is the version that this snapshot sees.
    pub is_in_force: bool,
}

/// The versions of an instance to list, and their order.
///
/// ```
/// use annals::{History, InstanceId, NewEntity, Patch, Repository};
/// let repository = Repository::in_memory();
/// let (id, _) = repository.transact(|t| t.create_entity(NewEntity::new("person").property("city", "London")))?;
/// let person = InstanceId::Entity(id);
/// let (_, paris) = repository.transact(|t| t.update(&person, Patch::new().set("city", "Paris")))?;
/// repository.transact(|t| t.update(&person, Patch::new().set("city", "Bath")))?;
/// let snapshot = repository.snapshot();
/// let since_paris = History { from: Some(paris.instant), is_oldest_first: true, ..History::default() };
/// let versions = snapshot.history(&person, &since_paris)?;
/// assert_eq!(versions.last().unwrap().version, 3);
/// assert!(versions.iter().any(|version| version.instant == paris.instant));
/// # Ok::<(), annals::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct History {
    /// Leaves out versions that another one followed up to this instant: the first version is the one that was current
    /// at it.
    pub from: Option<Instant>,
    /// Only versions written before this instant.
    pub to: Option<Instant>,
    /// Oldest first instead of newest first.
    pub is_oldest_first: bool,
    /// How many to skip. Units: versions.
    pub skip: usize,
    /// Page size. Units: versions.
    pub limit: usize,
    /// Ends a page of versions with content with the one that brings its stored bytes over this. Units: bytes.
    pub bytes_max: usize,
}

impl Default for History {
    fn default() -> History {
        let bytes_max = PAGE_BYTES_MAX;
        History { from: None, to: None, is_oldest_first: false, skip: 0, limit: 100, bytes_max }
    }
}

impl Snapshot {
    /// The versions of an instance in this snapshot, newest first, skipping `offset`, at most `limit`.
    ///
    /// Errors: `NotFound` if there is no such instance.
    pub fn versions(&self, id: &InstanceId, offset: usize, limit: usize) -> Result<Vec<VersionInfo>> {
        self.history(id, &History { skip: offset, limit, bytes_max: usize::MAX, ..History::default() })
    }

    /// The versions of an instance in this snapshot, from a range of time, in an order. The times are those of writing,
    /// not valid times.
    ///
    /// Errors: `NotFound` if there is no such instance; `InvalidArgument` if `from` is later than `to`.
    pub fn history(&self, id: &InstanceId, history: &History) -> Result<Vec<VersionInfo>> {
        let info_bytes = |info: &VersionInfo| info.author.len() + info.message.len();
        self.each_version(id, history, info_bytes, |past, version, in_force| {
            let (record, change) = past.written(version)?;
            Ok(self.version_info(past, version, in_force, record, &change))
        })
    }

    /// The same for an entity, each version with its content. This is cheaper than reading them one by one, because a
    /// version is built from the one before it.
    ///
    /// ```
    /// use annals::{Entity, History, InstanceId, NewEntity, Patch, Repository};
    /// let repository = Repository::in_memory();
    /// let (id, _) = repository.transact(|t| t.create_entity(NewEntity::new("person").property("city", "London")))?;
    /// repository.transact(|t| t.update(&InstanceId::Entity(id.clone()), Patch::new().set("city", "Bath")))?;
    /// let snapshot = repository.snapshot();
    /// let versions = snapshot.entity_history(&id, &History::default())?;
    /// let cities: Vec<_> = versions.iter().filter_map(|(_, person)| person.property("city")).collect();
    /// assert_eq!(cities, ["Bath".into(), "London".into()]);
    /// # Ok::<(), annals::Error>(())
    /// ```
    ///
    /// Errors: as [`Snapshot::history`].
    pub fn entity_history(&self, id: &Id, history: &History) -> Result<Vec<(VersionInfo, Entity<'_>)>> {
        let versions = self.history_held(&InstanceId::Entity(id.clone()), history)?;
        let entity = |(slot, info, held)| (info, Entity::new(self, slot, held));
        Ok(versions.into_iter().map(entity).collect())
    }

    /// The same as [`Snapshot::entity_history`] for a relationship.
    pub fn relationship_history(
        &self,
        id: &Id,
        history: &History,
    ) -> Result<Vec<(VersionInfo, Relationship<'_>)>> {
        let versions = self.history_held(&InstanceId::Relationship(id.clone()), history)?;
        let relationship = |(slot, info, held)| (info, Relationship::new(self, slot, held));
        Ok(versions.into_iter().map(relationship).collect())
    }

    fn history_held(&self, id: &InstanceId, history: &History) -> Result<Vec<(u32, VersionInfo, Held)>> {
        let kind = kind_of(id);
        let held_bytes = |(slot, info, held): &(u32, VersionInfo, Held)| {
            info.author.len() + info.message.len() + stored_bytes(self.row(kind, *slot, held))
        };
        self.each_version(id, history, held_bytes, |past, version, in_force| {
            let (record, change) = past.written(version)?;
            let held = past.read_with(version, (&record, &change))?;
            Ok((past.slot(), self.version_info(past, version, in_force, record, &change), held))
        })
    }

    /// The results of `make` for the requested versions, in the requested order. It gets the versions oldest first,
    /// each with the number of the version that this snapshot sees.
    fn each_version<T>(
        &self,
        id: &InstanceId,
        history: &History,
        bytes_of: impl Fn(&T) -> usize,
        mut make: impl FnMut(&PastOf, PastVersion, Option<u32>) -> Result<T>,
    ) -> Result<Vec<T>> {
        if let (Some(from), Some(to)) = (history.from, history.to)
            && from > to
        {
            let text = format!("history from {from} to {to}: expected the start before the end");
            return Err(Error::new(ErrorKind::InvalidArgument, text));
        }
        let (slot, instance) = self.known_ever(id)?;
        let in_force = self.version_seen(&instance).map(|seen| seen.version);
        let mut versions = self.known_versions(&instance);
        self.keep_between(&mut versions, history);
        if !history.is_oldest_first {
            versions.reverse();
        }
        let mut page = self.page_in_sight(kind_of(id), slot, versions, history)?;
        if !history.is_oldest_first {
            page.reverse();
        }
        let past = self.past_of(kind_of(id), slot, instance);
        let (mut made, mut bytes) = (VecDeque::new(), 0);
        for version in page {
            self.check_cancelled()?;
            let one = make(&past, version, in_force)?;
            bytes += bytes_of(&one);
            made.push_back(one);
            if bytes >= history.bytes_max && history.is_oldest_first {
                break;
            }
            // If the page is full without the oldest versions, they are dropped.
            while let Some(oldest) = made.front().map(&bytes_of)
                && made.len() > 1
                && bytes - oldest >= history.bytes_max
            {
                bytes -= oldest;
                made.pop_front();
            }
        }
        let mut made = Vec::from(made);
        if !history.is_oldest_first {
            made.reverse();
        }
        Ok(made)
    }

    fn version_info(
        &self,
        past: &PastOf,
        version: PastVersion,
        in_force: Option<u32>,
        record: Record,
        change: &Change,
    ) -> VersionInfo {
        let header = self.graph().headers.get(version.header);
        VersionInfo {
            version: version.version,
            content_version: header.content_version(version.version),
            base: version.base,
            position: Position(version.place.position),
            instant: record.instant,
            author: record.author,
            message: record.message,
            valid_from: Instant::from_checked_micros(version.valid_from),
            status: version.status,
            status_name: self.status_name(&version),
            home: header.home().cloned(),
            former_id: past.former_id(version),
            is_proxy: header.is_proxy,
            verb: change.action.verb(),
            is_in_force: in_force == Some(version.version),
        }
    }

    /// Versions are written in order of time, so a range of time is a range of versions.
    fn keep_between(&self, versions: &mut Vec<PastVersion>, history: &History) {
        let written = |version: &PastVersion| self.instant_of(Position(version.place.position));
        if let Some(to) = history.to {
            let end =
                versions.partition_point(|version| written(version).is_some_and(|instant| instant < to));
            versions.truncate(end);
        }
        if let Some(from) = history.from {
            let later =
                versions.partition_point(|version| written(version).is_some_and(|instant| instant <= from));
            versions.drain(..later.saturating_sub(1));
        }
    }

    /// An entity in the version with this number, also a deleted one; `None` if there is no such version.
    ///
    /// Errors: `NotFound` if there is no such entity.
    pub fn entity_version(&self, id: &Id, version: u32) -> Result<Option<Entity<'_>>> {
        let id = InstanceId::Entity(id.clone());
        let held = self.instance_version(&id, version)?;
        Ok(held.map(|(slot, held)| Entity::new(self, slot, held)))
    }

    /// A relationship in the version with this number, also a deleted one; `None` if there is no such version.
    ///
    /// Errors: `NotFound` if there is no such relationship.
    pub fn relationship_version(&self, id: &Id, version: u32) -> Result<Option<Relationship<'_>>> {
        let id = InstanceId::Relationship(id.clone());
        let held = self.instance_version(&id, version)?;
        Ok(held.map(|(slot, held)| Relationship::new(self, slot, held)))
    }

    pub(crate) fn instance_version(&self, id: &InstanceId, version: u32) -> Result<Option<(u32, Held)>> {
        let (slot, instance) = self.known_ever(id)?;
        let found = instance.version_numbered(version);
        let mut found = Vec::from_iter(found.filter(|version| version.place.position <= self.position().0));
        self.retain_in_sight(kind_of(id), slot, &mut found)?;
        found.pop().map(|found| Ok((slot, self.content(kind_of(id), slot, found)?))).transpose()
    }

    /// The version that this snapshot sees, even a deleted one.
    pub(crate) fn version_seen(&self, instance: &Instance) -> Option<PastVersion> {
        match self.view() {
            None => Some(instance.in_force()),
            Some(view) => instance.version_in(view),
        }
    }

    fn known_versions(&self, instance: &Instance) -> Vec<PastVersion> {
        let last = self.position().0;
        let mut versions = instance.all_versions();
        versions.retain(|version| version.place.position <= last);
        versions
    }

    pub(in crate::read) fn status_name(&self, version: &PastVersion) -> Arc<str> {
        let own = self.graph().headers.get(version.header).status.as_ref();
        match (version.status, own) {
            (Status::Active, Some(status)) => Arc::clone(status),
            (status, _) => status.name().into(),
        }
    }

    /// Distinguishes an instance that became known after this snapshot from an unknown or a deleted one.
    ///
    /// Errors: `NotFound` for the first. The text names the time since when it is known, and the fact `validAt` its
    /// valid time: a read with such a valid time finds it.
    pub fn check_known(&self, id: &InstanceId) -> Result<()> {
        if self.view().is_none() {
            return Ok(());
        }
        let Ok((_, instance)) = self.known_ever(id) else { return Ok(()) };
        let first = instance.all_versions()[0];
        if first.place.position <= self.position().0 {
            return Ok(());
        }
        let since = Instant::from_checked_micros(
            self.graph().instants[narrow::<usize, u64>(first.place.position - 1)],
        );
        let text = format!("{id} is known since {since}, after the time asked for");
        let valid_from = Instant::from_checked_micros(first.valid_from);
        Err(Error::new(ErrorKind::NotFound, text).with("validAt", valid_from))
    }

    /// Why a read does not find an instance that has another id now, or became known after this snapshot.
    ///
    /// Errors: `Deleted` for a former id, in the present; those of [`Snapshot::check_known`].
    pub fn check_present_id(&self, id: &InstanceId) -> Result<()> {
        let is_former = |error: &Error| error.kind() == ErrorKind::Deleted;
        match self.view().is_none().then(|| self.known(id).err()).flatten().filter(is_former) {
            Some(error) => Err(error),
            None => self.check_known(id),
        }
    }

    /// The same as [`Snapshot::known`], for any id that the instance ever had.
    fn known_ever(&self, id: &InstanceId) -> Result<(u32, Arc<Instance>)> {
        let table = self.graph().table(kind_of(id));
        let former = table.former_ids.slot(id.id()).filter(|_| table.slot(id.id()).is_none());
        let former = former.filter(|slot| self.in_sight(kind_of(id), *slot));
        let Some(slot) = former else { return self.known(id) };
        let found = table.known(slot)?;
        Ok((slot, found))
    }

    /// The slot and the instance, live or not.
    pub(crate) fn known(&self, id: &InstanceId) -> Result<(u32, Arc<Instance>)> {
        let kind = kind_of(id);
        let table = self.graph().table(kind);
        // Order: to decode a hidden instance would take time that an absent one does not.
        let slot = table.slot(id.id()).filter(|slot| self.in_sight(kind, *slot));
        if let Some(slot) = slot
            && let Some(instance) = table.get(slot)?
        {
            return Ok((slot, instance));
        }
        Err(match table.former_ids.slot(id.id()).filter(|slot| self.in_sight(kind, *slot)) {
            Some(slot) => reidentified(id, table.id(slot)),
            None => Error::new(ErrorKind::NotFound, format!("{id} does not exist")),
        })
    }
}
