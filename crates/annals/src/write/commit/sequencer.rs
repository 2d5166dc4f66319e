//! The sequencer: gives transactions their positions, checks them and applies them to a graph that is not published
//! yet.
#![expect(clippy::expect_used, reason = "the records of a batch were applied before")]

use std::collections::VecDeque;
use std::sync::{Arc, PoisonError};

use super::clock::commit_instant;
use super::outcome::refuse;
use super::publisher::Publisher;
use super::queue::{Committer, State};
use super::reads::{Reads, Touched, touched_by};
use super::request::{CommitRequest, Work};
use super::ticket::Receipt;
use super::validation::Validators;
use crate::graph::indexed::Indexed;
use crate::graph::{self, Graph, check_conflicts, find_conflict, named_at_end};
use crate::log::{APPEND_RECORDS_MAX, ReadLimit};
use crate::memory::{Memory, StoredData};
use crate::model::{Instant, Record};
use crate::options::WallClock;
use crate::read::Source;
use crate::sync::atomic::{AtomicBool, Ordering};
use crate::{Error, ErrorKind, Position, Result};

/// Most changes stored to check the reads of serializable transactions; a transaction with an older snapshot conflicts.
const RECENT_CHANGES_MAX: usize = 65_536;
/// A batch is full once its records have this many bytes. With a smaller bound, batches would copy the same parts of
/// the graph more often; with a larger one, transactions would wait longer.
const BATCH_BYTES_MAX: usize = 2 << 20;

/// How often in a row the log may answer that a position is taken, but have no record there.
const EMPTY_CONFLICTS_MAX: u32 = 100;

/// How often in a row a graph is rebuilt because the log was rewritten meanwhile.
const REBUILDS_MAX: usize = 10;

/// A sequenced transaction; its record is encoded.
pub(super) struct Sequenced {
    pub(super) request: CommitRequest,
    pub(super) position: Position,
}

/// Sequenced transactions, and the graph after them.
pub(super) struct Batch {
    /// Shape: never empty, positions dense.
    pub(super) sequenced: Vec<Sequenced>,
    pub(super) graph: Graph,
    /// The events of its changes.
    pub(super) events: graph::put::EventBatch,
}

/// The state for sequencing. There is one; the thread that holds it commits.
pub(super) struct Sequencer {
    /// The graph after all sequenced transactions.
    working: Graph,
    // Empty unless a thread commits.
    batch: Vec<Sequenced>,
    batch_bytes: usize,
    // Less with a small memory budget.
    batch_bytes_max: usize,
    /// The graph to return to, and how many records of `batch` it has.
    savepoint: (Arc<Graph>, usize),
    /// True once a transaction was serializable: only then are the effects of the latest records needed.
    is_remembering: Arc<AtomicBool>,
    /// Everything that the latest records touched, by position.
    recent: VecDeque<(Position, Vec<Touched>)>,
    recent_changes: usize,
    clock: WallClock,
    validators: Arc<Validators>,
    publisher: Arc<Publisher>,
    source: Arc<Source>,
    /// How often in a row the log reported a position as taken, but had no record there.
    empty_conflicts: u32,
    /// The last position at the latest conflict.
    known_position: Position,
}

impl Sequencer {
    pub(in crate::write) fn new(committer: &Committer) -> Sequencer {
        let graph = Arc::new(committer.publisher.load().graph.clone());
        Sequencer {
            is_remembering: Arc::clone(&committer.is_remembering),
            batch_bytes_max: committer.source.memory().share(BATCH_BYTES_MAX),
            working: Graph::clone(&graph),
            batch: Vec::new(),
            batch_bytes: 0,
            savepoint: (graph, 0),
            recent: VecDeque::new(),
            recent_changes: 0,
            clock: Arc::clone(&committer.clock),
            validators: Arc::clone(&committer.validators),
            publisher: Arc::clone(&committer.publisher),
            source: Arc::clone(&committer.source),
            empty_conflicts: 0,
            known_position: Position::ZERO,
        }
    }

    /// True if no record waits to be appended.
    pub(super) fn is_empty(&self) -> bool {
        self.batch.is_empty()
    }

    /// True if the batch accepts no more transactions.
    pub(super) fn is_full(&self) -> bool {
        self.batch.len() >= self.records_max() || self.batch_bytes >= self.batch_bytes_max
    }

    /// Most records of a batch: with a hook one, because the hook sees the published graph and one more record.
    fn records_max(&self) -> usize {
        if self.validators.are_there() { 1 } else { APPEND_RECORDS_MAX }
    }

