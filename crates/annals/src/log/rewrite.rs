//! Logs whose records can be rewritten: how compaction takes purged instances out of them.

use super::Log;
use crate::{Position, Result};

/// What a record becomes: other bytes for the same position, or `None` if it stays.
///
/// It may be asked about a record more than once, and then answers the same.
pub type RewriteRecord<'r> = dyn FnMut(Position, &[u8]) -> Result<Option<Vec<u8>>> + 'r;

/// A log whose records can be given other bytes, all in one step.
///
/// Rewriting goes beside the log in force and in two steps, so that the caller can look at the result between them:
/// [`Rewrite::rewrite`] prepares the new log, [`Rewritten::put_in_place`] makes it the one in force.
pub trait Rewrite: Log {
    /// Sees to it that as many records as possible can be rewritten.
    ///
    /// Shape: the last position that can be.
    /// Errors: `ReadOnly`, `Closed`, `Unavailable`, `NoRoom`, `Io`.
    fn seal(&self) -> Result<Position>;

    /// Prepares a log in which `change` was asked about every record up to `last`, which [`Rewrite::seal`] has told.
    ///
    /// Reads and appends of the log in force go on, and nothing of it changes.
    /// Errors: whatever `change` returns; those of reading; `InvalidArgument` if `last` cannot be rewritten;
    /// `TooLarge`, `NoRoom`, `Io`.
    fn rewrite(&self, last: Position, change: &mut RewriteRecord<'_>) -> Result<Box<dyn Rewritten + '_>>;
}

/// A log as it will be: rewritten up to a position, and behind that the one in force. It can be read but not appended
/// to. Dropping it leaves the log in force as it is.
pub trait Rewritten: Log {
    /// What the rewriting changed.
    fn report(&self) -> RewriteReport;

    /// Makes this the log in force, durably and in one step. After a crash at any moment the whole log is either the
    /// one before or this one. Afterwards the bytes of the one before are gone.
    ///
    /// Errors: `Unavailable` if it is unknown which of the two is in force: reopen the log; `NoRoom` or `Io`,
    /// and then the one before stays.
    fn put_in_place(self: Box<Self>) -> Result<()>;
}

/// What a rewriting changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RewriteReport {
    /// Records that got other bytes.
    pub records_count: u64,
    /// Segment files, or other units of the log, that were written anew.
    pub segments_count: u64,
}
