//! The sequencer: one thread that gives transactions their positions, checks them and applies them.
//!
//! It works ahead: while the appender syncs one batch, the next is checked, encoded and applied to a graph that
//! nobody sees yet. It hands over the moment the appender is free, so batches grow just as long as the device is
//! slow, without a setting.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, PoisonError};

use super::queue::{Batch, Committer, Request, Sequenced, State, panicked};
use super::reads::{Touched, touched_by};
use crate::graph::{Graph, check_conflicts, find_conflict};
use crate::log::{APPEND_BYTES_MAX, APPEND_RECORDS_MAX, ReadLimit};
use crate::memory::Memory;
use crate::model::{Instant, Record};
use crate::{Error, ErrorKind, Position, Result};

/// Most changes remembered to check what serializable transactions read; an older snapshot means `Conflict`.
const RECENT_CHANGES_MAX: usize = 65_536;
/// Most bytes of records in one batch. Below what one append takes.
const BATCH_BYTES_MAX: usize = APPEND_BYTES_MAX / 4;

/// How often in a row the log may answer that a position is taken, and have no record there.
const EMPTY_CONFLICTS_MAX: u32 = 100;

struct Sequencer {
    committer: Arc<Committer>,
    /// The graph after everything sequenced.
    working: Graph,
    batch: Vec<Sequenced>,
    /// A graph to go back to, and how many records of `batch` it has.
    savepoint: (Graph, usize),
    batch_bytes: usize,
    /// What the latest records touched.
    recent: VecDeque<(Position, Vec<Touched>)>,
    recent_changes: usize,
    /// How often in a row a position was said to be taken and nothing was found there.
    empty_conflicts: u32,
    /// The last position when a position was taken.
    known_position: Position,
}

/// Runs until the repository is closed or the log fails.
pub(super) fn run(committer: Arc<Committer>) {
    let working = Graph::clone(&committer.published.load());
    let mut sequencer = Sequencer {
        savepoint: (working.clone(), 0),
        working,
        batch: Vec::new(),
        batch_bytes: 0,
        recent: VecDeque::new(),
        recent_changes: 0,
        empty_conflicts: 0,
        known_position: Position::ZERO,
        committer,
    };
    loop {
        match catch_unwind(AssertUnwindSafe(|| sequencer.step())) {
            Ok(true) => {}
            Ok(false) => break,
            Err(_) => sequencer.committer.state().failed = Some(panicked()),
        }
    }
    let mut state = sequencer.committer.state();
    state.is_sequencer_done = true;
    sequencer.committer.appender.notify_all();
}

