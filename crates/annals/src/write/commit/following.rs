//! Reads on in a log that others write, in a follower and after a lost race, and proves that it is still the log that the
//! graph was read from.

use std::sync::PoisonError;
use std::time::Duration;

use super::anew::{Step, step};
use super::last_read::{LastRead, Looked};
use super::outcome::refuse;
use super::queue::Committer;
use super::read_on::{Publish, check_generation, read_on};
use super::request::CommitRequest;
use super::sequencer::{Sequenced, Sequencer};
use crate::graph::Graph;
use crate::graph::indexed::Indexed;
use crate::log::is_another_log;
use crate::memory::Memory;
use crate::{Error, ErrorKind, Position, Result};

/// How often a log may be rewritten while it is read.
const REWRITTEN_MAX: u64 = 10;

/// How often in a row the log may answer that a position is taken, but have no record there.
const EMPTY_CONFLICTS_MAX: u32 = 100;

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

/// What a look at the log has brought.
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
    let outcome = read_published(committer, last);
    let mut looked = committer.looked.lock().unwrap_or_else(PoisonError::into_inner);
    committer.source.set_of_other_log(outcome.as_ref().is_err_and(is_another_log));
    looked.anew = last.anew.progress();
    match &outcome {
        Ok(look) if look.is_current => *looked = Looked::default(),
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

/// True if the further records of the log are those of the published graph.
fn goes_on(committer: &Committer, last: &mut LastRead, published: &Indexed) -> bool {
    let log = &**committer.source.log();
    if published.is_vacant || last.fits(&published.graph, log) {
        return !published.is_vacant;
    }
    let goes_on = committer.is_follower() && last.go_on(&published.graph, log);
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
    match step(committer, &mut last.anew, tail, is_current) {
        Step::Published => {
            last.forget_generation();
            Ok(Look { is_current: true, has_more: false })
        }
        Step::Begun => Ok(Look { is_current, has_more: true }),
        Step::Paused(_) if is_current => Ok(Look { is_current, has_more: false }),
        Step::Paused(error) => Err(error),
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

    /// Called when another writer took the positions of a batch: applies the other records, then queues the batch
    /// again.
    pub(super) fn sequence_again(&mut self, committer: &Committer, lost: Vec<Sequenced>) {
        let requests: Vec<CommitRequest> = lost.into_iter().map(|sequenced| sequenced.request).collect();
        self.recent.clear();
        self.recent_changes = 0;
        match catch_up(committer).and_then(|graph| self.check_progress(committer, graph)) {
            Ok(graph) => {
                self.go_on_from(graph);
                queue_again(committer, requests);
            }
            Err(error) => {
                committer.fail(&error);
                refuse(requests, &error);
            }
        }
    }

    /// Stops if a log keeps refusing a position without having a record there.
    fn check_progress(&mut self, committer: &Committer, graph: Graph) -> Result<Graph> {
        let is_news = graph.position > self.known_position;
        self.known_position = graph.position;
        self.empty_conflicts = if is_news { 0 } else { self.empty_conflicts + 1 };
        if self.empty_conflicts <= EMPTY_CONFLICTS_MAX {
            return Ok(graph);
        }
        Err(Error::new(
            ErrorKind::Unavailable,
            format!(
                "{}: position {} is said to be taken and holds no record; look at the log, then reopen",
                committer.source.log().describe(),
                graph.position.next()
            ),
        ))
    }
}

/// Queues requests again, at the front, so that the next batch keeps its bounds.
fn queue_again(committer: &Committer, requests: Vec<CommitRequest>) {
    let mut state = committer.state();
    for request in requests.into_iter().rev() {
        state.bytes += request.work.body.record_bytes_max();
        state.requests.push_front(request);
    }
}
