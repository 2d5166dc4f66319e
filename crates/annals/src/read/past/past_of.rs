//! Reads the past versions of one instance.

use crate::graph::actions as action;
use std::sync::Arc;

use super::content::{Content, stamp_known, stamp_of, whole_content};
use super::earlier_edits::without_edits;
use super::held::Held;
use super::version::{Version, VersionKey};
use crate::graph::instance::headers::PLAIN;
use crate::graph::instance::past::{ChangePlace, PastVersion};
use crate::graph::instance::unpacked::{Instance, RowStamp};
use crate::graph::{Graph, instance_id};
use crate::model::{Action, Change, Id, InstanceId, Record, TypeKind};
use crate::read::snapshot::Snapshot;
use crate::{Error, ErrorKind, Result};

/// An instance whose past versions are read.
pub(in crate::read) struct PastOf<'s> {
    snapshot: &'s Snapshot,
    current: Arc<Instance>,
    key: VersionKey,
    id: InstanceId,
}

impl Snapshot {
    /// The past of the instance at `slot`, whose version in force is `current`.
    pub(in crate::read) fn past_of(&self, kind: TypeKind, slot: u32, current: Arc<Instance>) -> PastOf<'_> {
        let generation = self.graph().generation;
        let key = VersionKey { kind, slot, version: current.version, changed: current.changed, generation };
        PastOf { snapshot: self, key, id: instance_id(kind, current.id.clone()), current }
    }

    /// A version from the cache. A transaction may write its own versions again, so these are not cached.
    #[inline]
    pub(in crate::read) fn kept_version(&self, key: VersionKey) -> Option<Version> {
        if self.pending().is_some() { None } else { self.source().versions.get(key) }
    }
}