    /// The waiting requests that fit into the batch.
    pub(super) fn take(&self, state: &mut State) -> Vec<CommitRequest> {
        let mut bytes = 0;
        let bytes_max = self.batch_bytes_max.saturating_sub(self.batch_bytes);
        let records_max = self.records_max();
        let mut taken = Vec::new();
        while self.batch.len() + taken.len() < records_max
            && (bytes < bytes_max || taken.is_empty())
            && let Some(request) = state.requests.pop_front()
        {
            let length = request.work.body.record_bytes_max();
            bytes += length;
            state.bytes -= length;
            taken.push(request);
        }
        taken
    }

    /// Adds requests to the batch. Shape: the refused ones, with reasons.
    pub(super) fn sequence_all(
        &mut self,
        requests: Vec<CommitRequest>,
    ) -> Vec<(CommitRequest, Result<Receipt>)> {
        let is_remembering = requests.len() > 1 && self.working.names.remember();
        let refused = requests.into_iter().filter_map(|request| self.sequence(request)).collect();
        if is_remembering {
            self.working.names.forget();
        }
        refused
    }

    /// Adds a request to the batch. Shape: the request and the reason, if it is refused.
    fn sequence(&mut self, mut request: CommitRequest) -> Option<(CommitRequest, Result<Receipt>)> {
        match self.try_sequence(&mut request.work) {
            Ok(position) => {
                self.batch_bytes += request.work.body.record().len();
                self.batch.push(Sequenced { request, position });
                None
            }
            Err(error) => Some((request, Err(error))),
        }
    }

    fn try_sequence(&mut self, work: &mut Work) -> Result<Position> {
        // Order: before conflicts. A retry may resolve a conflict, but not an unexpected version.
        work.expectations.check(&self.working)?;
        check_conflicts(&self.working, work.base, &work.record.changes)?;
        if let Some((base, count)) = work.edits {
            check_conflicts(&self.working, base, &work.record.changes[..count])?;
        }
        self.check_reads(work)?;
        let last = Instant::from_checked_micros(self.working.last_instant());
        // Order: read the clock after the position is known.
        work.set_instant(commit_instant(&self.clock, last, work.instant)?);
        let position = self.working.position.next();
        let start = self.working.record_start();
        let applied = self.working.apply_new(position, &work.record);
        if let Err(error) = applied.and_then(|()| {
            let checked = self.working.check_record(&start, work.is_of_history);
            checked.map_err(|error| named_at_end(error, &work.record))
        }) {
            self.roll_back();
            if error.kind() == ErrorKind::AlreadyExists {
                find_conflict(&self.working, work.base, &work.record.changes)?;
            }
            return Err(if self.working.position > work.base { error.raced() } else { error });
        }
        if self.batch.is_empty()
            && self.validators.are_there()
            && let Err(error) =
                self.validators.check(self.publisher.load(), &self.source, self.working.clone(), &work.record)
        {
            self.roll_back();
            return Err(error);
        }
        work.body.set_instant(work.record.instant);
        self.remember(position, &work.record);
        Ok(position)
    }

    fn remember(&mut self, position: Position, record: &Record) {
        if !self.is_remembering.load(Ordering::Relaxed) {
            return;
        }
        let touched = touched_by(record);
        self.recent_changes += touched.len();
        self.recent.push_back((position, touched));
        while self.recent_changes > RECENT_CHANGES_MAX
            && let Some((_, oldest)) = self.recent.pop_front()
        {
            self.recent_changes -= oldest.len();
        }
    }

    /// Restores the working graph after a record failed half-way.
    ///
    /// The restored graph is the next savepoint, so each failure in a batch costs the same.
    fn roll_back(&mut self) {
        let (graph, applied) = &self.savepoint;
        self.working = Graph::clone(graph);
        for sequenced in &self.batch[*applied..] {
            self.working
                .apply(sequenced.position, &sequenced.request.work.record)
                .expect("applying is a function of the records, and these were applied before");
        }
        self.savepoint = (Arc::new(self.working.clone()), self.batch.len());
    }

    fn check_reads(&self, work: &Work) -> Result<()> {
        if self.working.position == work.base || work.reads.is_none() && work.relied.are_none() {
            return Ok(());
        }
        let are_touched = |touched: &[Touched]| {
            let mut all = work.reads.iter().chain([&work.relied]);
            all.any(|reads: &Reads| reads.are_touched_by(&self.working, touched))
        };
        let is_known = self.recent.front().is_some_and(|(oldest, _)| oldest.0 <= work.base.0 + 1);
        let touched = self
            .recent
            .iter()
            .rev()
            .take_while(|(position, _)| *position > work.base)
            .find(|(_, touched)| are_touched(touched));
        match touched {
            None if is_known => Ok(()),
            None => Err(Error::new(
                ErrorKind::Conflict,
                format!("the snapshot {} is too old to check what was read; retry", work.base),
            )),
            Some((position, _)) => Err(Error::new(
                ErrorKind::Conflict,
                format!(
                    "something this transaction read, or was allowed by, was changed at position {position}; retry"
                ),
            )),
        }
    }

