//! The door: the state that all requests share. It gets the repository when that is open.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::thread::Thread;
use std::time::{Duration, Instant as Clock};

use annals::log::LogId;
use annals::{Error, Observer, Operational, Position, Repository, Snapshot};
use tokio::sync::{OwnedMutexGuard, watch};

use super::cursors::CursorKey;
use super::hosts::Hosts;
use super::prepared::Preparing;
use crate::access::{Access, Grants, LeaseOwners, ServerProof};
use crate::bounds::Bounds;
use crate::bounds::limits::Limits;
use crate::protocol::problem::Problem;
use crate::reporting::metrics::Metrics;
use crate::reporting::refusals::Refusals;

/// How often the herald thread checks whether tasks wait, and whether it must stop.
const HERALD_WAIT: Duration = Duration::from_millis(250);

/// A follower that has not read its log for longer answers no client with grants.
const GRANTS_AGE_MAX: Duration = Duration::from_secs(10);

/// The state that all requests share.
pub struct Door {
    /// The bounds of everything.
    pub bounds: Arc<Bounds>,
    /// The names that requests may call the server by.
    pub hosts: Hosts,
    /// Which clients may do what.
    pub access: Access,
    /// The grants in the graph.
    pub grants: Grants,
    /// The sights that are being made.
    pub preparing: Preparing,
    /// Seals the cursors of clients with grants.
    pub cursor_key: CursorKey,
    /// The owners of leases.
    pub leases: LeaseOwners,
    /// The lines of refused requests.
    pub refusals: Refusals,
    /// Counters.
    pub metrics: Metrics,
    /// The source that the events of the feed name if the log has no id.
    source: String,
    /// The address of the server that has the folder open for writing, if it is known.
    pub writer: Box<dyn Fn() -> Option<String> + Send + Sync>,
    /// True for the door of a program to a repository of its own, which knows how far that has read.
    pub is_in_process: bool,
    /// A random id of this server.
    pub id: String,
    /// Proves to commands that this server has the folder open, once it has.
    pub proof: OnceLock<ServerProof>,
    /// When the server started.
    pub start: Clock,
    /// Progress of opening the repository: records replayed, and records in total.
    pub replayed: (AtomicU64, AtomicU64),
    repository: OnceLock<Repository>,
    /// The first request of a term that needs it makes it.
    operational: Mutex<Option<Operational>>,
    /// The turns of pushes to one lease, by its name. Those of which no push holds or awaits one go.
    pushes: Mutex<HashMap<String, Weak<tokio::sync::Mutex<()>>>>,
    visible: watch::Sender<Position>,
    stopping: watch::Sender<bool>,
    herald: OnceLock<Thread>,
}

/// The repository reports to the log and to the metrics.
impl Observer for Door {
    fn appended(&self, records_count: usize, taken: Duration) {
        self.metrics.count_append(records_count, taken);
        if taken >= self.bounds.limits.slow_time {
            tracing::warn!(records_count, seconds = taken.as_secs_f64(), "slow append to the log");
        }
    }

    fn checkpointed(&self, position: Position, taken: Duration) {
        self.metrics.count_checkpoint(taken);
        tracing::info!(position = position.0, seconds = taken.as_secs_f64(), "checkpoint written");
    }

    fn warned(&self, text: &str) {
        tracing::warn!("{text}");
    }

    fn refused(&self, error: &annals::Error) {
        tracing::error!(kind = error.kind().name(), "writes are refused for now: {error}");
    }

    fn accepted(&self) {
        tracing::info!("writes are accepted again");
    }

    fn failed(&self, error: &annals::Error) {
        tracing::error!(kind = error.kind().name(), "writes are refused: {error}");
    }
}

impl Door {
    /// A door without repository.
    pub fn new(limits: Limits, hosts: Hosts, source: String) -> Door {
        Door {
            bounds: Arc::new(Bounds::new(limits)),
            hosts,
            access: Access::default(),
            grants: Grants::default(),
            preparing: Preparing::default(),
            cursor_key: CursorKey::default(),
            leases: LeaseOwners::default(),
            refusals: Refusals::default(),
            metrics: Metrics::default(),
            source,
            is_in_process: false,
            writer: Box::new(|| None),
            id: annals::Id::random().to_string(),
            proof: OnceLock::new(),
            start: Clock::now(),
            replayed: Default::default(),
            repository: OnceLock::new(),
            operational: Mutex::new(None),
            pushes: Mutex::default(),
            visible: watch::Sender::new(Position::ZERO),
            stopping: watch::Sender::new(false),
            herald: OnceLock::new(),
        }
    }

    /// Lets requests in to the repository.
    ///
    /// Errors: those of starting a thread.
    pub fn open(self: &Arc<Door>, repository: Repository) -> std::io::Result<()> {
        let door = Arc::clone(self);
        let known = repository.clone();
        let _ = self.repository.set(repository);
        let herald =
            std::thread::Builder::new().name("annals-herald".into()).spawn(move || door.announce(&known))?;
        let _ = self.herald.set(herald.thread().clone());
        Ok(())
    }

