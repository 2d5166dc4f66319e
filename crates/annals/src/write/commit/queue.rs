//! The bounded queue between callers and the committing thread.

use super::request::{CommitRequest, Work, need};
use std::collections::VecDeque;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant as Clock};

use super::clock;
use super::last_read::{LastRead, Looked};
use super::outcome::refuse;
use super::publisher::Publisher;
use super::sequencer::Sequencer;
use super::settled::Settled;
use super::stall::Stall;
use super::ticket::{Gate, Promise, Ticket};
use super::validation::{Validators, check_not_in_hook};
use crate::contents::Contents;
use crate::graph::Graph;
use crate::graph::indexed::Indexed;
use crate::graph::put::EventBatch;
use crate::memory::Need;
use crate::model::Instant;
use crate::observer::Observer;
use crate::options::WallClock;
use crate::read::{Snapshot, Source};
use crate::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use crate::sync::{Condvar, Mutex, MutexGuard};
use crate::{Error, ErrorKind, Position, Result};

/// One step of a wait without a time limit.
const FAR: Duration = Duration::from_secs(3600);

/// After a refused append the log is probed for room at most this often, and only if a caller asks.
const PROBE_INTERVAL: Duration = Duration::from_secs(1);

/// Bounds of the queue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Most transactions waiting to be sequenced.
    pub(crate) queue_transactions: usize,
    /// Most bytes waiting to be sequenced.
    pub(crate) queue_bytes: usize,
    /// Writes are refused once the log has not answered for so long.
    pub(crate) log_patience: Duration,
}

/// Why the log refused an append, and when.
struct Refused {
    error: Error,
    found: Clock,
}

/// The state that the threads of one repository share for committing.
pub(crate) struct Committer {
    pub(super) publisher: Arc<Publisher>,
    pub(super) source: Arc<Source>,
    /// `None` without a store of contents.
    pub(crate) contents: Option<Contents>,
    /// Set by the first serializable transaction: from then on the sequencer stores what records touch.
    pub(in crate::write) is_remembering: Arc<AtomicBool>,
    /// While it is shared, commits without a confirmation in time wait.
    pub(in crate::write) held_timer: Arc<()>,
    pub(in crate::write) clock: WallClock,
    pub(super) settled: Arc<Settled>,
    pub(super) observer: Option<Arc<dyn Observer>>,
    pub(super) limits: Limits,
    pub(in crate::write) validators: Arc<Validators>,
    pub(super) state: Mutex<State>,
    // The thread of the repository waits here for work, or for the end.
    pub(super) work: Condvar,
    // Callers wait here for room in the queue.
    pub(super) room: Condvar,
    // Number of threads that wait for a position. If it is 0, the publishing thread skips the wake-up.
    waiters: AtomicU64,
    waiting: Mutex<()>,
    moved: Condvar,
    /// A thread that reads records from the log holds this until it has published them.
    pub(super) last_read: Mutex<LastRead>,
    pub(super) looked: Mutex<Looked>,
    /// False in a repository that only ever follows.
    pub(super) may_write: bool,
    pub(super) is_writer: AtomicBool,
    /// The term in which it writes, or wrote last.
    pub(super) term: AtomicU64,
}

/// The state that the mutex guards.
#[derive(Default)]
pub(in crate::write) struct State {
    pub(super) requests: VecDeque<CommitRequest>,
    /// Units: bytes of all `requests` at most.
    pub(super) bytes: usize,
    /// The gate at which callers that queue a transaction now will wait. Each batch has its own.
    pub(super) gate: Arc<Gate>,
    /// The right to commit. `None` while a thread commits, and in a repository that does not write.
    pub(super) sequencer: Option<Box<Sequencer>>,
    /// Why the log refused the last batch; cleared when it accepts one, or has room.
    refused: Option<Refused>,
    /// While the log does not answer.
    pub(super) stall: Option<Stall>,
    /// A graph rebuilt from a rewritten log, to continue from; and the sender for the thread that waits for it.
    pub(super) replacement: Option<(Indexed, std::sync::mpsc::Sender<Result<()>>)>,
    /// Why all writes are refused.
    pub(super) failed: Option<Error>,
    /// Why this handle never writes.
    pub(super) read_only: Option<Error>,
    pub(super) is_closing: bool,
}

