//! Reads on in a log that others write, in a follower and after a lost race, and proves that it is still the log that the
//! graph was read from.

use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant as Clock};

use super::last_read::{KnownRecord, LastRead, Looked, other_record};
use super::outcome::not_writer;
use super::queue::Committer;
use super::request::CommitRequest;
use super::sequencer::{Pending, Sequenced, Sequencer};
use crate::graph::Graph;
use crate::graph::indexed::Indexed;
use crate::log::{ReadLimit, Term, is_another_log};
use crate::memory::{Memory, StoredData};
use crate::model::Instant;
use crate::record::term_of;
use crate::{Error, ErrorKind, Position, Result};

/// How often in a row a graph is rebuilt because the log was rewritten meanwhile.
const REBUILDS_MAX: usize = 10;

/// While there is more to read, what was read is published so often.
const PUBLISH_EVERY: Duration = Duration::from_millis(5);

/// How a repository that was opened read-only stands to the log that it follows.
#[derive(Debug)]
pub struct Following {
    /// The last record that new snapshots have.
    pub position: Position,
    /// The time since new snapshots last had every record of the log.
    pub age: Duration,
    /// Why it cannot read on now. It keeps trying.
    pub problem: Option<Error>,
    /// True if the log is not the one that the graph was read from, or has lost records since: then snapshots show what
    /// is in no log any more.
    pub is_of_other_log: bool,
}

/// Applies the records that are in the log and not published, and publishes the graph.
///
/// A follower's own thread and its caller take turns, so that an older graph never replaces a newer one.
///
/// Errors: those of the log; `Unavailable` if it is another log, or has lost records that were read from it.
pub(crate) fn catch_up(committer: &Committer) -> Result<Graph> {
    let mut last = committer.last_read.lock().unwrap_or_else(PoisonError::into_inner);
    let begun = (committer.clock)();
    let outcome = read_published(committer, &mut last);
    let mut looked = committer.looked.lock().unwrap_or_else(PoisonError::into_inner);
    committer.source.set_of_other_log(outcome.as_ref().is_err_and(is_another_log));
    match &outcome {
        Ok(_) => {
            committer.note_looked(begun);
            *looked = Looked::default();
        }
        Err(error) => looked.problem = Some(error.duplicate()),
    }
    outcome
}

/// Reads on in a repository that does not write at present. Does nothing while it begins or ends to write.
pub(crate) fn follow(committer: &Committer) -> Result<Graph> {
    if !committer.may_write {
        return catch_up(committer);
    }
    let Some(sequencer) = committer.idle_sequencer() else {
        return Ok(committer.publisher.load().graph.clone());
    };
    let outcome = catch_up(committer);
    committer.return_sequencer(sequencer);
    outcome
}

/// The end of the log.
pub(in crate::write) struct LogEnd {
    pub(in crate::write) position: Position,
    /// The earliest instant of a next record.
    pub(in crate::write) instant: Instant,
    /// The highest term that a record has begun since the repository was opened.
    pub(in crate::write) term: Term,
}

/// Reads to the end of the log. The caller has the sequencer.
pub(in crate::write) fn read_to_end(committer: &Committer) -> Result<LogEnd> {
    let graph = catch_up(committer)?;
    let term = committer.last_read.lock().unwrap_or_else(PoisonError::into_inner).term;
    let last = Instant::from_checked_micros(graph.last_instant());
    Ok(LogEnd { position: graph.position, instant: (committer.clock)().max(last), term })
}

/// How the repository stands to its log.
pub(crate) fn following(committer: &Committer) -> Following {
    let position = committer.snapshot().position();
    let looked = committer.looked.lock().unwrap_or_else(PoisonError::into_inner);
    let problem = looked.problem.as_ref().map(Error::duplicate);
    Following {
        position,
        age: looked.current_at.elapsed(),
        is_of_other_log: problem.as_ref().is_some_and(is_another_log),
        problem,
    }
}

fn read_published(committer: &Committer, last: &mut LastRead) -> Result<Graph> {
    let log = committer.source.log();
    let mut indexed = Indexed::clone(&committer.publisher.load());
    let tail = last.check(&**log, &indexed.graph)?;
    let before = (indexed.graph.generation, indexed.graph.position);
    let instant = indexed.graph.last_instant();
    let mut outcome = last.compare(&**log, &indexed.graph);
    if outcome.is_ok() && tail > indexed.graph.position {
        outcome = read_on(committer, &mut indexed, committer.source.memory(), last, Publish::Often);
    }
    for _ in 0..REBUILDS_MAX {
        if log.generation() == indexed.graph.generation {
            break;
        }
        // Another process rewrote the log: this graph still has the purged instances, and later records do not remove
        // them again.
        let empty = Graph { generation: log.generation(), ..indexed.graph.rebuilt_from_nothing() };
        indexed = Indexed::new(empty, Arc::default());
        outcome = read_on(committer, &mut indexed, committer.source.memory(), last, Publish::Never);
        committer.source.clear();
    }
    let graph = indexed.graph.clone();
    check_generation(committer, &graph)?;
    // A rewriting keeps the instants of all records.
    if graph.generation != before.0 && graph.position >= before.1 && instant_at(&graph, before.1) != instant {
        return Err(other_record(&**log, before.1));
    }
    // If the memory budget is spent, it stops between two records and keeps those applied.
    let is_whole = outcome.as_ref().map_or_else(|error| error.kind() == ErrorKind::TooLarge, |()| true);
    if is_whole && (graph.generation, graph.position) > before && graph.position >= before.1 {
        committer.replace(indexed);
    }
    outcome.map(|()| graph)
}