    /// The batch, and the graph after it.
    pub(super) fn hand_over(&mut self) -> Batch {
        let bytes = std::mem::take(&mut self.batch_bytes);
        let events = graph::put::EventBatch { bytes, ..self.working.take_events() };
        self.savepoint = (Arc::new(self.working.clone()), 0);
        Batch { sequenced: std::mem::take(&mut self.batch), graph: self.working.clone(), events }
    }

    /// Continues from a rebuilt graph, after applying the records committed since it was built.
    pub(super) fn replace_graph(&mut self, committer: &Committer, mut indexed: Indexed) -> Result<()> {
        // Without a memory budget: these records are committed.
        read_on(committer, &mut indexed, &Memory::new(None))?;
        check_generation(committer, &indexed.graph)?;
        self.go_on_from(indexed.graph.clone());
        committer.replace(indexed);
        Ok(())
    }

    /// Called when the log refused a batch and wrote nothing: returns to the published graph, and reports the reason to
    /// the transactions of the batch.
    pub(super) fn withdraw(&mut self, committer: &Committer, lost: Vec<Sequenced>, error: &Error) {
        // The batch was based on this graph.
        self.go_on_from(committer.publisher.load().graph.clone());
        while self.recent.back().is_some_and(|(position, _)| *position > self.working.position) {
            self.recent_changes -= self.recent.pop_back().map_or(0, |(_, touched)| touched.len());
        }
        // Order: reported last. A thread that tries again at once is checked against the graph without the batch.
        refuse(lost.into_iter().map(|sequenced| sequenced.request), error);
    }

    /// Replaces the working graph, with everything it has applied, by `graph`.
    fn go_on_from(&mut self, graph: Graph) {
        self.working = graph;
        self.savepoint = (Arc::new(self.working.clone()), 0);
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

/// Applies the records that are in the log and not published, and publishes the graph.
///
/// A follower's own thread and its caller take turns, so that an older graph never replaces a newer one.
pub(crate) fn catch_up(committer: &Committer) -> Result<Graph> {
    let _one = committer.catching_up.lock().unwrap_or_else(PoisonError::into_inner);
    let mut indexed = Indexed::clone(&committer.publisher.load());
    let before = (indexed.graph.generation, indexed.graph.position);
    let mut outcome = read_on(committer, &mut indexed, committer.source.memory());
    let log = committer.source.log();
    for _ in 0..REBUILDS_MAX {
        if log.generation() == indexed.graph.generation {
            break;
        }
        // Another process rewrote the log: this graph still has the purged instances, and later records do not remove
        // them again.
        let empty = Graph { generation: log.generation(), ..indexed.graph.rebuilt_from_nothing() };
        indexed = Indexed::new(empty, Arc::default());
        outcome = read_on(committer, &mut indexed, committer.source.memory());
        committer.source.clear();
    }
    let graph = indexed.graph.clone();
    check_generation(committer, &graph)?;
    // If the memory budget is spent, it stops between two records and keeps those applied.
    let is_whole = outcome.as_ref().map_or_else(|error| error.kind() == ErrorKind::TooLarge, |()| true);
    if is_whole && (graph.generation, graph.position) > before && graph.position >= before.1 {
        committer.replace(indexed);
    }
    outcome.map(|()| graph)
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

/// Applies all further records of the log to the graph.
fn read_on(committer: &Committer, indexed: &mut Indexed, memory: &Memory) -> Result<()> {
    let default = ReadLimit::default();
    let limit = ReadLimit { bytes: memory.step(default.bytes), ..default };
    loop {
        // Also before an error: the applied records stay.
        indexed.pass_events(0);
        let graph = &mut indexed.graph;
        let records = committer.source.log().read(graph.position.next(), limit)?;
        if records.is_empty() {
            return Ok(());
        }
        for bytes in records {
            let position = graph.position.next();
            let stored = StoredData::Records { done: graph.position.0, all: position.0 };
            memory.charge_stored(bytes.len(), stored)?;
            crate::maintenance::recover::apply(graph, position, &bytes)?;
        }
    }
}
