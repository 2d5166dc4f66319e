//! Tells the observer of a repository how far maintenance is.

use crate::Position;
use crate::repository::Inner;

impl Inner {
    /// Tells how far a check or a compaction is.
    pub(super) fn progressed(&self, work: &'static str, at: Position, end: Position) {
        if let Some(observer) = &self.options.observer {
            observer.progressed(work, at, end);
        }
    }
}