    /// Notifies tasks that wait for a position when it is visible, so that no task needs a thread to wait.
    fn announce(&self, repository: &Repository) {
        while !self.is_stopping() {
            if repository.is_read_only() {
                self.end_leases();
            }
            let position = repository.snapshot().position();
            self.visible.send_if_modified(|known| std::mem::replace(known, position) != position);
            if self.visible.receiver_count() > 0 {
                repository.wait_for(position.next(), HERALD_WAIT);
            } else {
                // While no task waits, the herald is not woken by commits: waking it would slow down each of them.
                std::thread::park_timeout(HERALD_WAIT);
            }
        }
    }

    /// The repository for a client with grants. A server that has not reached its log for long does not know which grants
    /// still stand: also a writer, whose place another one may have taken.
    ///
    /// Errors: as [`Door::repository`]; `not-visible`.
    pub fn repository_of_granted(&self) -> Result<&Repository, Problem> {
        let repository = self.repository()?;
        let age = repository.age();
        if age <= GRANTS_AGE_MAX {
            return Ok(repository);
        }
        let (expected, found) = (GRANTS_AGE_MAX.as_secs(), age.as_secs());
        let text = format!(
            "grants: expected those of the last {expected} s, found that this server has not reached its log for {found} s; \
             ask another server, or try again"
        );
        Err(Problem::door("not-visible", text))
    }

    /// The repository.
    ///
    /// Errors: `opening` until it is open, and in a follower that reads its log anew; `unavailable` in a follower whose log
    /// is another one now.
    pub fn repository(&self) -> Result<&Repository, Problem> {
        let repository = self.repository.get().ok_or_else(|| {
            let [replayed, records] = self.replayed();
            Problem::door(
                "opening",
                format!("repository: {replayed} of {records} records are replayed; try later"),
            )
            .with("replayed", replayed)
            .with("records", records)
        })?;
        repository.check_log()?;
        Ok(repository)
    }

    /// The source that events name: with their ids it tells clients which events they have. All servers of a log name the
    /// same one, and those of a copy another one.
    pub fn source(&self) -> Arc<str> {
        match self.repository.get().map(Repository::log_id) {
            None | Some(LogId::NIL) => self.source.as_str().into(),
            Some(id) => format!("urn:annals:{id}").into(),
        }
    }

    /// Refuses what only the server of the writer has: leases, and the state that is pushed under them.
    ///
    /// Errors: as [`Door::repository`]; as of its writes in a follower.
    pub fn check_has_leases(&self) -> Result<(), Problem> {
        let Err(refused) = self.repository()?.check_writer() else { return Ok(()) };
        let told = refused.context().iter().find(|(name, address)| *name == "writer" && !address.is_empty());
        let writer = told.map(|(_, address)| address.clone()).or_else(|| (self.writer)());
        let place = writer.map_or_else(|| "its writer".to_owned(), |url| format!("its writer, {url}"));
        let text = format!(
            "repository: it is open for reading only; leases, and the state pushed under them, are at {place}"
        );
        let error = Error::new(refused.kind(), text);
        Err(refused.context().iter().fold(error, |error, (name, value)| error.with(name, value)).into())
    }

    /// The present of the repository.
    ///
    /// Errors: as [`Door::repository`].
    pub fn snapshot(&self) -> Result<Snapshot, Problem> {
        Ok(self.repository()?.try_snapshot()?)
    }

    /// The repository, if it is open.
    pub fn opened(&self) -> Option<&Repository> {
        self.repository.get()
    }

    /// The operational view, with its leases.
    ///
    /// Errors: `opening`; those of [`Operational::over`].
    pub fn operational(&self) -> Result<Operational, Problem> {
        let repository = self.repository()?;
        let mut known = self.operational.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(operational) = known.as_ref().filter(|operational| operational.check().is_ok()) {
            return Ok(operational.clone());
        }
        let made = Operational::over(repository)?;
        let before = known.replace(made.clone());
        // Order: after the lock is released, because its thread ends first.
        drop(known);
        drop(before);
        Ok(made)
    }

    /// Ends all leases: another server writes now, and clients open theirs there.
    fn end_leases(&self) {
        let ended = self.operational.lock().unwrap_or_else(PoisonError::into_inner).take();
        drop(ended);
    }

    /// The turn to push to a lease, until it is dropped. Pushes wait for it here, and not on threads for long work.
    pub async fn push_turn(&self, lease: &str) -> OwnedMutexGuard<()> {
        let turn = {
            let mut known = self.pushes.lock().unwrap_or_else(PoisonError::into_inner);
            known.retain(|_, turn| turn.strong_count() > 0);
            let turn = known.get(lease).and_then(Weak::upgrade).unwrap_or_default();
            known.insert(lease.to_owned(), Arc::downgrade(&turn));
            turn
        };
        turn.lock_owned().await
    }

    /// Records replayed, and records in all.
    pub fn replayed(&self) -> [u64; 2] {
        [self.replayed.0.load(Ordering::Relaxed), self.replayed.1.load(Ordering::Relaxed)]
    }

    /// A receiver of the last visible position.
    pub fn visible(&self) -> watch::Receiver<Position> {
        let visible = self.visible.subscribe();
        if let Some(herald) = self.herald.get() {
            herald.unpark();
        }
        visible
    }

    /// Asks all tasks to end.
    pub fn stop(&self) {
        self.stopping.send_replace(true);
    }

    /// True once the server was asked to stop.
    pub fn is_stopping(&self) -> bool {
        *self.stopping.borrow()
    }

    /// Becomes true when the server is asked to stop.
    pub fn stopping(&self) -> watch::Receiver<bool> {
        self.stopping.subscribe()
    }
}