/// The instant of the record at `position`, as [`Graph::last_instant`].
fn instant_at(graph: &Graph, position: Position) -> i64 {
    let index = usize::try_from(position.0).ok().and_then(|position| position.checked_sub(1));
    index.and_then(|index| graph.instants.get(index)).copied().unwrap_or(i64::MIN)
}

/// Refuses a graph of records from before and after a rewriting of the log, which do not fit together.
fn check_generation(committer: &Committer, graph: &Graph) -> Result<()> {
    let log = committer.source.log();
    if log.generation() == graph.generation {
        return Ok(());
    }
    let text = format!("{}: it was compacted again while it was read; retry", log.describe());
    Err(Error::new(ErrorKind::Unavailable, text))
}

/// Whether records are published before all are read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Publish {
    Often,
    Never,
}

/// Applies all further records of the log to the graph.
///
/// The first read begins with the last record that the graph has, so that the further ones are known to follow it.
fn read_on(
    committer: &Committer,
    indexed: &mut Indexed,
    memory: &Memory,
    last: &mut LastRead,
    publish: Publish,
) -> Result<()> {
    let log = committer.source.log();
    let default = ReadLimit::default();
    let step = memory.step(default.bytes);
    let mut published_at = Clock::now();
    let mut first_known = last.record_of(&indexed.graph);
    loop {
        // Also before an error: the applied records stay.
        indexed.pass_events(0);
        let is_due = publish == Publish::Often && published_at.elapsed() >= PUBLISH_EVERY;
        // Records of a log that was rewritten meanwhile do not fit those before.
        if is_due && log.generation() == indexed.graph.generation {
            committer.replace(indexed.clone());
            published_at = Clock::now();
        }
        let graph = &mut indexed.graph;
        let known = first_known.take();
        let records = match known {
            Some(known) => {
                let limit =
                    ReadLimit { bytes: step.saturating_add(known.length), records: default.records + 1 };
                log.read(known.position, limit)?
            }
            None => log.read(graph.position.next(), ReadLimit { bytes: step, ..default })?,
        };
        let mut records = records.into_iter();
        if let Some(known) = known {
            let is_same = records.next().is_some_and(|record| known.is(&record));
            if !is_same && log.generation() == graph.generation {
                return Err(other_record(&**log, known.position));
            }
        }
        let mut latest = None;
        for bytes in records {
            let position = graph.position.next();
            let stored = StoredData::Records { done: graph.position.0, all: position.0 };
            memory.charge_stored(bytes.len(), stored)?;
            crate::maintenance::recover::apply(graph, position, &bytes)?;
            last.term = last.term.max(term_of(&bytes).unwrap_or_default());
            latest = Some(bytes);
        }
        match latest {
            Some(latest) => last.record = Some(KnownRecord::of(graph, &latest)),
            // A log may give one record only, although more follow.
            None if known.is_some() => {}
            None => return Ok(()),
        }
    }
}

impl Sequencer {
    /// Continues from a rebuilt graph, after applying the records committed since it was built.
    pub(super) fn replace_graph(&mut self, committer: &Committer, mut indexed: Indexed) -> Result<()> {
        // Without a memory budget: these records are committed.
        read_on(committer, &mut indexed, &Memory::new(None), &mut LastRead::default(), Publish::Never)?;
        check_generation(committer, &indexed.graph)?;
        self.go_on_from(indexed.graph.clone());
        committer.replace(indexed);
        Ok(())
    }

    /// Called when another writer took the positions of a batch: queues the batch again, and applies the other records.
    pub(super) fn sequence_again(&mut self, committer: &Committer, lost: Vec<Sequenced>) {
        let requests = lost.into_iter().map(|sequenced| sequenced.request);
        // Those that were told of an unknown outcome may have been repeated by their clients since.
        queue_again(committer, requests.filter(|request| !request.is_told()).collect());
        self.read_others(committer);
    }

    /// Applies the records of others, and goes on from there. While the log does not answer, or has none, it is asked again
    /// later.
    pub(super) fn read_others(&mut self, committer: &Committer) {
        self.recent.clear();
        self.recent_changes = 0;
        let graph = match catch_up(committer) {
            Ok(graph) => graph,
            Err(error) if passes(&error) => {
                self.pending = Some(Pending::Records);
                return committer.note_stall(&error);
            }
            Err(error) => return committer.fail(&error),
        };
        let seen = committer.last_read.lock().unwrap_or_else(PoisonError::into_inner).term;
        if seen > committer.term() {
            self.go_on_from(graph);
            return committer.demote(&not_writer(""));
        }
        let is_news = graph.position > self.known_position;
        self.known_position = graph.position;
        let next = graph.position.next();
        self.go_on_from(graph);
        if is_news {
            return committer.end_stall();
        }
        let text = format!(
            "{}: position {next} is said to be taken and holds no record; look at the log",
            committer.source.log().describe(),
        );
        committer.note_stall(&Error::new(ErrorKind::Unavailable, text));
    }
}

/// True if the log may be read again later, without help.
fn passes(error: &Error) -> bool {
    let may_pass = matches!(
        error.kind(),
        ErrorKind::Unavailable | ErrorKind::Io | ErrorKind::NoRoom | ErrorKind::TooLarge | ErrorKind::Busy
    );
    may_pass && !is_another_log(error)
}

/// Queues requests again, at the front, so that the next batch keeps its bounds.
fn queue_again(committer: &Committer, requests: Vec<CommitRequest>) {
    let mut state = committer.state();
    for request in requests.into_iter().rev() {
        state.bytes += request.work.body.record_bytes_max();
        state.requests.push_front(request);
    }
}
