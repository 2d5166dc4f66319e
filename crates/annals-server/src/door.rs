//! The door: what all requests share. The repository comes in when it is open.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::Thread;
use std::time::{Duration, Instant as Clock};

use annals::{Operational, Position, Repository};
use tokio::runtime::Handle;
use tokio::sync::watch;

use super::hosts::Hosts;
use super::limits::{Gates, Limits};
use super::metrics::Metrics;
use super::problem::Problem;
use super::traffic::Traffic;

/// How often the herald looks whether it is needed, and whether it is to stop.
const HERALD_WAIT: Duration = Duration::from_millis(250);

/// What all requests share.
pub struct Door {
    /// Bounds.
    pub limits: Limits,
    /// The permits that hold the bounds.
    pub gates: Gates,
    /// What requests may call the server.
    pub hosts: Hosts,
    /// The requests worked on.
    pub traffic: Traffic,
    /// Counters.
    pub metrics: Metrics,
    /// What the feed names as source of its events.
    pub source: String,
    /// How far opening has come: records replayed, records in all.
    pub replayed: (AtomicU64, AtomicU64),
    repository: OnceLock<Repository>,
    /// Made by the first request that needs it.
    operational: Mutex<Option<Operational>>,
    visible: watch::Sender<Position>,
    stopping: watch::Sender<bool>,
    herald: OnceLock<Thread>,
}

impl Door {
    /// A door without repository.
    pub fn new(mut limits: Limits, hosts: Hosts, source: String) -> Door {
        if Handle::current().metrics().num_workers() < 2 {
            // Its only thread looks after all sockets, and on one core the client needs it to go on.
            limits.linger_time = Duration::ZERO;
        }
        Door {
            gates: Gates::new(&limits),
            limits,
            hosts,
            traffic: Traffic::default(),
            metrics: Metrics::default(),
            source,
            replayed: Default::default(),
            repository: OnceLock::new(),
            operational: Mutex::new(None),
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
        let runtime = Handle::current();
        let _ = self.repository.set(repository);
        let herald = std::thread::Builder::new()
            .name("annals-herald".into())
            .spawn(move || door.announce(&known, &runtime))?;
        let _ = self.herald.set(herald.thread().clone());
        Ok(())
    }

    /// Tells tasks that wait for a position when it is visible, so that no task needs a thread to wait.
    fn announce(&self, repository: &Repository, runtime: &Handle) {
        let mut woken = Clock::now();
        while !self.is_stopping() {
            if self.traffic.in_flight() > 0 && woken.elapsed() >= HERALD_WAIT {
                // What is worked on alone may wait for a disk that hangs. Then another thread must look after the
                // sockets, and one that sleeps does so only when it is woken.
                runtime.spawn(async {});
                woken = Clock::now();
            }
            let position = repository.snapshot().position();
            self.visible.send_if_modified(|known| std::mem::replace(known, position) != position);
            if self.visible.receiver_count() > 0 {
                repository.wait_for(position.next(), HERALD_WAIT);
            } else {
                // Being woken by every commit for nobody would hold up each of them.
                std::thread::park_timeout(HERALD_WAIT);
            }
        }
    }

    /// True if nothing is worked on or sent.
    pub fn is_quiet(&self) -> bool {
        self.traffic.in_flight() == 0 && self.gates.streams.available_permits() == self.limits.streams_max
    }

    /// The repository. Errors: `opening` until it is open.
    pub fn repository(&self) -> Result<&Repository, Problem> {
        self.repository.get().ok_or_else(|| {
            let [replayed, records] = self.replayed();
            Problem::door(
                "opening",
                format!("repository: {replayed} of {records} records are replayed; try later"),
            )
            .with("replayed", replayed)
            .with("records", records)
        })
    }

    /// The repository, if it is open.
    pub fn opened(&self) -> Option<&Repository> {
        self.repository.get()
    }

    /// The operational view, with its leases. It may write first, and wait for others that do: ask for it where long work is done.
    ///
    /// Errors: `opening`; those of [`Operational::over`].
    pub fn operational(&self) -> Result<Operational, Problem> {
        let repository = self.repository()?;
        let mut known = self.operational.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(operational) = &*known {
            return Ok(operational.clone());
        }
        Ok(known.insert(Operational::over(repository)?).clone())
    }

    /// Ends all leases. What they recorded is deleted; what cannot be now, the next process deletes.
    pub fn end_leases(&self) {
        let operational = self.operational.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(operational) = operational else { return };
        for lease in operational.leases().unwrap_or_default() {
            let _ = operational.end_lease(&lease.name);
        }
    }

    /// Records replayed, and records in all.
    pub fn replayed(&self) -> [u64; 2] {
        [self.replayed.0.load(Ordering::Relaxed), self.replayed.1.load(Ordering::Relaxed)]
    }

    /// The last visible position, as it moves.
    pub fn visible(&self) -> watch::Receiver<Position> {
        let visible = self.visible.subscribe();
        if let Some(herald) = self.herald.get() {
            herald.unpark();
        }
        visible
    }

    /// Asks everything to come to its end.
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
