//! Cancels long reads: by a call, or after a time.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::{Error, ErrorKind};

/// Cancels reads through the snapshots that hold it. All clones are the same.
///
/// ```
/// use annals::{Cancel, ErrorKind, NewEntity, Reach, Repository};
/// let repository = Repository::in_memory();
/// let (id, _) = repository.transact(|t| t.create_entity(NewEntity::new("person")))?;
/// let cancel = Cancel::new();
/// let snapshot = repository.snapshot().cancelled_by(&cancel);
/// assert_eq!(snapshot.reachable(&id, &Reach::both())?.len(), 0);
/// cancel.cancel(); // from any thread
/// assert_eq!(snapshot.reachable(&id, &Reach::both()).unwrap_err().kind(), ErrorKind::Cancelled);
/// # Ok::<(), annals::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<State>);

#[derive(Debug, Default)]
struct State {
    is_cancelled: AtomicBool,
    deadline: Option<Instant>,
}

impl Cancel {
    /// One that only [`Cancel::cancel`] triggers.
    pub fn new() -> Cancel {
        Cancel::default()
    }

    /// One that also triggers after `time`.
    pub fn after(time: Duration) -> Cancel {
        Cancel(Arc::new(State {
            is_cancelled: AtomicBool::new(false),
            deadline: Instant::now().checked_add(time),
        }))
    }

    /// Cancels every read through it, from any thread.
    pub fn cancel(&self) {
        self.0.is_cancelled.store(true, Ordering::Relaxed);
    }

    /// True if it was cancelled, or its time is over.
    pub fn is_cancelled(&self) -> bool {
        self.0.is_cancelled.load(Ordering::Relaxed)
            || self.0.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }
}

/// The error of a cancelled read.
#[cold]
pub(crate) fn cancelled() -> Error {
    Error::new(
        ErrorKind::Cancelled,
        "the read was called off, or its time is over; ask for less, or give it more time",
    )
}
