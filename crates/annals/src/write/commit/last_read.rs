//! The log of a graph that others write: its identity, its last record that was read, and the latest look at it.

use std::time::{Duration, Instant};

use crate::graph::Graph;
use crate::graph::indexed::Indexed;
use crate::log::{Log, LogId, ReadLimit, Term, another_log};
use crate::{Error, Position, Result};

/// While there is nothing to read, the last record is compared with the log so often.
const COMPARE_EVERY: Duration = Duration::from_secs(1);

/// A longer last record is compared only when another one follows it. Units: bytes.
const COMPARED_BYTES_MAX: usize = 1 << 20;

/// The outcome of the latest look at the log.
pub(super) struct Looked {
    /// How far a graph is read anew, and how far it has to be.
    pub(super) anew: (Position, Position),
    /// When snapshots last had every record.
    pub(super) current_at: Instant,
    pub(super) problem: Option<Error>,
}

impl Default for Looked {
    fn default() -> Looked {
        Looked { anew: Default::default(), current_at: Instant::now(), problem: None }
    }
}

/// The log of a graph, and the last record that was read from it.
#[derive(Default)]
pub(in crate::write) struct LastRead {
    log: Option<LogId>,
    /// The highest term that a record has begun which was read.
    pub(in crate::write) term: Term,
    record: Option<KnownRecord>,
    /// The generation of a published graph, and the generation of the log with which it goes on: it has every record that
    /// rewritings between them changed.
    gone_on: Option<(u64, u64)>,
    /// The graph that is to replace the published one.
    pub(super) anew: Anew,
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
    fn of(position: Position, generation: u64, bytes: &[u8]) -> KnownRecord {
        KnownRecord {
            position,
            generation,
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
        let generation = self.generation_of(graph);
        self.record.filter(|known| (known.position, known.generation) == (graph.position, generation))
    }

    /// Notes the last record of `graph`.
    pub(super) fn note(&mut self, graph: &Graph, bytes: &[u8]) {
        self.record = Some(KnownRecord::of(graph.position, self.generation_of(graph), bytes));
    }

    /// The generation of the log with which a graph goes on.
    fn generation_of(&self, graph: &Graph) -> u64 {
        self.gone_on.filter(|(of, _)| *of == graph.generation).map_or(graph.generation, |(_, log)| log)
    }

    /// True if the records that the log has now are those that follow the graph's.
    pub(super) fn fits(&self, graph: &Graph, log: &dyn Log) -> bool {
        self.generation_of(graph) == log.generation()
    }

    /// Lets a graph go on with a log that was rewritten, if it has every record that was changed: it has applied the
    /// purges, as the rewriting has. False if it has not.
    pub(super) fn go_on(&mut self, graph: &Graph, log: &dyn Log) -> bool {
        let generation = log.generation();
        let rewritten = log.rewritten_since(self.generation_of(graph));
        // Order: asked again, because the log may be rewritten between both questions.
        let goes_on = graph.position >= rewritten && log.generation() == generation;
        if goes_on {
            self.gone_on = Some((graph.generation, generation));
        }
        goes_on
    }

    /// Called when a graph that was read anew is published.
    pub(super) fn forget_generation(&mut self) {
        (self.gone_on, self.record) = (None, None);
    }

    /// The tail of the log. Refuses a log that is not the one of graphs up to `shown`, as far as this is seen without its
    /// records.
    pub(super) fn check(&mut self, log: &dyn Log, shown: Position) -> Result<Position> {
        let id = log.id();
        // An old log gets an id when a writer opens it.
        if self.log.is_some_and(|known| known != id && known != LogId::NIL) {
            return Err(another_log(&log.describe(), "it has another id"));
        }
        self.log = Some(id);
        let tail = log.tail()?;
        if tail >= shown {
            return Ok(tail);
        }
        let text = format!("expected records up to {shown}, found them up to {tail}");
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
            && self.fits(graph, log)
            && !known.is(record)
        {
            return Err(other_record(log, graph.position));
        }
        if let Some(record) = records.first() {
            self.note(graph, record);
        }
        Ok(())
    }
}

/// A graph that is read anew, because the log was rewritten.
#[derive(Default)]
pub(super) struct Anew {
    /// As far as it is read; `None` before the first step.
    pub(super) begun: Option<Box<(Indexed, LastRead)>>,
    /// The last record of the graph that was dropped for want of memory, with its instant: the same must be there again.
    pub(super) dropped: Option<(Position, i64)>,
    /// Set after a failure.
    pub(super) pause: Option<Pause>,
    /// The last record of the log, at the latest step.
    pub(super) tail: Position,
}

pub(super) struct Pause {
    pub(super) length: Duration,
    pub(super) ends_at: Instant,
    /// True if the published graph went on meanwhile. Once it does not, the pause is over.
    pub(super) is_current: bool,
    pub(super) error: Error,
}

impl Anew {
    /// Begins again at the next step, although it failed a moment ago.
    pub(super) fn end_pause(&mut self) {
        if let Some(pause) = &mut self.pause {
            pause.ends_at = Instant::now();
        }
    }

    /// The last record that snapshots have shown, with its instant, if `published` is now in the place of their graph.
    pub(super) fn shown(&self, published: &Graph) -> (Position, i64) {
        self.dropped.unwrap_or_else(|| (published.position, published.last_instant()))
    }

    /// The last record that it has read, and the last one of the log.
    pub(super) fn progress(&self) -> (Position, Position) {
        let read = self.begun.as_ref().map_or(Position::ZERO, |begun| begun.0.graph.position);
        (read, self.tail.max(read))
    }
}

/// The error of a log that has another record at `position` than was read there.
pub(super) fn other_record(log: &dyn Log, position: Position) -> Error {
    another_log(&log.describe(), &format!("there is another record at position {position}"))
}
