//! Contents of past versions, read from the log.

use std::sync::Arc;

use super::recent::Recent;
use super::walk::KeptWalks;
use crate::graph::Graph;
use crate::graph::headers::{Header, HeaderNumber, PLAIN};
use crate::graph::instance::{Classification, Instance, Stamp};
use crate::graph::kind_of;
use crate::graph::past::{PastVersion, Place};
use crate::graph::patch::apply_patch;
use crate::graph::properties::Properties;
use crate::graph::symbols::Symbol;
use crate::log::{Log, ReadLimit};
use crate::memory::Memory;
use crate::model::{
    Action, Anchor, Change, ClassificationContent, ClassificationCopy, InstanceId, Provenance, Record,
    TypeKind, Value,
};
use crate::record::IndexedRecord;
use crate::{Error, ErrorKind, Position, Result};

/// Records kept in memory for reading history, unless a memory budget has less for them. Units: bytes.
const RECORDS_BYTES_MAX: usize = 128 << 20;
/// The same of versions that were read.
const VERSIONS_BYTES_MAX: usize = 32 << 20;
/// A larger version is not kept. Units: bytes.
const VERSION_BYTES_MAX: usize = 16 << 10;

/// Where past versions come from: the log, through a bounded cache.
pub(crate) struct Source {
    log: Arc<dyn Log>,
    memory: Arc<Memory>,
    records: Recent<u64, IndexedRecord>,
    versions: Recent<VersionKey, Instance>,
    /// Walks of which more pages may be asked for.
    pub(super) walks: KeptWalks,
}

/// Which version of an instance, as an instance that was last changed at a position knows it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct VersionKey {
    pub(super) kind: TypeKind,
    pub(super) slot: u32,
    pub(super) version: u32,
    pub(super) changed: u64,
}

impl Source {
    pub(crate) fn new(log: Arc<dyn Log>, memory: Arc<Memory>) -> Source {
        Source { log, memory, records: Recent::new(), versions: Recent::new(), walks: KeptWalks::default() }
    }

    /// What bounds the memory of everything that is read or written.
    pub(crate) fn memory(&self) -> &Memory {
        &self.memory
    }

    pub(crate) fn log(&self) -> &Arc<dyn Log> {
        &self.log
    }

    /// Forgets all records, versions and walks: compaction has rewritten some.
    pub(crate) fn clear(&self) {
        self.records.clear();
        self.versions.clear();
        self.walks.clear();
    }

    fn record(&self, position: u64) -> Result<Arc<IndexedRecord>> {
        if let Some(record) = self.records.get(position) {
            return Ok(record);
        }
        let mut records = self.log.read(Position(position), ReadLimit::ONE)?;
        let bytes = records.pop().ok_or_else(|| {
            let text =
                format!("{}: expected a record at position {position}, found none", self.log.describe());
            Error::new(ErrorKind::Gap, text)
        })?;
        let record = Arc::new(IndexedRecord::new(Position(position), bytes)?);
        let bytes = record.bytes_count();
        self.records.insert(position, Arc::clone(&record), bytes, self.memory.share(RECORDS_BYTES_MAX));
        Ok(record)
    }

    /// The record (without its other changes) and the change at `place`.
    pub(crate) fn change(&self, place: Place, pending: Option<&Pending>) -> Result<(Record, Change)> {
        if let Some(pending) = pending.filter(|pending| pending.position == place.position) {
            let Record { instant, author, message, valid_from, changes } = &*pending.record;
            let (author, message) = (Arc::clone(author), Arc::clone(message));
            let head =
                Record { instant: *instant, author, message, valid_from: *valid_from, changes: Vec::new() };
            return Ok((head, changes[place.change as usize].clone()));
        }
        let record = self.record(place.position)?;
        Ok((record.head.clone(), record.change(place.change)?))
    }

    /// A version that was read before.
    pub(super) fn known_version(&self, key: VersionKey) -> Option<Arc<Instance>> {
        self.versions.get(key)
    }

    /// Keeps a version that was read, unless it is large.
    pub(super) fn keep_version(&self, key: VersionKey, version: &Arc<Instance>) {
        let bytes = bytes_about(version);
        if bytes <= VERSION_BYTES_MAX {
            self.versions.insert(key, Arc::clone(version), bytes, self.memory.share(VERSIONS_BYTES_MAX));
        }
    }

