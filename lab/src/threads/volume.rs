//! The volumes of the suite: numbers of threads.

use crate::harness::whole;
use crate::outcome::Outcome;

/// Most threads that a volume can have.
const THREADS_MAX: u32 = 10_000;

/// The number of threads of a volume.
pub fn threads(volume: &str) -> Outcome<usize> {
    Ok(whole(volume, "threads", 1..=THREADS_MAX)? as usize)
}
