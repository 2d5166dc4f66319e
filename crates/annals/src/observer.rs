//! Reports of a repository to the program that uses it.

use std::time::Duration;

use crate::Position;

/// Receives reports of a repository: for a log of the program, or for its metrics. Set it in
/// [`Options::observer`](crate::Options::observer). Every method does nothing unless it is implemented.
///
/// A method runs on the thread that did the work, and that thread waits for it: it must be quick and must not panic.
pub trait Observer: Send + Sync {
    /// The log has synced a batch of records.
    ///
    /// Units: `records_count` is at least 1; `taken` is the time to write and to sync them.
    fn appended(&self, records_count: usize, taken: Duration) {
        let _ = (records_count, taken);
    }

    /// A checkpoint of the graph at `position` is written, in the background or because the program asked for it.
    fn checkpointed(&self, position: Position, taken: Duration) {
        let _ = (position, taken);
    }

    /// A check or a compaction has come to the record `at` of those up to `end`: `check`, or `rewrite` and then `compare`. It is
    /// told at intervals.
    fn progressed(&self, work: &'static str, at: Position, end: Position) {
        let _ = (work, at, end);
    }

    /// The repository keeps one more warning, see [`Repository::warnings`](crate::Repository::warnings).
    fn warned(&self, text: &str) {
        let _ = text;
    }

    /// The log refused an append and wrote nothing, because it found no room (`NoRoom`) or the system refused (`Io`). The
    /// next refusals of the same kind are not reported, until the log takes an append or finds room.
    fn refused(&self, error: &crate::Error) {
        let _ = error;
    }

    /// After [`refused`](Observer::refused), the log takes appends again.
    fn accepted(&self) {}

    /// The repository refuses writes from now on until it is reopened. On a log with a register it follows the next writer
    /// then, and may write again after that one.
    fn failed(&self, error: &crate::Error) {
        let _ = error;
    }
}