    /// The content of a version that is not in force.
    pub(crate) fn version(
        &self,
        graph: &Graph,
        pending: Option<&Pending>,
        id: &InstanceId,
        current: &Instance,
        wanted: PastVersion,
    ) -> Result<Arc<Instance>> {
        let mut steps = Vec::new();
        let mut at = wanted;
        let mut content = loop {
            if at.version == current.version {
                let Instance { properties, classifications, .. } = current.clone();
                break Content { properties, classifications: classifications.unwrap_or_default().to_vec() };
            }
            let id = &named(graph, id, current, at);
            let (record, change) = self.change(at.place, pending)?;
            if change.action == Action::Void {
                return Err(Error::new(
                    ErrorKind::NotFound,
                    format!(
                        "{id}: version {} was purged and compacted away; take a new snapshot",
                        at.version
                    ),
                ));
            }
            let stamp = stamp_of(graph, &record)?;
            if let Some(content) = whole_content(graph, id, &change, stamp)? {
                break content;
            }
            steps.push((id.clone(), change, stamp));
            at = current.version_numbered(at.base).ok_or_else(|| {
                damaged(
                    at.place,
                    format!("expected version {} of {id} below version {}", at.base, at.version),
                )
            })?;
        };
        for (id, change, stamp) in steps.iter().rev() {
            content.apply(graph, id, change, *stamp)?;
        }
        let (record, change) = self.change(wanted.place, pending)?;
        let shape = graph.shape_of(current, wanted.header);
        let header = graph.headers.get(wanted.header);
        let created = header.created.map_or(current.created, |(micros, author)| Stamp { micros, author });
        let updated = match copied_stamp(&change.action, &named(graph, id, current, wanted)) {
            Some(stamp) => stamp_known(graph, stamp)?,
            None => stamp_of(graph, &record)?,
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
            properties: content.properties,
            classifications: None,
            past: None,
            ..current.clone()
        };
        instance.set_classifications(content.classifications);
        Ok(Arc::new(instance))
    }
}

/// What an instance takes in memory, roughly, or more than is kept. Units: bytes.
fn bytes_about(instance: &Instance) -> usize {
    let of_properties =
        |properties: &Properties| properties.iter().map(|(_, value)| value_bytes(value)).sum();
    let classified: usize =
        instance.classifications().iter().map(|known| of_properties(&known.properties)).sum();
    let own: usize = of_properties(&instance.properties);
    size_of::<Instance>() + size_of_val(instance.classifications()) + own + classified
}

fn value_bytes(value: &Value) -> usize {
    size_of::<(Symbol, Value)>()
        + match value {
            Value::String(text) | Value::Iri(text) => text.len(),
            Value::Bytes(bytes) => bytes.len(),
            // Counting them may take longer than reading them again.
            Value::List(_) | Value::Map(_) | Value::Set(_) => VERSION_BYTES_MAX,
            _ => 0,
        }
}

/// The record of a transaction that is not committed, for reading versions it wrote itself.
#[derive(Clone)]
pub(crate) struct Pending {
    pub(crate) position: u64,
    pub(crate) record: Arc<Record>,
}

struct Content {
    properties: Properties,
    classifications: Vec<Classification>,
}

/// True if `action`, which wrote a version of the instance, names it. Otherwise it names an entity that took the
/// relationship along. Its id may be any that the instance had: a correction names the one of its own time.
fn is_named(action: &Action, id: &InstanceId) -> bool {
    action.instance().is_some_and(|named| kind_of(&named) == kind_of(id))
}

/// The content after `change` if the change alone tells it.
fn whole_content(graph: &Graph, id: &InstanceId, change: &Change, stamp: Stamp) -> Result<Option<Content>> {
    if !is_named(&change.action, id) {
        return Ok(None);
    }
    if let Some(anchor) = &change.anchor {
        let mut content = anchored(graph, anchor)?;
        content.stamp_written(graph, &change.action, stamp)?;
        return Ok(Some(content));
    }
    let content = match &change.action {
        Action::CreateEntity(new) => Content {
            properties: properties(graph, &new.properties)?,
            classifications: new
                .classifications
                .iter()
                .map(|content| classification(graph, content, 1, stamp, stamp))
                .collect::<Result<_>>()?,
        },
        Action::CreateRelationship(new) => {
            Content { properties: properties(graph, &new.properties)?, classifications: Vec::new() }
        }
        Action::SaveEntity(copy) => Content {
            properties: properties(graph, &copy.properties)?,
            classifications: copy
                .classifications
                .iter()
                .map(|known| copied(graph, known))
                .collect::<Result<_>>()?,
        },
        Action::SaveProxy(proxy) => {
            Content { properties: properties(graph, &proxy.properties)?, classifications: Vec::new() }
        }
        Action::SaveRelationship(copy) => {
            Content { properties: properties(graph, &copy.properties)?, classifications: Vec::new() }
        }
        _ => return Ok(None),
    };
    Ok(Some(content))
}

