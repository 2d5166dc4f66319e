//! The bounded queue between committing threads and the sequencer.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant as Clock};

use arc_swap::ArcSwap;

use super::reads::Reads;
use super::ticket::Ticket;
use crate::graph::Graph;
use crate::model::{Instant, Record};
use crate::read::{Snapshot, Source};
use crate::record::RecordBody;
use crate::{Error, ErrorKind, Position, Result};

/// One wait of somebody who waits for ever.
const FAR: Duration = Duration::from_secs(3600);

/// Bounds of the queue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Most transactions waiting to be sequenced.
    pub(crate) queue_transactions: usize,
    /// Most bytes waiting to be sequenced.
    pub(crate) queue_bytes: usize,
}

/// A transaction on its way.
pub(super) struct Request {
    pub(super) base: Position,
    pub(super) record: Record,
    pub(super) body: RecordBody,
    /// The commit instant, if the caller sets it.
    pub(super) instant: Option<Instant>,
    /// What a serializable transaction read.
    pub(super) reads: Option<Reads>,
    pub(super) ticket: Ticket,
}

impl Drop for Request {
    /// Whoever waits is told even if a thread that commits has panicked.
    fn drop(&mut self) {
        if self.ticket.poll().is_none() {
            self.ticket.complete(Err(panicked()));
        }
    }
}

/// What is told when a thread that commits has panicked: nobody knows what it had done.
pub(super) fn panicked() -> Error {
    Error::new(
        ErrorKind::Unavailable,
        "a committing thread has panicked; whether the transaction is durable is unknown; reopen the repository",
    )
}

/// A sequenced transaction.
pub(super) struct Sequenced {
    pub(super) request: Request,
    pub(super) position: Position,
    pub(super) bytes: Vec<u8>,
}

/// Sequenced transactions on their way to the log, and the graph they make.
pub(super) struct Batch {
    pub(super) sequenced: Vec<Sequenced>,
    pub(super) graph: Arc<Graph>,
}

/// Everything the threads of one repository share for committing.
pub(crate) struct Committer {
    pub(super) published: ArcSwap<Graph>,
    pub(super) source: Arc<Source>,
    limits: Limits,
    pub(super) state: Mutex<State>,
    // The sequencer waits here for requests, and for the appender to be free.
    pub(super) sequencer: Condvar,
    // The appender waits here for a batch.
    pub(super) appender: Condvar,
    // Committing threads wait here for room.
    room: Condvar,
    // Whoever waits for a position: the count lets the appender skip a wake-up nobody needs.
    waiters: AtomicU64,
    waiting: Mutex<()>,
    moved: Condvar,
}

/// What the mutex guards.
#[derive(Default)]
pub(super) struct State {
    pub(super) requests: VecDeque<Request>,
    pub(super) bytes: usize,
    /// The batch handed to the appender and not yet taken.
    pub(super) handed_over: Option<Batch>,
    /// True while the appender writes a batch.
    pub(super) is_appending: bool,
    /// A batch that lost its position to another writer, to be sequenced again.
    pub(super) returned: Option<Batch>,
    /// A graph rebuilt from a rewritten log, to go on from; and who waits for that.
    pub(super) replacement: Option<(Graph, std::sync::mpsc::Sender<Result<()>>)>,
    /// Why nothing more is written.
    pub(super) failed: Option<Error>,
    /// Why nothing is written by this handle at all.
    pub(super) read_only: Option<Error>,
    pub(super) is_closing: bool,
    pub(super) is_sequencer_done: bool,
}

impl Committer {
    pub(crate) fn new(
        graph: Arc<Graph>,
        source: Arc<Source>,
        limits: Limits,
        read_only: Option<Error>,
    ) -> Committer {
        Committer {
            published: ArcSwap::new(graph),
            source,
            limits,
            state: Mutex::new(State { read_only, ..State::default() }),
            sequencer: Condvar::new(),
            appender: Condvar::new(),
            room: Condvar::new(),
            waiters: AtomicU64::new(0),
            waiting: Mutex::new(()),
            moved: Condvar::new(),
        }
    }

    pub(crate) fn snapshot(&self) -> Snapshot {
        Snapshot::new(self.published.load_full(), Arc::clone(&self.source))
    }