impl Committer {
    pub(crate) fn new(
        indexed: Indexed,
        source: Arc<Source>,
        contents: Option<Contents>,
        clock: WallClock,
        observer: Option<Arc<dyn Observer>>,
        limits: Limits,
        read_only: Option<Error>,
    ) -> Committer {
        let is_writer = read_only.is_none();
        let may_write = read_only.as_ref().is_none_or(|error| error.kind() == ErrorKind::NotWriter);
        Committer {
            may_write,
            is_writer: AtomicBool::new(is_writer),
            term: AtomicU64::new(0),
            publisher: Arc::new(Publisher::new(indexed)),
            source,
            contents,
            is_remembering: Arc::default(),
            held_timer: Arc::default(),
            clock,
            settled: Arc::new(Settled::new()),
            observer,
            limits,
            validators: Arc::default(),
            state: Mutex::new(State { read_only, ..State::default() }),
            work: Condvar::new(),
            room: Condvar::new(),
            waiters: AtomicU64::new(0),
            waiting: Mutex::new(()),
            moved: Condvar::new(),
            last_read: Mutex::default(),
            looked: Mutex::default(),
        }
    }

    /// Tells the application of what stopped nothing yet.
    pub(in crate::write) fn warn(&self, text: &str) {
        if let Some(observer) = &self.observer {
            observer.warned(text);
        }
    }

    pub(crate) fn snapshot(&self) -> Snapshot {
        Snapshot::new(self.publisher.load(), Arc::clone(&self.source))
    }

    /// As [`Committer::snapshot`].
    ///
    /// Errors: `Unavailable` in a follower that has no graph yet, see [`Error::is_opening`].
    pub(crate) fn try_snapshot(&self) -> Result<Snapshot> {
        let indexed = self.publisher.load();
        if !indexed.is_vacant {
            return Ok(Snapshot::new(indexed, Arc::clone(&self.source)));
        }
        let (read, all) = self.looked.lock().unwrap_or_else(PoisonError::into_inner).anew;
        let text = format!(
            "{}: it was compacted, and the memory budget has no room for two graphs, so it is read anew; {read} of {all} \
             records are read, try later",
            self.source.log().describe()
        );
        Err(Error::opening(text, read.0, all.0))
    }

    /// The publisher of graphs.
    pub(crate) fn publisher(&self) -> &Arc<Publisher> {
        &self.publisher
    }

    /// The hooks that check each transaction before it is durable.
    pub(crate) fn validators(&self) -> &Validators {
        &self.validators
    }

    pub(crate) fn source(&self) -> &Arc<Source> {
        &self.source
    }

    pub(in crate::write) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// True once the repository is being closed.
    pub(crate) fn is_closing(&self) -> bool {
        self.state().is_closing
    }

    /// Why writing failed, if it did.
    pub(crate) fn failure(&self) -> Option<Error> {
        self.state().failed.as_ref().map(Error::duplicate)
    }

    /// Why writes are refused now: permanently, as [`Committer::failure`] returns, or until there is room again.
    ///
    /// A server that refuses writes may get none, so this probes for room itself, at most every [`PROBE_INTERVAL`].
    pub(crate) fn refusal(&self) -> Option<Error> {
        if let Some(error) = self.failure() {
            return Some(error);
        }
        let stalled = self.state().stalled(self.limits.log_patience);
        stalled.or_else(|| self.refused()).or_else(|| self.source.memory().charge(Need::default()).err())
    }

    /// Why the log refused the last append, unless there is room again.
    fn refused(&self) -> Option<Error> {
        let mut state = self.state();
        let refused = state.refused.as_mut()?;
        if refused.found.elapsed() < PROBE_INTERVAL {
            return Some(refused.error.duplicate());
        }
        // Order: note the probe before making it, so that one caller probes and the others need not wait for it.
        let asked = Clock::now();
        refused.found = asked;
        drop(state);
        let outcome = self.source.log().probe();
        let mut state = self.state();
        // An append that ended meanwhile knows better.
        let is_over = outcome.is_ok() && state.refused.as_ref().is_some_and(|refused| refused.found == asked);
        if is_over {
            state.refused = None;
        }
        let refusal = state.refused.as_ref().map(|refused| refused.error.duplicate());
        drop(state);
        if is_over {
            self.report_refusal(None);
        }
        refusal
    }