impl Sequencer {
    /// Takes what is waiting, or hands over what is ready. False when there is nothing left to do for ever.
    fn step(&mut self) -> bool {
        let committer = Arc::clone(&self.committer);
        let mut state = committer.state();
        loop {
            if let Some(error) = &state.failed {
                let error = error.duplicate();
                self.fail_all(state, &error);
                return false;
            }
            if state.returned.is_some() {
                drop(state);
                self.sequence_again();
                return true;
            }
            let is_appender_free = !state.is_appending && state.handed_over.is_none();
            if state.replacement.is_some() && self.batch.is_empty() && is_appender_free {
                self.replace_graph(state);
                return true;
            }
            let is_batch_full = state.replacement.is_some()
                || self.batch.len() >= APPEND_RECORDS_MAX
                || self.batch_bytes >= self.batch_bytes_max();
            if !state.requests.is_empty() && !is_batch_full {
                let taken = self.take(&mut state);
                drop(state);
                committer.make_room();
                taken.into_iter().for_each(|request| self.sequence(request));
                return true;
            }
            if !self.batch.is_empty() && is_appender_free {
                self.hand_over(state);
                return true;
            }
            if state.is_closing && self.batch.is_empty() && state.requests.is_empty() && is_appender_free {
                return false;
            }
            state = committer.sequencer.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Units: bytes. Less in a small memory budget.
    fn batch_bytes_max(&self) -> usize {
        self.committer.source.memory().share(BATCH_BYTES_MAX)
    }

    /// As many waiting requests as fit the batch.
    fn take(&self, state: &mut State) -> Vec<Request> {
        let mut bytes = self.batch_bytes;
        let mut taken = Vec::new();
        while self.batch.len() + taken.len() < APPEND_RECORDS_MAX
            && (bytes < self.batch_bytes_max() || taken.is_empty())
            && let Some(request) = state.requests.pop_front()
        {
            let length = request.body.record_bytes_max();
            bytes += length;
            state.bytes -= length;
            taken.push(request);
        }
        taken
    }

    fn sequence(&mut self, mut request: Request) {
        match self.try_sequence(&mut request) {
            Ok((position, bytes)) => {
                self.batch_bytes += bytes.len();
                self.batch.push(Sequenced { request, position, bytes });
            }
            Err(error) => request.ticket.complete(Err(error)),
        }
    }

    fn try_sequence(&mut self, request: &mut Request) -> Result<(Position, Vec<u8>)> {
        check_conflicts(&self.working, request.base, &request.record.changes)?;
        self.check_reads(request)?;
        let last = Instant::from_checked_micros(self.working.last_instant());
        // The clock is read after the position is known, and never runs backwards.
        let now = Instant::now().max(last);
        request.record.instant = match request.instant {
            None => now,
            Some(instant) => check_commit_instant(instant, last, now)?,
        };
        let position = self.working.position.next();
        if let Err(error) = self.working.apply(position, &request.record) {
            self.roll_back();
            if error.kind() == ErrorKind::AlreadyExists {
                find_conflict(&self.working, request.base, &request.record.changes)?;
            }
            return Err(error);
        }
        let bytes = request.body.record(request.record.instant);
        self.remember(position, &request.record);
        Ok((position, bytes))
    }

    fn remember(&mut self, position: Position, record: &Record) {
        let touched = touched_by(record);
        self.recent_changes += touched.len();
        self.recent.push_back((position, touched));
        while self.recent_changes > RECENT_CHANGES_MAX
            && let Some((_, oldest)) = self.recent.pop_front()
        {
            self.recent_changes -= oldest.len();
        }
    }

    /// Makes the working graph again what it was before a record failed half-way.
    ///
    /// The next failure goes back to here, so that a batch full of failures costs what one failure does, each.
    fn roll_back(&mut self) {
        let (graph, applied) = &self.savepoint;
        self.working = graph.clone();
        for sequenced in &self.batch[*applied..] {
            self.working
                .apply(sequenced.position, &sequenced.request.record)
                .expect("applying is a function of the records, and these were applied before");
        }
        self.savepoint = (self.working.clone(), self.batch.len());
    }

    fn check_reads(&self, request: &Request) -> Result<()> {
        let Some(reads) = &request.reads else { return Ok(()) };
        if self.working.position == request.base {
            return Ok(());
        }
        let is_known = self.recent.front().is_some_and(|(oldest, _)| oldest.0 <= request.base.0 + 1);
        let touched = self
            .recent
            .iter()
            .rev()
            .take_while(|(position, _)| *position > request.base)
            .find(|(_, touched)| reads.are_touched_by(&self.working, touched));
        match touched {
            None if is_known => Ok(()),
            None => Err(Error::new(
                ErrorKind::Conflict,
                format!("the snapshot {} is too old to check what was read; retry", request.base),
            )),
            Some((position, _)) => Err(Error::new(
                ErrorKind::Conflict,
                format!("something this transaction read was changed at position {position}; retry"),
            )),
        }
    }

    fn hand_over(&mut self, mut state: std::sync::MutexGuard<'_, State>) {
        let batch =
            Batch { sequenced: std::mem::take(&mut self.batch), graph: Arc::new(self.working.clone()) };
        self.batch_bytes = 0;
        self.savepoint = (self.working.clone(), 0);
        state.handed_over = Some(batch);
        drop(state);
        self.committer.appender.notify_one();
    }

    /// Goes on from a rebuilt graph, after it has learned what was committed since it was built.
    fn replace_graph(&mut self, mut state: std::sync::MutexGuard<'_, State>) {
        let Some((mut graph, done)) = state.replacement.take() else { return };
        drop(state);
        // Whatever it takes: these records are committed.
        let outcome = read_on(&self.committer, &mut graph, &Memory::new(None)).map(|()| {
            self.working = graph.clone();
            self.savepoint = (graph.clone(), 0);
            self.committer.publish(Arc::new(graph));
        });
        // Whoever asked may be gone.
        let _ = done.send(outcome);
    }

    /// Another writer took the positions of a batch: learns its records, then sequences everything anew.
    fn sequence_again(&mut self) {
        let returned = self.committer.state().returned.take();
        let lost = returned.map(|batch| batch.sequenced).unwrap_or_default();
        let requests: Vec<Request> =
            lost.into_iter().chain(self.batch.drain(..)).map(|sequenced| sequenced.request).collect();
        self.batch_bytes = 0;
        self.recent.clear();
        self.recent_changes = 0;
        match catch_up(&self.committer).and_then(|graph| self.check_progress(graph)) {
            Ok(graph) => {
                self.working = graph;
                self.savepoint = (self.working.clone(), 0);
                // They queue again, in front, so that the next batch keeps its bounds.
                let mut state = self.committer.state();
                for request in requests.into_iter().rev() {
                    state.bytes += request.body.record_bytes_max();
                    state.requests.push_front(request);
                }
            }
            Err(error) => {
                requests.iter().for_each(|request| request.ticket.complete(Err(error.duplicate())));
                self.committer.state().failed = Some(error);
            }
        }
    }

    /// Refuses to go on for ever with a log that refuses a position and has nothing there.
    fn check_progress(&mut self, graph: Graph) -> Result<Graph> {
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
                self.committer.source.log().describe(),
                graph.position.next()
            ),
        ))
    }

    fn fail_all(&mut self, mut state: std::sync::MutexGuard<'_, State>, error: &Error) {
        let waiting = std::mem::take(&mut state.requests);
        let returned = state.returned.take().map(|batch| batch.sequenced).unwrap_or_default();
        state.bytes = 0;
        if let Some((_, done)) = state.replacement.take() {
            // Whoever asked may be gone.
            let _ = done.send(Err(error.duplicate()));
        }
        drop(state);
        self.committer.make_room();
        let sequenced = returned.into_iter().chain(self.batch.drain(..)).map(|sequenced| sequenced.request);
        sequenced.chain(waiting).for_each(|request| request.ticket.complete(Err(error.duplicate())));
    }
}