/// What a version of `current` was called.
fn named(graph: &Graph, id: &InstanceId, current: &Instance, version: PastVersion) -> InstanceId {
    if current.header == PLAIN {
        return id.clone();
    }
    let name = graph.shape_of(current, version.header).id;
    match id {
        InstanceId::Entity(_) => InstanceId::Entity(name),
        InstanceId::Relationship(_) => InstanceId::Relationship(name),
    }
}

/// When a copy that `action` saves of `id` was changed last, as its home says.
fn copied_stamp<'a>(action: &'a Action, id: &InstanceId) -> Option<&'a crate::model::Stamp> {
    match (action, id) {
        (Action::SaveEntity(copy), InstanceId::Entity(id)) if copy.id == *id => Some(&copy.header.updated),
        (Action::SaveRelationship(copy), InstanceId::Relationship(id)) if copy.id == *id => {
            Some(&copy.header.updated)
        }
        _ => None,
    }
}

fn stamp_known(graph: &Graph, stamp: &crate::model::Stamp) -> Result<Stamp> {
    let author = graph.authors.find(&stamp.author).ok_or_else(|| unknown_name(&stamp.author))?;
    Ok(Stamp { micros: stamp.instant.micros(), author })
}

fn copied(graph: &Graph, copy: &ClassificationCopy) -> Result<Classification> {
    let mut provenance = copy.provenance.clone();
    if provenance.home == graph.collection {
        provenance.home = None;
    }
    let provenance = (provenance != Provenance::default()).then(|| Arc::new(provenance));
    Ok(Classification {
        name: symbol(graph, &copy.name)?,
        version: copy.version,
        header: header_of(graph, provenance)?,
        created: stamp_known(graph, &copy.created)?,
        updated: stamp_known(graph, &copy.updated)?,
        properties: properties(graph, &copy.properties)?,
    })
}

/// The header of a classification of this provenance.
fn header_of(graph: &Graph, provenance: Option<Arc<Provenance>>) -> Result<HeaderNumber> {
    let header = Header { provenance, ..Header::default() };
    graph.headers.find(&header).ok_or_else(|| unknown_name("of a classification's provenance"))
}

/// The header that a classification which was given here got.
fn own_header(graph: &Graph, content: &ClassificationContent) -> Result<HeaderNumber> {
    match &content.provenance {
        None => Ok(PLAIN),
        Some(given) => header_of(graph, graph.own_provenance(given)?),
    }
}

fn anchored(graph: &Graph, anchor: &Anchor) -> Result<Content> {
    let stamp = |stamp: &crate::model::Stamp| stamp_known(graph, stamp);
    let classifications = anchor
        .classifications
        .iter()
        .map(|known| {
            // Earlier versions of Annals wrote what was given, not what was kept of it.
            let header = header_of(graph, known.content.provenance.clone())
                .or_else(|_| own_header(graph, &known.content))?;
            let (created, updated) = (stamp(&known.created)?, stamp(&known.updated)?);
            let known = classification_with(graph, &known.content, header, known.version)?;
            Ok(Classification { created, updated, ..known })
        })
        .collect::<Result<_>>()?;
    Ok(Content { properties: properties(graph, &anchor.properties)?, classifications })
}

impl Content {
    /// The anchor was made before the commit instant was known, so what its own change wrote has another stamp.
    fn stamp_written(&mut self, graph: &Graph, action: &Action, stamp: Stamp) -> Result<()> {
        let written = match action {
            Action::Classify(_, content) => vec![symbol(graph, &content.name)?],
            Action::Reclassify(_, name, _) => vec![symbol(graph, name)?],
            Action::Replace(_, _, Some(contents)) => {
                contents.iter().map(|content| symbol(graph, &content.name)).collect::<Result<_>>()?
            }
            _ => Vec::new(),
        };
        for known in self.classifications.iter_mut().filter(|known| written.contains(&known.name)) {
            known.updated = stamp;
            if known.version == 1 {
                known.created = stamp;
            }
        }
        Ok(())
    }