    /// Notes what the log said to the last append: why it refused it, or that it took it.
    pub(super) fn note_append(&self, refusal: Option<&Error>) {
        let new = refusal.map(|error| Refused { error: error.duplicate(), found: Clock::now() });
        let mut state = self.state();
        let old = std::mem::replace(&mut state.refused, new);
        let is_stalled = state.stall.is_some();
        drop(state);
        if is_stalled {
            self.end_stall();
        }
        // A full disk refuses every write: one report is enough.
        if old.map(|refused| refused.error.kind()) != refusal.map(Error::kind) {
            self.report_refusal(refusal);
        }
    }

    /// Notes that the log did not answer.
    pub(super) fn note_stall(&self, error: &Error) {
        self.state().stall.get_or_insert_with(|| Stall::new(error)).note(error);
    }

    /// Notes that the log answers again.
    pub(super) fn end_stall(&self) {
        let stall = self.state().stall.take();
        if stall.is_some_and(|stall| stall.is_told()) {
            self.report_refusal(None);
        }
    }

    /// How long the committing thread rests, because the log does not answer; `None` if it need not.
    pub(super) fn rest(&self, state: &State) -> Option<Duration> {
        let stall = state.stall.as_ref().filter(|_| state.has_work())?;
        Some(stall.rest(self.limits.log_patience)).filter(|rest| !rest.is_zero())
    }

    /// Reports that the log refuses appends from now on, or that it takes them again.
    pub(super) fn report_refusal(&self, refusal: Option<&Error>) {
        match (&self.observer, refusal) {
            (Some(observer), Some(error)) => observer.refused(error),
            (Some(observer), None) => observer.accepted(),
            (None, _) => {}
        }
    }

    /// Warns while the clock is far behind the last visible record.
    pub(crate) fn clock_warning(&self) -> Option<String> {
        let graph = &self.publisher.load().graph;
        clock::warning((self.clock)(), Instant::from_checked_micros(graph.last_instant()), graph.position)
    }

    /// Number of transactions waiting to be sequenced.
    pub(crate) fn queue_length(&self) -> usize {
        self.state().requests.len()
    }

    /// Queues a transaction for the thread of the repository.
    pub(in crate::write) fn enqueue(&self, work: Box<Work>, may_wait: bool) -> Result<Ticket> {
        let (state, ticket) = self.push(work, may_wait)?;
        self.call(state);
        Ok(ticket)
    }

