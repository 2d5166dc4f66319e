//! The door: what all requests share. The repository comes in when it is open.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use annals::{Position, Repository};
use tokio::sync::watch;

use super::limits::{Gates, Limits};
use super::metrics::Metrics;
use super::problem::Problem;

/// How often the herald looks whether it is to stop.
const HERALD_WAIT: Duration = Duration::from_millis(250);

/// What all requests share.
pub struct Door {
    /// Bounds.
    pub limits: Limits,
    /// The permits that hold the bounds.
    pub gates: Gates,
    /// Counters.
    pub metrics: Metrics,
    /// What the feed names as source of its events.
    pub source: String,
    /// How far opening has come: records replayed, records in all.
    pub replayed: (AtomicU64, AtomicU64),
    repository: OnceLock<Repository>,
    visible: watch::Sender<Position>,
    stopping: watch::Sender<bool>,
}

impl Door {
    /// A door without repository.
    pub fn new(limits: Limits, source: String) -> Door {
        Door {
            gates: Gates::new(&limits),
            limits,
            metrics: Metrics::default(),
            source,
            replayed: Default::default(),
            repository: OnceLock::new(),
            visible: watch::Sender::new(Position::ZERO),
            stopping: watch::Sender::new(false),
        }
    }

    /// Lets requests in to the repository.
    ///
    /// Errors: those of starting a thread.
    pub fn open(self: &Arc<Door>, repository: Repository) -> std::io::Result<()> {
        let door = Arc::clone(self);
        let herald = repository.clone();
        let _ = self.repository.set(repository);
        std::thread::Builder::new().name("annals-herald".into()).spawn(move || door.announce(&herald))?;
        Ok(())
    }

    /// Tells tasks that wait for a position when it is visible, so that no task needs a thread to wait.
    fn announce(&self, repository: &Repository) {
        while !self.is_stopping() {
            let position = repository.snapshot().position();
            self.visible.send_if_modified(|known| std::mem::replace(known, position) != position);
            repository.wait_for(position.next(), HERALD_WAIT);
        }
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

    /// Records replayed, and records in all.
    pub fn replayed(&self) -> [u64; 2] {
        [self.replayed.0.load(Ordering::Relaxed), self.replayed.1.load(Ordering::Relaxed)]
    }

    /// The last visible position, as it moves.
    pub fn visible(&self) -> watch::Receiver<Position> {
        self.visible.subscribe()
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
