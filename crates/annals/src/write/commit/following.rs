//! Reads on in a log that others write, in a follower and after a lost race, and proves that it is still the log that the
//! graph was read from.

use std::sync::PoisonError;
use std::time::Duration;

use super::anew::{AnewStep, step};
use super::last_read::{LastRead, Looked};
use super::outcome::not_writer;
use super::queue::Committer;
use super::read_on::{Publish, check_generation, read_on};
use super::request::CommitRequest;
use super::sequencer::{Pending, Sequenced, Sequencer};
use crate::graph::Graph;
use crate::graph::indexed::Indexed;
use crate::log::{Term, is_another_log};
use crate::memory::Memory;
use crate::model::Instant;
use crate::protection::Protection;
use crate::{Error, ErrorKind, Position, Result};

/// How often a log may be rewritten while it is read.
const REWRITTEN_MAX: u64 = 10;

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
    /// Set while it has no graph, because its memory budget has no room for two: it reads the log anew, and
    /// [`Repository::try_snapshot`](crate::Repository::try_snapshot) fails. Shape: the records read, and all.
    pub opening: Option<(Position, Position)>,
}

/// The outcome of a look at the log.
pub(crate) struct Look {
    /// False while published graphs lack records of the log.
    is_current: bool,
    /// True if there is more to do at once.
    pub(crate) has_more: bool,
}

/// Applies the records that are in the log and not published, publishes the graph, and goes a step on in a graph that is
/// read anew.
///
/// A follower's own thread and its caller take turns, so that an older graph never replaces a newer one.
///
/// Errors: those of the log; `Unavailable` if it is another log, or has lost records that were read from it; `TooLarge` if
/// the memory budget does not hold it.
pub(crate) fn look(committer: &Committer) -> Result<Look> {
    let mut last = committer.last_read.lock().unwrap_or_else(PoisonError::into_inner);
    look_held(committer, &mut last)
}

fn look_held(committer: &Committer, last: &mut LastRead) -> Result<Look> {
    let begun = (committer.clock)();
    let outcome = read_published(committer, last);
    let mut looked = committer.looked.lock().unwrap_or_else(PoisonError::into_inner);
    committer.source.set_of_other_log(outcome.as_ref().is_err_and(is_another_log));
    looked.anew = last.anew.progress();
    match &outcome {
        Ok(look) if look.is_current => {
            committer.note_looked(begun);
            *looked = Looked::default();
        }
        Ok(_) => looked.problem = None,
        Err(error) => looked.problem = Some(error.duplicate()),
    }
    outcome
}

/// As [`look`], until nothing is left to do. Shape: the published graph.
pub(crate) fn catch_up(committer: &Committer) -> Result<Graph> {
    let mut last = committer.last_read.lock().unwrap_or_else(PoisonError::into_inner);
    last.anew.end_pause();
    let generation = committer.source.log().generation();
    loop {
        let look = look_held(committer, &mut last)?;
        if !look.has_more {
            return Ok(committer.publisher.load().graph.clone());
        }
        let rewritten = committer.source.log().generation().saturating_sub(generation);
        if rewritten > REWRITTEN_MAX {
            check_generation(committer, generation)?;
        }
    }
}

/// A [`look`] in a repository that does not write at present. Does nothing while it begins or ends to write.
pub(crate) fn follow_step(committer: &Committer) -> Result<Look> {
    if committer.may_write() {
        // One that may write some day goes on from whole graphs only.
        return follow(committer).map(|_| Look { is_current: true, has_more: false });
    }
    look(committer)
}

/// As [`follow_step`], until nothing is left to do. Shape: the published graph.
pub(crate) fn follow(committer: &Committer) -> Result<Graph> {
    if !committer.may_write() {
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

/// True if the further records of the log are those of the published graph.
fn goes_on(committer: &Committer, last: &mut LastRead, published: &Indexed) -> bool {
    let log = &**committer.source.log();
    if published.is_vacant || last.fits(&published.graph, log) {
        return !published.is_vacant;
    }
    let goes_on = !committer.is_writer() && last.go_on(&published.graph, log);
    if goes_on {
        // Cached records may hold what was removed.
        committer.source.clear();
    }
    goes_on
}

/// How the repository stands to its log.
pub(crate) fn following(committer: &Committer) -> Following {
    let published = committer.publisher.load();
    let looked = committer.looked.lock().unwrap_or_else(PoisonError::into_inner);
    let problem = looked.problem.as_ref().map(Error::duplicate);
    Following {
        position: published.graph.position,
        opening: published.is_vacant.then_some(looked.anew),
        age: looked.current_at.elapsed(),
        is_of_other_log: problem.as_ref().is_some_and(is_another_log),
        problem,
    }
}

fn read_published(committer: &Committer, last: &mut LastRead) -> Result<Look> {
    let log = committer.source.log();
    let published = committer.publisher.load();
    let (shown, _) = last.anew.shown(&published.graph);
    let tail = last.check(&**log, shown)?;
    let mut indexed = Indexed::clone(&published);
    drop(published);
    let is_current = goes_on(committer, last, &indexed);
    if is_current {
        let position = indexed.graph.position;
        let mut outcome = last.compare(&**log, &indexed.graph);
        if outcome.is_ok() && tail > position {
            let read = read_on(committer, &mut indexed, committer.source.memory(), last, Publish::Often);
            outcome = read.map(drop);
        }
        if !last.fits(&indexed.graph, &**log) {
            // It was rewritten meanwhile, and the records from before and after that do not fit together.
            return Ok(Look { is_current: false, has_more: true });
        }
        // If the memory budget is spent, it stops between two records and keeps those applied.
        let is_whole = outcome.as_ref().map_or_else(|error| error.kind() == ErrorKind::TooLarge, |()| true);
        if is_whole && indexed.graph.position > position {
            committer.replace(indexed.clone());
        }
        outcome?;
        if indexed.graph.generation == log.generation() {
            return Ok(Look { is_current, has_more: false });
        }
    }
    // Order: its memory is needed.
    drop(indexed);
    match step(committer, last, tail, is_current) {
        AnewStep::Published => {
            last.forget_generation();
            Ok(Look { is_current: true, has_more: false })
        }
        AnewStep::Begun => Ok(Look { is_current, has_more: true }),
        AnewStep::Paused(_) if is_current => Ok(Look { is_current, has_more: false }),
        AnewStep::Paused(error) => Err(error),
    }
}

impl Sequencer {
    /// Continues from a rebuilt graph, after applying the records committed since it was built.
    pub(super) fn replace_graph(&mut self, committer: &Committer, mut indexed: Indexed) -> Result<()> {
        // Without a memory budget: these records are committed.
        let publish = Publish::AfterAll { until: None };
        read_on(committer, &mut indexed, &Memory::new(None), &mut LastRead::default(), publish)?;
        check_generation(committer, indexed.graph.generation)?;
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
        if seen > committer.term() && Protection::Term.is_kept() {
            self.go_on_from(graph);
            // The log answers again. Otherwise this would refuse writes when it is the writer once more.
            committer.end_stall();
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