    /// Queues a transaction. The caller takes it out again, or wakes the thread of the repository.
    pub(in crate::write) fn push(
        &self,
        mut work: Box<Work>,
        may_wait: bool,
    ) -> Result<(MutexGuard<'_, State>, Ticket)> {
        check_not_in_hook()?;
        let bytes = work.body.record_bytes_max();
        let memory = self.source.memory();
        // Names are looked up only with a memory budget, which they are charged to.
        work.charge = if memory.is_bounded() {
            memory.charge(need(&self.publisher.load().graph, &work.body, &work.record.changes))?
        } else {
            memory.charge(Need::default())?
        };
        let mut state = self.state();
        loop {
            state.check_writable()?;
            if let Some(error) = state.stalled(self.limits.log_patience) {
                return Err(error);
            }
            let has_room = state.requests.is_empty()
                || (state.requests.len() < self.limits.queue_transactions
                    && state.bytes + bytes <= self.limits.queue_bytes);
            if has_room {
                break;
            }
            if !may_wait {
                return Err(Error::new(
                    ErrorKind::Busy,
                    format!("queue: {} transactions are waiting; try again later", state.requests.len()),
                ));
            }
            state = self.room.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.bytes += bytes;
        let ticket = Ticket::new(Arc::clone(&state.gate));
        state.requests.push_back(CommitRequest { work, promise: Promise::new(&ticket) });
        Ok((state, ticket))
    }

    /// Wakes the thread of the repository if it has work, or must end.
    ///
    /// While another thread commits there is no work for it yet: that thread calls this at the end.
    pub(super) fn call(&self, state: MutexGuard<'_, State>) {
        let is_called = state.is_over() || (state.sequencer.is_some() && state.has_work());
        drop(state);
        if is_called {
            self.work.notify_one();
        }
    }

    /// Refuses all queued transactions, and all later writes.
    pub(super) fn fail(&self, error: &Error) {
        let mut state = self.state();
        state.failed.get_or_insert_with(|| error.duplicate());
        let waiting = std::mem::take(&mut state.requests);
        let replacement = state.replacement.take();
        state.bytes = 0;
        drop(state);
        if let Some(observer) = &self.observer {
            observer.failed(error);
        }
        self.work.notify_one();
        self.room.notify_all();
        if let Some((_, done)) = replacement {
            // The receiver may be gone.
            let _ = done.send(Err(error.duplicate()));
        }
        refuse(waiting, error);
    }

    /// Publishes `graph`, which a batch made from the published one. Shape: the old graph; freeing it may take a while.
    pub(super) fn publish(&self, graph: Graph, batch: EventBatch) -> Arc<Indexed> {
        let before = self.publisher.publish(graph, batch);
        self.source.let_go_of_walks();
        self.wake();
        before
    }

    /// Publishes a graph that was read from the log.
    pub(super) fn replace(&self, indexed: Indexed) {
        self.publisher.replace(indexed);
        self.source.let_go_of_walks();
        self.wake();
    }

    /// Wakes the threads that wait for a position.
    fn wake(&self) {
        // Order: this thread stores the graph and then reads the count; a waiter counts itself and then reads the
        // graph. So at least one of them sees the other.
        if self.waiters.load(Ordering::SeqCst) > 0 {
            let _guard = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
            self.moved.notify_all();
        }
    }

    /// Waits until `position` is published, at most `timeout`; true if it is.
    pub(crate) fn wait_for(&self, position: Position, timeout: Duration) -> bool {
        // The sum overflows: wait without a limit.
        let deadline = Clock::now().checked_add(timeout);
        self.waiters.fetch_add(1, Ordering::SeqCst);
        let mut guard = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let is_there = loop {
            if self.publisher.load().graph.position >= position {
                break true;
            }
            let left = deadline.map_or(FAR, |deadline| deadline.saturating_duration_since(Clock::now()));
            if left.is_zero() || self.state().is_closing {
                break false;
            }
            guard = self.moved.wait_timeout(guard, left).unwrap_or_else(PoisonError::into_inner).0;
        };
        drop(guard);
        self.waiters.fetch_sub(1, Ordering::SeqCst);
        is_there
    }

    /// Continues from `graph`, which was rebuilt from the log up to any published position. Returns when it is
    /// published, together with everything that was committed meanwhile.
    pub(crate) fn replace_graph(&self, graph: Indexed) -> Result<()> {
        let (sender, done) = std::sync::mpsc::channel();
        let mut state = self.state();
        state.check_writable()?;
        state.replacement = Some((graph, sender));
        self.call(state);
        done.recv().unwrap_or_else(|_| {
            Err(Error::new(ErrorKind::Closed, "the repository was closed meanwhile; open it again"))
        })
    }

    /// Refuses new transactions; queued ones are still committed.
    pub(crate) fn close(&self) {
        self.state().is_closing = true;
        self.work.notify_one();
        self.room.notify_all();
        let _guard = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        self.moved.notify_all();
    }
}

impl State {
    /// True if the thread of the repository has work.
    pub(super) fn has_work(&self) -> bool {
        self.replacement.is_some() || !self.requests.is_empty() || self.is_pending()
    }

    /// True while something comes before the next batch.
    fn is_pending(&self) -> bool {
        self.sequencer.as_ref().is_some_and(|sequencer| sequencer.pending.is_some())
    }

    /// True if nothing is queued or in progress, and nothing more will come.
    pub(super) fn is_over(&self) -> bool {
        let is_idle = self.sequencer.is_some() && !self.has_work();
        self.is_closing && (self.failed.is_some() || is_idle)
    }

    /// Why writes are refused, once the log has not answered for so long.
    fn stalled(&self, patience: Duration) -> Option<Error> {
        self.stall.as_ref().filter(|stall| stall.is_long(patience)).map(Stall::refusal)
    }

    pub(in crate::write) fn check_writable(&self) -> Result<()> {
        match (&self.read_only, &self.failed) {
            (Some(error), _) | (None, Some(error)) => Err(error.duplicate()),
            _ if self.is_closing => {
                Err(Error::new(ErrorKind::Closed, "repository: it is closed; open it again"))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(all(test, shuttle))]
mod shuttle_tests;
