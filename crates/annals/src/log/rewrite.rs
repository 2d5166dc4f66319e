//! Logs whose records can be rewritten: compaction uses this to remove purged instances.

use super::Log;
use crate::{Position, Result};

/// The new bytes of a record, or `None` if it stays.
///
/// A log may call it more than once for a record; it must return the same each time.
pub type RewriteRecord<'r> = dyn FnMut(Position, &[u8]) -> Result<Option<Vec<u8>>> + 'r;

/// A log whose records can be replaced, all in one step.
///
/// Rewriting happens beside the log in force and in two steps, so that the caller can check the result between them:
/// [`Rewrite::rewrite`] prepares the new log, [`Rewritten::put_in_place`] puts it in force.
pub trait Rewrite: Log {
    /// Prepares the log so that as many records as possible can be rewritten.
    ///
    /// Shape: the last position that can be rewritten.
    /// Errors: `ReadOnly`, `Closed`, `Unavailable`, `NoRoom`, `Io`.
    fn seal(&self) -> Result<Position>;

    /// Prepares a log in which `change` was called for every record up to `last`, which [`Rewrite::seal`] has returned.
    ///
    /// Reads and appends of the log in force continue, and nothing in it changes.
    /// Errors: those that `change` returns; those of reading; `InvalidArgument` if `last` cannot be rewritten;
    /// `TooLarge`, `NoRoom`, `Io`.
    fn rewrite(&self, last: Position, change: &mut RewriteRecord<'_>) -> Result<Box<dyn Rewritten + '_>>;
}

/// A prepared log: rewritten up to a position, and after that the log in force. It can be read but not appended to.
/// Dropping it leaves the log in force unchanged.
pub trait Rewritten: Log {
    /// The number of records and files that the rewriting changed.
    fn report(&self) -> RewriteReport;

    /// Puts this log in force, durably and in one step. After a crash at any moment the whole log is either the old one
    /// or this one. Afterwards the bytes of the old one are gone; opening the log next time removes files that cannot
    /// be removed now.
    ///
    /// Errors: `Unavailable` if it is unknown which of the two is in force: reopen the log; `NoRoom` or `Io`, and then
    /// the old one stays in force.
    fn put_in_place(self: Box<Self>) -> Result<()>;
}

/// The effect of a rewriting.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RewriteReport {
    /// Records that got other bytes.
    pub records_count: u64,
    /// Segment files, or other units of the log, that were rewritten.
    pub segments_count: u64,
}
