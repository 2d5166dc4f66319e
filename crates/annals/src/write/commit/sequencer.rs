//! The sequencer: gives transactions their positions, checks them and applies them to a graph that is not published
//! yet.
#![expect(clippy::expect_used, reason = "the records of a batch were applied before")]

use std::collections::VecDeque;
use std::sync::Arc;

use super::clock::commit_instant;
use super::outcome::refuse;
use super::publisher::Publisher;
use super::queue::{Committer, State};
use super::reads::{Reads, Touched, touched_by};
use super::request::{CommitRequest, Work};
use super::settled::Settled;
use super::ticket::Receipt;
use super::validation::Validators;
use crate::graph::{self, Graph, check_conflicts, find_conflict, named_at_end};
use crate::log::{APPEND_RECORDS_MAX, Token};
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

/// Work that comes before the next batch, while the log does not answer.
pub(super) enum Pending {
    /// A call whose outcome is unknown: it is sent again.
    Call(Box<InDoubt>),
    /// Records of others: the log says that a position is taken, and cannot be read.
    Records,
}

/// A call, until its outcome is known.
pub(super) struct InDoubt {
    pub(super) batch: Batch,
    pub(super) token: Token,
}

/// The state for sequencing. There is one; the thread that holds it commits.
pub(in crate::write) struct Sequencer {
    /// The graph after all sequenced transactions.
    pub(super) working: Graph,
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
    pub(super) recent: VecDeque<(Position, Vec<Touched>)>,
    pub(super) recent_changes: usize,
    clock: WallClock,
    settled: Arc<Settled>,
    validators: Arc<Validators>,
    publisher: Arc<Publisher>,
    source: Arc<Source>,
    /// The last position at the latest conflict.
    pub(super) known_position: Position,
    pub(super) pending: Option<Pending>,
    /// True once nobody can find out the outcome of a call.
    pub(super) is_lost: bool,
    /// The token of the latest call.
    token: Token,
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
            settled: Arc::clone(&committer.settled),
            validators: Arc::clone(&committer.validators),
            publisher: Arc::clone(&committer.publisher),
            source: Arc::clone(&committer.source),
            known_position: Position::ZERO,
            pending: None,
            is_lost: false,
            token: Token::random(),
        }
    }

    /// A token for the next call.
    pub(super) fn next_token(&mut self) -> Token {
        self.token = self.token.next();
        self.token
    }

    /// True if it is known which records are in the log.
    pub(super) fn knows_outcomes(&self) -> bool {
        !self.is_lost && !matches!(self.pending, Some(Pending::Call(_)))
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
        // Order: first. A repeat fails for other reasons, too.
        if let Some(key) = &work.record.idempotency_key {
            self.working.repeats.check_new(key, self.publisher.load().graph.position)?;
        }
        // Order: before conflicts. A retry may resolve a conflict, but not an unexpected version.
        work.expectations.check(&self.working, self.source.log_tag())?;
        check_conflicts(&self.working, work.base, &work.record.changes)?;
        if let Some((base, count)) = work.edits {
            check_conflicts(&self.working, base, &work.record.changes[..count])?;
        }
        self.check_reads(work)?;
        let last = Instant::from_checked_micros(self.working.last_instant());
        // Order: read the clock after the position is known.
        work.set_instant(self.next_instant(last, work.instant)?);
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

    /// The instant of the next record. From then on it is in flight, with those after it.
    fn next_instant(&self, last: Instant, asked: Option<Instant>) -> Result<Instant> {
        let is_first = self.batch.is_empty();
        if is_first {
            self.settled.begin(last.micros());
        }
        // Order: after `begin`, which readers see.
        let floor = Instant::from_checked_micros(self.settled.floor());
        let instant = commit_instant(&self.clock, last, floor, asked)?;
        if is_first {
            self.settled.took(instant.micros());
        }
        Ok(instant)
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
    pub(super) fn go_on_from(&mut self, graph: Graph) {
        self.working = graph;
        self.savepoint = (Arc::new(self.working.clone()), 0);
    }
}