/// The commit instant that a writer has set, if it is possible after a record of the instant `last`.
pub(super) fn check_commit_instant(instant: Instant, last: Instant, now: Instant) -> Result<Instant> {
    if instant < last {
        return Err(Error::new(
            ErrorKind::InvalidArgument,
            format!("commit instant {instant}: expected at least the last record's, {last}"),
        ));
    }
    if instant > now {
        return Err(Error::new(
            ErrorKind::FutureInstant,
            format!("commit instant {instant}: expected an instant of the past, now is {now}"),
        ));
    }
    Ok(instant)
}

/// Applies the records that are on the log and not yet published, and publishes the graph.
pub(crate) fn catch_up(committer: &Committer) -> Result<Graph> {
    let mut graph = Graph::clone(&committer.published.load());
    let before = graph.position;
    let outcome = read_on(committer, &mut graph, committer.source.memory());
    // A spent memory budget stops between two records: what was read is kept.
    let is_whole = outcome.as_ref().map_or_else(|error| error.kind() == ErrorKind::TooLarge, |()| true);
    if is_whole && graph.position > before {
        committer.publish_newer(Arc::new(graph.clone()));
    }
    outcome.map(|()| graph)
}

/// Brings the graph up to all records of the log.
fn read_on(committer: &Committer, graph: &mut Graph, memory: &Memory) -> Result<()> {
    loop {
        let records = committer.source.log().read(graph.position.next(), ReadLimit::default())?;
        if records.is_empty() {
            return Ok(());
        }
        for bytes in records {
            memory.admit_committed(bytes.len())?;
            let position = graph.position.next();
            crate::recover::apply(graph, position, &bytes)?;
        }
    }
}