    pub(crate) fn source(&self) -> &Arc<Source> {
        &self.source
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Why writing failed, if it did.
    pub(crate) fn failure(&self) -> Option<Error> {
        self.state().failed.as_ref().map(Error::duplicate)
    }

    /// Number of transactions waiting to be sequenced.
    pub(crate) fn queue_length(&self) -> usize {
        self.state().requests.len()
    }

    pub(super) fn enqueue(&self, request: Request, may_wait: bool) -> Result<Ticket> {
        let bytes = request.body.record_bytes_max();
        self.source.memory().admit(bytes)?;
        let mut state = self.state();
        loop {
            state.check_writable()?;
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
        let ticket = request.ticket.clone();
        state.bytes += bytes;
        state.requests.push_back(request);
        let wakes = state.requests.len() == 1;
        drop(state);
        if wakes {
            self.sequencer.notify_one();
        }
        Ok(ticket)
    }

    /// Lets committing threads in again after the sequencer has taken requests.
    pub(super) fn make_room(&self) {
        self.room.notify_all();
    }

    /// As [`Committer::publish`], unless a later graph is there: two threads of a follower may both have read on.
    pub(crate) fn publish_newer(&self, graph: Arc<Graph>) {
        self.published.rcu(|known| {
            if known.position < graph.position { Arc::clone(&graph) } else { Arc::clone(known) }
        });
        self.wake();
    }

    /// Makes `graph` what every new snapshot sees.
    pub(crate) fn publish(&self, graph: Arc<Graph>) {
        self.published.store(graph);
        self.wake();
    }

    /// Wakes whoever waits for a position.
    fn wake(&self) {
        // Order: the store is before this look, a waiter's look at the graph after its count; one of both sees.
        if self.waiters.load(Ordering::SeqCst) > 0 {
            let _guard = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
            self.moved.notify_all();
        }
    }

    /// Waits until `position` is published, at most `timeout`; true if it is.
    pub(crate) fn wait_for(&self, position: Position, timeout: Duration) -> bool {
        // Too far to be told: as good as for ever.
        let deadline = Clock::now().checked_add(timeout);
        self.waiters.fetch_add(1, Ordering::SeqCst);
        let mut guard = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let is_there = loop {
            if self.published.load().position >= position {
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

    /// Goes on from `graph`, which was rebuilt from the log up to any published position. Returns when it is
    /// published, caught up with all that was committed meanwhile.
    pub(crate) fn replace_graph(&self, graph: Graph) -> Result<()> {
        let (sender, done) = std::sync::mpsc::channel();
        let mut state = self.state();
        state.check_writable()?;
        state.replacement = Some((graph, sender));
        drop(state);
        self.sequencer.notify_one();
        done.recv().unwrap_or_else(|_| {
            Err(Error::new(ErrorKind::Closed, "the repository was closed meanwhile; open it again"))
        })
    }

    /// Refuses new transactions; those in the queue are still committed.
    pub(crate) fn close(&self) {
        self.state().is_closing = true;
        self.sequencer.notify_all();
        self.room.notify_all();
        let _guard = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        self.moved.notify_all();
    }
}

impl State {
    pub(super) fn check_writable(&self) -> Result<()> {
        match (&self.read_only, &self.failed) {
            (Some(error), _) | (None, Some(error)) => Err(error.duplicate()),
            _ if self.is_closing => {
                Err(Error::new(ErrorKind::Closed, "repository: it is closed; open it again"))
            }
            _ => Ok(()),
        }
    }
}

/// Starts the two threads that commit. They end after [`Committer::close`], when all that was accepted is written.
pub(crate) fn start(committer: &Arc<Committer>) -> Result<Vec<std::thread::JoinHandle<()>>> {
    let spawn = |name: &str, run: fn(Arc<Committer>)| {
        let committer = Arc::clone(committer);
        std::thread::Builder::new()
            .name(name.into())
            .spawn(move || run(committer))
            .map_err(|source| Error::io(format!("start the thread {name}"), source))
    };
    Ok(vec![
        spawn("annals-sequencer", super::sequencer::run)?,
        spawn("annals-appender", super::appender::run)?,
    ])
}
