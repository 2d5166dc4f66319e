//! The log for reading the past, through bounded caches.

use crate::graph::actions as action;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::past::recent::Recent;
use super::past::version::{Version, VersionKey, Versions};
use super::walk::KeptWalks;
use crate::graph::Graph;
use crate::graph::instance::past::ChangePlace;
use crate::log::{Log, ReadLimit, another_log};
use crate::memory::Memory;
use crate::model::{Action, Change, Instant, LogTag, Record};
use crate::record::IndexedRecord;
use crate::{Error, ErrorKind, Position, Result};

/// Size of the records cached for reading history, unless a memory budget allows less. Units: bytes.
const RECORDS_BYTES_MAX: usize = 128 << 20;

/// The source of past versions: the log, through a bounded cache.
pub(crate) struct Source {
    log: Arc<dyn Log>,
    memory: Arc<Memory>,
    records: Recent<u64, Arc<IndexedRecord>>,
    /// Cached versions.
    pub(super) versions: Versions,
    /// The instant of the latest look-up, with the last position at that instant or before.
    asked: Mutex<Option<(Instant, Position)>>,
    /// Walks whose next pages may be requested.
    pub(super) walks: KeptWalks,
    /// True while the log is not the one that the graphs were read from.
    is_of_other_log: AtomicBool,
    /// Once the log has an id: an old log gets one when a writer opens it.
    log_tag: OnceLock<LogTag>,
}

impl Source {
    pub(crate) fn new(log: Arc<dyn Log>, memory: Arc<Memory>) -> Source {
        let (records, versions, walks) = (Recent::new(), Versions::new(), KeptWalks::default());
        let is_of_other_log = AtomicBool::default();
        let (asked, log_tag) = (Mutex::default(), OnceLock::new());
        Source { log, memory, records, versions, asked, walks, is_of_other_log, log_tag }
    }

    /// The memory budget for reads and writes.
    pub(crate) fn memory(&self) -> &Arc<Memory> {
        &self.memory
    }

    pub(crate) fn log(&self) -> &Arc<dyn Log> {
        &self.log
    }

    /// The log, as tags name it.
    pub(crate) fn log_tag(&self) -> LogTag {
        if let Some(known) = self.log_tag.get() {
            return *known;
        }
        let found = LogTag::of(self.log.id().0);
        if found == LogTag::NONE { found } else { *self.log_tag.get_or_init(|| found) }
    }

    /// Drops all cached records, versions and walks: compaction has rewritten records.
    pub(crate) fn clear(&self) {
        self.records.clear();
        self.versions.clear();
        self.walks.clear();
    }

    /// Drops kept walks whose time is over: their graphs hold what was removed since.
    pub(crate) fn let_go_of_walks(&self) {
        self.walks.let_go();
    }

    /// Refuses to read the past from now on, or again reads it.
    pub(crate) fn set_of_other_log(&self, is_of_other_log: bool) {
        self.is_of_other_log.store(is_of_other_log, Ordering::SeqCst);
    }

    /// True while the log is not the one that the graphs were read from.
    pub(crate) fn is_of_other_log(&self) -> bool {
        self.is_of_other_log.load(Ordering::SeqCst)
    }

    fn record(&self, position: u64) -> Result<Arc<IndexedRecord>> {
        if let Some(record) = self.records.get(position) {
            return Ok(record);
        }
        if self.is_of_other_log() {
            return Err(another_log(&self.log.describe(), "the past was asked for"));
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
    pub(crate) fn change(&self, place: ChangePlace, pending: Option<&Pending>) -> Result<(Record, Change)> {
        if let Some(pending) = pending.filter(|pending| pending.position == place.position) {
            let Record { instant, author, message, valid_from, idempotency_key, changes } = &*pending.record;
            let (author, message) = (Arc::clone(author), Arc::clone(message));
            let head = Record {
                instant: *instant,
                author,
                message,
                valid_from: *valid_from,
                idempotency_key: *idempotency_key,
                changes: Vec::new(),
            };
            return Ok((head, changes[place.change as usize].clone()));
        }
        let record = self.record(place.position)?;
        let change = record.change(place.change)?;
        if change.action == Action::Void(action::Void) {
            let text = format!(
                "record {}: the instance was purged, and its past was compacted away, since this snapshot was taken; \
                 take another snapshot",
                place.position
            );
            return Err(Error::new(ErrorKind::NotFound, text));
        }
        Ok((record.head.clone(), change))
    }

    /// The last position of `graph`, all of which is committed, at `instant` or before. The result is cached, because a
    /// time is often used again.
    pub(super) fn position_at(&self, graph: &Graph, instant: Instant) -> Position {
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((known, position)) = *asked
            && known == instant
        {
            return position.min(graph.position);
        }
        let position = graph.position_at(instant);
        // The present last record may be followed by one at the same instant.
        if position < graph.position {
            *asked = Some((instant, position));
        }
        position
    }

    /// Caches a version.
    pub(super) fn keep_version(&self, graph: &Graph, key: VersionKey, version: &Version) {
        let instances = graph.entities.slots_count() + graph.relationships.slots_count();
        let transactions = usize::try_from(graph.position.0).unwrap_or(usize::MAX);
        self.versions.insert(key, version, instances.saturating_add(transactions), &self.memory);
    }
}

/// The record of an uncommitted transaction, for reading the versions it wrote itself.
#[derive(Clone)]
pub(crate) struct Pending {
    pub(crate) position: u64,
    pub(crate) record: Arc<Record>,
    /// Base of the candidate that these changes are edits of; zero if there is none.
    pub(crate) base: Position,
}
