//! Contents of past versions, read from the log.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use super::walk::KeptWalks;
use crate::graph::Graph;
use crate::graph::instance::{Classification, Instance, Stamp};
use crate::graph::past::{PastVersion, Place};
use crate::graph::patch::apply_patch;
use crate::graph::properties::Properties;
use crate::graph::symbols::Symbol;
use crate::log::{Log, ReadLimit};
use crate::memory::Memory;
use crate::model::{Action, Anchor, Change, ClassificationContent, InstanceId, Record, Value};
use crate::record::IndexedRecord;
use crate::{Error, ErrorKind, Position, Result};

/// Records kept in memory for reading history, unless a memory budget has less for them. Units: bytes.
const CACHE_BYTES_MAX: usize = 128 << 20;

/// Where past versions come from: the log, through a bounded cache.
pub(crate) struct Source {
    log: Arc<dyn Log>,
    memory: Arc<Memory>,
    cache: Mutex<Cache>,
    /// Walks of which more pages may be asked for.
    pub(super) walks: KeptWalks,
}

#[derive(Default)]
struct Cache {
    records: HashMap<u64, Arc<IndexedRecord>>,
    // Oldest first; the first to go.
    order: VecDeque<u64>,
    bytes: usize,
}

impl Cache {
    fn insert(&mut self, position: u64, record: Arc<IndexedRecord>, bytes_max: usize) {
        self.bytes += record.bytes_count();
        match self.records.insert(position, record) {
            None => self.order.push_back(position),
            // Another thread has read it meanwhile.
            Some(same) => self.bytes -= same.bytes_count(),
        }
        while self.bytes > bytes_max
            && let Some(oldest) = self.order.pop_front()
        {
            let gone = self.records.remove(&oldest).map_or(0, |record| record.bytes_count());
            self.bytes -= gone;
        }
    }
}

impl Source {
    pub(crate) fn new(log: Arc<dyn Log>, memory: Arc<Memory>) -> Source {
        Source { log, memory, cache: Mutex::default(), walks: KeptWalks::default() }
    }

    /// What bounds the memory of everything that is read or written.
    pub(crate) fn memory(&self) -> &Memory {
        &self.memory
    }

    pub(crate) fn log(&self) -> &Arc<dyn Log> {
        &self.log
    }

    /// Forgets all records and walks: compaction has rewritten some.
    pub(crate) fn clear(&self) {
        *self.cache.lock().unwrap_or_else(PoisonError::into_inner) = Cache::default();
        self.walks.clear();
    }

    fn record(&self, position: u64) -> Result<Arc<IndexedRecord>> {
        if let Some(record) = self.cache.lock().unwrap_or_else(PoisonError::into_inner).records.get(&position)
        {
            return Ok(Arc::clone(record));
        }
        let mut records = self.log.read(Position(position), ReadLimit::ONE)?;
        let bytes = records.pop().ok_or_else(|| {
            let text =
                format!("{}: expected a record at position {position}, found none", self.log.describe());
            Error::new(ErrorKind::Gap, text)
        })?;
        let record = Arc::new(IndexedRecord::new(Position(position), bytes)?);
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        cache.insert(position, Arc::clone(&record), self.memory.share(CACHE_BYTES_MAX));
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
            steps.push((change, stamp));
            at = current.version_numbered(at.base).ok_or_else(|| {
                damaged(
                    at.place,
                    format!("expected version {} of {id} below version {}", at.base, at.version),
                )
            })?;
        };
        for (change, stamp) in steps.iter().rev() {
            content.apply(graph, id, change, *stamp)?;
        }
        let (record, _) = self.change(wanted.place, pending)?;
        let mut instance = Instance {
            version: wanted.version,
            base: wanted.base,
            status: wanted.status,
            place: wanted.place,
            valid_from: wanted.valid_from,
            updated: stamp_of(graph, &record)?,
            properties: content.properties,
            classifications: None,
            past: None,
            ..current.clone()
        };
        instance.set_classifications(content.classifications);
        Ok(Arc::new(instance))
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

/// The content after `change` if the change alone tells it.
fn whole_content(graph: &Graph, id: &InstanceId, change: &Change, stamp: Stamp) -> Result<Option<Content>> {
    if change.action.instance().as_ref() != Some(id) {
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
        _ => return Ok(None),
    };
    Ok(Some(content))
}

fn anchored(graph: &Graph, anchor: &Anchor) -> Result<Content> {
    let stamp = |stamp: &crate::model::Stamp| {
        let author = graph.authors.find(&stamp.author).ok_or_else(|| unknown_name(&stamp.author))?;
        Ok::<_, Error>(Stamp { micros: stamp.instant.micros(), author })
    };
    let classifications = anchor
        .classifications
        .iter()
        .map(|known| {
            classification(
                graph,
                &known.content,
                known.version,
                stamp(&known.created)?,
                stamp(&known.updated)?,
            )
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
        if change.action.instance().as_ref() != Some(id) {
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
            Action::Declassify(_, name) => self.take_classification(graph, name).map(drop),
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
    Ok(Classification {
        name: symbol(graph, &content.name)?,
        version,
        created,
        updated,
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