    fn apply(&mut self, graph: &Graph, id: &InstanceId, change: &Change, stamp: Stamp) -> Result<()> {
        if !is_named(&change.action, id) {
            // An entity was deleted or restored with its relationships, and this is one of them.
            return Ok(());
        }
        match &change.action {
            Action::Update(_, patch) => {
                apply_patch(&mut self.properties, patch, |name| symbol(graph, name)).map(drop)
            }
            Action::Replace(_, entries, classifications) => {
                self.properties = properties(graph, entries)?;
                if let Some(contents) = classifications {
                    let before = std::mem::take(&mut self.classifications);
                    for content in contents {
                        let name = symbol(graph, &content.name)?;
                        let known = before.iter().find(|known| known.name == name);
                        // What another collection attached, a replacement leaves alone.
                        if let Some(known) = known.filter(|known| !graph.is_own(known.header)) {
                            self.classifications.push(known.clone());
                            continue;
                        }
                        self.classifications.push(succeed(graph, known, content, stamp)?);
                    }
                }
                Ok(())
            }
            Action::Classify(_, content) => {
                let known = self.take_classification(graph, &content.name)?;
                self.classifications.push(succeed(graph, known.as_ref(), content, stamp)?);
                Ok(())
            }
            Action::Reclassify(_, name, patch) => {
                let Some(mut known) = self.take_classification(graph, name)? else { return Ok(()) };
                apply_patch(&mut known.properties, patch, |name| symbol(graph, name))?;
                known.version += 1;
                known.updated = stamp;
                self.classifications.push(known);
                Ok(())
            }
            Action::Declassify(_, name) | Action::PurgeClassificationCopy(_, name, _) => {
                self.take_classification(graph, name).map(drop)
            }
            Action::SaveClassification(_, copy) => {
                self.take_classification(graph, &copy.name)?;
                self.classifications.push(copied(graph, copy)?);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn take_classification(&mut self, graph: &Graph, name: &str) -> Result<Option<Classification>> {
        let name = symbol(graph, name)?;
        let found = self.classifications.iter().position(|known| known.name == name);
        Ok(found.map(|at| self.classifications.remove(at)))
    }
}

fn succeed(
    graph: &Graph,
    known: Option<&Classification>,
    content: &ClassificationContent,
    stamp: Stamp,
) -> Result<Classification> {
    let version = known.map_or(1, |known| known.version + 1);
    classification(graph, content, version, known.map_or(stamp, |known| known.created), stamp)
}

fn classification(
    graph: &Graph,
    content: &ClassificationContent,
    version: u32,
    created: Stamp,
    updated: Stamp,
) -> Result<Classification> {
    let known = classification_with(graph, content, own_header(graph, content)?, version)?;
    Ok(Classification { created, updated, ..known })
}

/// A classification whose stamps are still to be told.
fn classification_with(
    graph: &Graph,
    content: &ClassificationContent,
    header: HeaderNumber,
    version: u32,
) -> Result<Classification> {
    let untold = Stamp { micros: 0, author: Symbol(0) };
    Ok(Classification {
        name: symbol(graph, &content.name)?,
        header,
        version,
        created: untold,
        updated: untold,
        properties: properties(graph, &content.properties)?,
    })
}

fn properties(graph: &Graph, entries: &[(Arc<str>, Value)]) -> Result<Properties> {
    let entries = entries.iter().map(|(name, value)| Ok((symbol(graph, name)?, value.clone())));
    Ok(Properties::from_entries(entries.collect::<Result<_>>()?))
}

fn stamp_of(graph: &Graph, record: &Record) -> Result<Stamp> {
    let author = graph.authors.find(&record.author).ok_or_else(|| unknown_name(&record.author))?;
    Ok(Stamp { micros: record.instant.micros(), author })
}

fn symbol(graph: &Graph, name: &str) -> Result<Symbol> {
    graph.names.find(name).ok_or_else(|| unknown_name(name))
}

fn unknown_name(name: &str) -> Error {
    Error::new(
        ErrorKind::Corrupted,
        format!("history: the name {name:?} was not there when the log was replayed; run `annals check`"),
    )
}

fn damaged(place: Place, text: String) -> Error {
    Error::new(ErrorKind::Corrupted, text).with("position", place.position).with("change", place.change)
}
