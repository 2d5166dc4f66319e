//! Walks that were begun for one page and are kept for the next pages.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::reach::Reach;
use super::walked::Breadth;
use crate::graph::indexed::Indexed;
use crate::graph::instance::past::View;
use crate::model::Id;
use crate::search::OrderBy;

/// Most walks kept; the least recently used one is dropped first, and repeated when it is needed.
const WALKS_MAX: usize = 32;
/// Their total size, unless a memory budget allows less. Units: bytes.
pub(super) const WALKS_BYTES_MAX: usize = 64 << 20;
/// Walks that are not used for this time are dropped, together with their graph.
const KEPT_TIME: Duration = Duration::from_secs(60);

/// Which walk it is.
#[derive(Clone, PartialEq)]
pub(super) struct Question {
    /// The generation of its graph.
    pub(super) generation: u64,
    pub(super) position: u64,
    /// Units: microseconds since 1970; `i64::MAX` for "as it was known then".
    pub(super) valid: i64,
    /// The number of its sight; `None` without one.
    pub(super) sight: Option<u64>,
    pub(super) start: Id,
    pub(super) reach: Reach,
    pub(super) order: Vec<OrderBy>,
}

/// A walk with its graph: the one of its first page, without later writes.
pub(super) struct Kept {
    pub(super) question: Question,
    pub(super) graph: Arc<Indexed>,
    pub(super) view: Option<View>,
    pub(super) breadth: Breadth,
    /// Indexes in the order of the walk of the listed entities, in the requested order; `None` for the order of the
    /// walk.
    pub(super) sorted: Option<Vec<u32>>,
    pub(super) used: Instant,
}

impl Kept {
    fn bytes_count(&self) -> usize {
        self.breadth.bytes_count() + 4 * self.sorted.as_ref().map_or(0, Vec::capacity)
    }
}

/// The walks kept by one repository, the most recently used at the end. Its lock is held only for a moment: a walk in
/// use is taken out.
#[derive(Default)]
pub(crate) struct KeptWalks(Mutex<VecDeque<Kept>>);

impl KeptWalks {
    /// Takes a walk out, to continue it.
    pub(super) fn take(&self, question: &Question) -> Option<Kept> {
        self.let_go();
        let mut walks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let at = walks.iter().position(|kept| kept.question == *question)?;
        walks.remove(at)
    }

    /// Keeps a walk, and drops others if there are too many.
    pub(super) fn put(&self, kept: Kept, bytes_max: usize) {
        let mut walks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        walks.retain(|other| other.used.elapsed() < KEPT_TIME && other.question != kept.question);
        walks.push_back(Kept { used: Instant::now(), ..kept });
        while walks.len() > WALKS_MAX || walks.iter().map(Kept::bytes_count).sum::<usize>() > bytes_max {
            walks.pop_front();
        }
    }

    /// Drops the walks that were not used for some time.
    pub(crate) fn let_go(&self) {
        let mut walks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        walks.retain(|kept| kept.used.elapsed() < KEPT_TIME);
    }

    /// Drops all walks: their graph is out of date.
    pub(crate) fn clear(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}
