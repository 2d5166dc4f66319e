//! The log of a graph that others write: its identity, its last record that was read, and the latest look at it.

use std::time::{Duration, Instant};

use crate::graph::Graph;
use crate::log::{Log, LogId, ReadLimit, Term, another_log};
use crate::{Error, Position, Result};

/// While there is nothing to read, the last record is compared with the log so often.
const COMPARE_EVERY: Duration = Duration::from_secs(1);

/// A longer last record is compared only when another one follows it. Units: bytes.
const COMPARED_BYTES_MAX: usize = 1 << 20;

/// The outcome of the latest look at the log.
pub(super) struct Looked {
    /// When snapshots last had every record.
    pub(super) current_at: Instant,
    pub(super) problem: Option<Error>,
}

impl Default for Looked {
    fn default() -> Looked {
        Looked { current_at: Instant::now(), problem: None }
    }
}

/// The log of a graph, and the last record that was read from it.
#[derive(Default)]
pub(in crate::write) struct LastRead {
    log: Option<LogId>,
    /// The highest term that a record has begun which was read.
    pub(in crate::write) term: Term,
    pub(super) record: Option<KnownRecord>,
}

#[derive(Clone, Copy)]
pub(super) struct KnownRecord {
    pub(super) position: Position,
    /// A rewriting of the log may change a record.
    generation: u64,
    /// Units: bytes.
    pub(super) length: usize,
    checksum: u32,
    compared_at: Instant,
}

impl KnownRecord {
    pub(super) fn of(graph: &Graph, bytes: &[u8]) -> KnownRecord {
        KnownRecord {
            position: graph.position,
            generation: graph.generation,
            length: bytes.len(),
            checksum: crc32c::crc32c(bytes),
            compared_at: Instant::now(),
        }
    }

    pub(super) fn is(&self, bytes: &[u8]) -> bool {
        (self.length, self.checksum) == (bytes.len(), crc32c::crc32c(bytes))
    }
}

impl LastRead {
    /// The record that `graph` has last, if it was read from the log.
    pub(super) fn record_of(&self, graph: &Graph) -> Option<KnownRecord> {
        self.record.filter(|known| (known.position, known.generation) == (graph.position, graph.generation))
    }

    /// The tail of the log. Refuses a log that is not the one of `graph`, as far as this is seen without its records.
    pub(super) fn check(&mut self, log: &dyn Log, graph: &Graph) -> Result<Position> {
        let id = log.id();
        // An old log gets an id when a writer opens it.
        if self.log.is_some_and(|known| known != id && known != LogId::NIL) {
            return Err(another_log(&log.describe(), "it has another id"));
        }
        self.log = Some(id);
        let tail = log.tail()?;
        if tail >= graph.position {
            return Ok(tail);
        }
        let text = format!("expected records up to {}, found them up to {tail}", graph.position);
        Err(another_log(&log.describe(), &text))
    }

    /// Refuses a log that has another record in the place of the one that `graph` has last. Reads that record if it is
    /// not known yet, and otherwise now and then.
    pub(super) fn compare(&mut self, log: &dyn Log, graph: &Graph) -> Result<()> {
        let known = self.record_of(graph);
        let is_due = known.is_none_or(|known| {
            known.length <= COMPARED_BYTES_MAX && known.compared_at.elapsed() >= COMPARE_EVERY
        });
        if !is_due || graph.position == Position::ZERO {
            return Ok(());
        }
        let records = log.read(graph.position, ReadLimit::ONE)?;
        if let (Some(known), Some(record)) = (known, records.first())
            && log.generation() == graph.generation
            && !known.is(record)
        {
            return Err(other_record(log, graph.position));
        }
        self.record = records.first().map(|record| KnownRecord::of(graph, record));
        Ok(())
    }
}

/// The error of a log that has another record at `position` than was read there.
pub(super) fn other_record(log: &dyn Log, position: Position) -> Error {
    another_log(&log.describe(), &format!("there is another record at position {position}"))
}