impl PastOf<'_> {
    fn graph(&self) -> &Graph {
        self.snapshot.graph()
    }

    /// The record of a version (without its other changes), and the change that wrote it.
    pub(super) fn written(&self, version: PastVersion) -> Result<(Record, Change)> {
        self.snapshot.source().change(version.place, self.snapshot.pending())
    }

    /// A version with its content; the caller has checked that it is not in the cache.
    pub(in crate::read) fn read(&self, wanted: PastVersion) -> Result<Version> {
        let (record, change) = self.written(wanted)?;
        self.made(wanted, (&record, &change))
    }

    /// Any version, together with the change that wrote it.
    pub(in crate::read) fn read_with(
        &self,
        wanted: PastVersion,
        written: (&Record, &Change),
    ) -> Result<Held> {
        if wanted.version == self.current.version {
            return self.snapshot.in_force(self.key.kind, self.key.slot);
        }
        let version = self.kept(wanted).map_or_else(|| self.made(wanted, written), Ok)?;
        Ok(Held::Read(version))
    }

    pub(super) fn slot(&self) -> u32 {
        self.key.slot
    }

    /// The id of the instance in a version, if it has another one now.
    pub(super) fn former_id(&self, version: PastVersion) -> Option<Id> {
        let id = self.graph().id_in(self.key.kind, self.key.slot, version.header);
        (*id != self.current.id).then(|| id.clone())
    }

    fn key(&self, version: PastVersion) -> VersionKey {
        VersionKey { version: version.version, ..self.key }
    }

    fn kept(&self, version: PastVersion) -> Option<Version> {
        self.snapshot.kept_version(self.key(version))
    }

    /// Builds a version from the change that wrote it, and from the one before.
    fn made(&self, wanted: PastVersion, (record, change): (&Record, &Change)) -> Result<Version> {
        let graph = self.graph();
        let stamp = stamp_of(graph, record)?;
        let shape = graph.shape_of(&self.current, wanted.header);
        let id = instance_id(self.key.kind, shape.id.clone());
        let Content { properties, classifications } = match self.whole(&id, change, stamp, wanted)? {
            Some(content) => content,
            None => {
                let mut content = self.content(self.base_of(wanted)?)?;
                content.apply(graph, &id, change, stamp)?;
                content
            }
        };
        let header = graph.headers.get(wanted.header);
        let created =
            header.created.map_or(self.current.created, |(micros, author)| RowStamp { micros, author });
        let updated = match copied_stamp(&change.action, &id) {
            Some(stamp) => stamp_known(graph, stamp)?,
            None => stamp,
        };
        let mut instance = Instance {
            id: shape.id,
            type_name: shape.type_name,
            ends: shape.ends,
            header: wanted.header,
            created,
            version: wanted.version,
            base: wanted.base,
            status: wanted.status,
            place: wanted.place,
            valid_from: wanted.valid_from,
            updated,
            properties: without_edits(graph, shape.type_name, properties),
            classifications: None,
            past: None,
            versions: self.current.versions,
            live_from: self.current.live_from,
            changed: self.current.changed,
            since_anchor: self.current.since_anchor,
        };
        instance.set_classifications(classifications);
        let version = Version::new(&instance);
        if self.snapshot.pending().is_none() {
            self.snapshot.source().keep_version(graph, self.key(wanted), &version);
        }
        Ok(version)
    }

    /// The content of a version: goes back to a change with the whole content, the version in force, or a cached
    /// version.
    fn content(&self, wanted: PastVersion) -> Result<Content> {
        let mut steps = Vec::new();
        let mut at = wanted;
        let mut content = loop {
            if at.version == self.current.version {
                break Content::of(&self.current);
            }
            let id = self.named(at);
            if let Some(known) = self.kept(at) {
                break Content::of(&*known.unpack(id.id())?);
            }
            let (record, change) = self.written(at)?;
            let stamp = stamp_of(self.graph(), &record)?;
            if let Some(content) = self.whole(&id, &change, stamp, at)? {
                break content;
            }
            steps.push((id, change, stamp));
            at = self.base_of(at)?;
        };
        for (id, change, stamp) in steps.iter().rev() {
            content.apply(self.graph(), id, change, *stamp)?;
        }
        Ok(content)
    }

    fn whole(
        &self,
        id: &InstanceId,
        change: &Change,
        stamp: RowStamp,
        at: PastVersion,
    ) -> Result<Option<Content>> {
        if change.action == Action::Void(action::Void) {
            let text =
                format!("{id}: version {} was purged and compacted away; take a new snapshot", at.version);
            return Err(Error::new(ErrorKind::NotFound, text));
        }
        whole_content(self.graph(), id, change, stamp)
    }

    fn base_of(&self, version: PastVersion) -> Result<PastVersion> {
        self.current.version_numbered(version.base).ok_or_else(|| {
            let (base, number) = (version.base, version.version);
            damaged(version.place, format!("expected version {base} of {} below version {number}", self.id))
        })
    }

    /// The instance with its id in a version.
    fn named(&self, version: PastVersion) -> InstanceId {
        if self.current.header == PLAIN {
            return self.id.clone();
        }
        instance_id(self.key.kind, self.graph().shape_of(&self.current, version.header).id)
    }
}

/// The stamp of the latest change of a copy at its home, from the action that saves it.
fn copied_stamp<'a>(action: &'a Action, id: &InstanceId) -> Option<&'a crate::model::Stamp> {
    match (action, id) {
        (Action::SaveEntity(copy), InstanceId::Entity(id)) if copy.id == *id => Some(&copy.header.updated),
        (Action::SaveRelationship(copy), InstanceId::Relationship(id)) if copy.id == *id => {
            Some(&copy.header.updated)
        }
        (Action::SaveProxy(proxy), InstanceId::Entity(id)) if proxy.id == *id => {
            proxy.origin.as_ref().map(|(_, _, updated)| updated)
        }
        _ => None,
    }
}

fn damaged(place: ChangePlace, text: String) -> Error {
    Error::new(ErrorKind::Corrupted, text).with("position", place.position).with("change", place.change)
}
