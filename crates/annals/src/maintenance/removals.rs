//! The thread that removes from shared stores what has waited for the grace.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::thread::JoinHandle;
use std::time::{Duration, Instant as Clock};

use crate::log::Term;
use crate::{Error, ErrorKind, Result};

/// The thread looks this often within the grace, and not more seldom than the second.
const LOOKS: u32 = 8;
const LOOK_MAX: Duration = Duration::from_secs(60);
const LOOK_MIN: Duration = Duration::from_millis(5);
/// Longest rest after a try that removed nothing.
const REST_MAX: Duration = Duration::from_secs(600);

/// The repository, for the thread that removes.
pub(crate) trait Removing: Send + Sync + 'static {
    /// How long an object stays that is to leave the store.
    fn grace(&self) -> Duration;

    /// Removes what is due. `begun` is the term in which it did so first: then also what earlier writers have left. Shape: the
    /// number of removed contents and their bytes, if it looked for any.
    fn remove_what_is_due(&self, begun: &mut Term) -> Result<Option<(u64, u64)>>;

    /// Reports a failed removal to the user.
    fn warn(&self, text: String);
}

/// Starts the thread that removes what is due.
pub(crate) fn start(repository: &Arc<impl Removing>, is_stopping: Arc<AtomicBool>) -> Result<JoinHandle<()>> {
    let grace = repository.grace();
    // Weak: the thread must not keep the repository open.
    let repository = Arc::downgrade(repository);
    std::thread::Builder::new()
        .name("annals-upkeep".into())
        .spawn(move || keep(&repository, grace, &is_stopping))
        .map_err(|source| Error::io("start the thread annals-upkeep", source))
}

fn keep(repository: &Weak<impl Removing>, grace: Duration, is_stopping: &AtomicBool) {
    let look = (grace / LOOKS).clamp(LOOK_MIN, LOOK_MAX);
    let (mut begun, mut problem, mut not_before) = (Term::default(), String::new(), Clock::now());
    while !is_stopping.load(Ordering::SeqCst) {
        std::thread::park_timeout(look);
        let Some(repository) = repository.upgrade() else { return };
        if Clock::now() < not_before || is_stopping.load(Ordering::SeqCst) {
            continue;
        }
        // It reads the log: if that removes nothing, it rests.
        let rest = grace.clamp(look, REST_MAX);
        match repository.remove_what_is_due(&mut begun) {
            Ok(Some((0, _))) => not_before = Clock::now() + rest,
            Ok(_) => problem.clear(),
            Err(error) if matches!(error.kind(), ErrorKind::NotWriter | ErrorKind::Closed) => {}
            Err(error) => {
                not_before = Clock::now() + rest;
                let text = error.to_string();
                if text != problem {
                    repository.warn(format!("objects stay in the store that were to be removed: {text}"));
                }
                problem = text;
            }
        }
    }
}
