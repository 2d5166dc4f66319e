//! The log: an ordered sequence of opaque byte records, the only durable truth.
//!
//! ```
//! use annals::Position;
//! use annals::log::{Log, MemoryLog, ReadLimit};
//!
//! let log = MemoryLog::new();
//! log.append(Position(1), &[b"first", b"second"])?;
//! assert_eq!(log.tail()?, Position(2));
//! assert_eq!(log.read(Position(2), ReadLimit::default())?, [b"second".to_vec()]);
//! # Ok::<(), annals::Error>(())
//! ```

// Input from outside may hold any bytes: so no cast cuts a number, and no index panics.
#![cfg_attr(not(test), deny(clippy::as_conversions, clippy::indexing_slicing))]

mod another;
mod bytes;
mod call;
mod identity;
mod frame;

pub mod conformance;
mod rewrite;
mod fault;
mod file;
mod memory_log;
mod register;
pub mod register_conformance;

use std::sync::Arc;

use crate::storage::widen;
use crate::{Error, ErrorKind, Position, Result};

pub use another::another_log;
pub(crate) use another::is_another_log;
pub use call::{Appended, Call, Term, Token};
pub use conformance::log_conformance;
pub(crate) use fault::next_random;
pub use fault::{FaultLog, FaultPlan};
pub use file::FileOptions;
pub use file::{FileLog, SegmentInfo, copy_to_files};
pub(crate) use file::{FrameAddress, LOCK_FILE_NAME, is_vacant_log};
pub(crate) use file::{
    LogPart, SegmentPlan, begin_received, finish_received, receive_log_file, send_log, spoil_received,
};
pub use identity::LogId;
pub use memory_log::MemoryLog;
pub use register::{REGISTER_BYTES_MAX, Register, Slot, check_swap};
pub use rewrite::{Rewrite, RewriteRecord, RewriteReport, Rewritten};

/// Units: bytes of one record. A larger record is refused with `TooLarge`, by every log.
pub const RECORD_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Units: bytes of all records of one append call. A larger call is refused with `TooLarge`, by every log.
pub const APPEND_BYTES_MAX: usize = 256 * 1024 * 1024;

/// Units: records of one append call. A larger call is refused with `TooLarge`, by every log.
pub const APPEND_RECORDS_MAX: usize = 1_000_000;

/// An ordered sequence of opaque byte records at the positions 1, 2, 3 …
///
/// Every log passes the suite in [`conformance`].
pub trait Log: Send + Sync {
    /// The position of the last durable record; [`Position::ZERO`] when the log is empty.
    ///
    /// Errors: `Unavailable` or `Io` if the log cannot be reached.
    fn tail(&self) -> Result<Position>;

    /// Stores the records of `call` at its positions: all or none, durable once the outcome is [`Appended::Stored`].
    ///
    /// A call ends within a bound that the log documents; beyond it the outcome is [`Appended::Unknown`]. A panic counts
    /// as [`Appended::Lost`]. A log that gives an unknown outcome knows the token of each of its calls, and so answers
    /// `Stored` when a call comes again; other logs do so at least for the latest one.
    /// Errors, as [`Appended::Refused`]: `InvalidArgument` if there are no records or `at` would leave a gap; `TooLarge`
    /// beyond the bounds; `NoRoom` and `Io` if the storage refused, and then the next call may succeed.
    fn append_call(&self, call: &Call<'_>) -> Appended;

    /// Stores `records` at `at`, `at + 1`, … by a call of its own, which is not sent again: for tools and tests.
    ///
    /// Errors: `Conflict` if `at` is taken; those in the outcome of [`Log::append_call`]; `OutcomeUnknown`.
    fn append(&self, at: Position, records: &[&[u8]]) -> Result<()> {
        let call = Call { at, token: Token::random(), term: Term::default(), records };
        self.append_call(&call).for_good(&self.describe(), at)
    }

    /// Reads records in order, starting at `from`.
    ///
    /// Shape: the records at `from`, `from + 1`, …; at least one if any exists at `from`, even beyond the limit; empty
    /// beyond the tail. A log may return fewer than the limit allows: continue until the result is empty.
    /// Errors: `InvalidArgument` for [`Position::ZERO`]; `Corrupted`, `Gap` or `NewerFormat` for damaged records.
    fn read(&self, from: Position, limit: ReadLimit) -> Result<Vec<Vec<u8>>>;

    /// Checks for room for another append, without appending. The repository calls this after an append that failed
    /// with `NoRoom` or `Io`, at most once a second.
    ///
    /// Errors: the error that an append would have. A log that cannot check returns `Ok`, as this default does.
    fn probe(&self) -> Result<()> {
        Ok(())
    }

    /// The name of the log in error texts, e.g. `file log /data/x`.
    fn describe(&self) -> String;

    /// The identity of the log: a copy has another one. [`LogId::NIL`] for a log without identity.
    fn id(&self) -> LogId {
        LogId::NIL
    }

    /// How often the log was rewritten. Data derived from the log in another generation may name purged instances, or
    /// number instances differently.
    fn generation(&self) -> u64 {
        0
    }

    /// The last position of which rewritings after the generation `since` may have changed the record;
    /// [`Position::ZERO`] if there were none.
    ///
    /// A graph of the generation `since` that has this position goes on with the records after it. A log that does not know
    /// the position returns the last one that there can be, as this default does: then such graphs are read anew.
    fn rewritten_since(&self, since: u64) -> Position {
        if self.generation() == since { Position::ZERO } else { Position(u64::MAX) }
    }

    /// The log as one that can be rewritten; `None` if it cannot be.
    fn as_rewrite(&self) -> Option<&dyn Rewrite> {
        None
    }

    /// The register beside the log; `None` if another process cannot take over its writing.
    fn register(&self) -> Option<&dyn Register> {
        None
    }

    /// The size of the log up to `position`. Units: bytes; 0 for a log that does not know it.
    ///
    /// The repository calls this twice a second, to see when a checkpoint is due.
    fn bytes_up_to(&self, position: Position) -> u64 {
        let _ = position;
        0
    }

    /// The address of the record at `position`, in words of this log; empty for a log without addresses. A checkpoint
    /// stores it, and the next opening of the log looks for its end from there on.
    fn address_of(&self, position: Position) -> Vec<u8> {
        let _ = position;
        Vec::new()
    }

    /// Reads every record, and checks it against what the log keeps of it, such as its checksum.
    ///
    /// Errors: those of [`Log::read`], for the first damage.
    fn verify(&self) -> Result<Verified> {
        let mut verified = Verified::default();
        loop {
            let records = self.read(Position(verified.records_count + 1), ReadLimit::default())?;
            if records.is_empty() {
                return Ok(verified);
            }
            verified.records_count += widen(records.len());
            verified.bytes += records.iter().map(|record| widen(record.len())).sum::<u64>();
        }
    }

    /// Ends writing, durably. Later appends fail with `Closed`; reading continues.
    ///
    /// Errors: those of the last sync.
    fn close(&self) -> Result<()> {
        Ok(())
    }
}

/// The amounts that [`Log::verify`] has read and found whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verified {
    /// How many segment files, or other units of the log; 0 for a log without units.
    pub segments_count: u64,
    /// How many records.
    pub records_count: u64,
    /// Units: bytes of the log, with what it keeps beside the records.
    pub bytes: u64,
}

/// Units: bytes of `record`; `None` beyond [`RECORD_BYTES_MAX`].
fn record_length(record: &[u8]) -> Option<u32> {
    u32::try_from(record.len()).ok().filter(|_| record.len() <= RECORD_BYTES_MAX)
}

/// How much one [`Log::read`] returns at most; it always returns at least one record if there is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadLimit {
    /// Units: bytes of all returned records together.
    pub bytes: usize,
    /// Units: records.
    pub records: usize,
}

impl ReadLimit {
    /// Exactly one record.
    pub const ONE: ReadLimit = ReadLimit { bytes: usize::MAX, records: 1 };
}

impl Default for ReadLimit {
    /// 1 MiB or 1 000 records: large enough that the call costs little, small enough to hold.
    fn default() -> ReadLimit {
        ReadLimit { bytes: 1024 * 1024, records: 1_000 }
    }
}

impl<L: Log + ?Sized> Log for Arc<L> {
    fn tail(&self) -> Result<Position> {
        (**self).tail()
    }

    fn append_call(&self, call: &Call<'_>) -> Appended {
        (**self).append_call(call)
    }

    fn read(&self, from: Position, limit: ReadLimit) -> Result<Vec<Vec<u8>>> {
        (**self).read(from, limit)
    }

    fn probe(&self) -> Result<()> {
        (**self).probe()
    }

    fn describe(&self) -> String {
        (**self).describe()
    }

    fn id(&self) -> LogId {
        (**self).id()
    }

    fn generation(&self) -> u64 {
        (**self).generation()
    }

    fn rewritten_since(&self, since: u64) -> Position {
        (**self).rewritten_since(since)
    }

    fn as_rewrite(&self) -> Option<&dyn Rewrite> {
        (**self).as_rewrite()
    }

    fn register(&self) -> Option<&dyn Register> {
        (**self).register()
    }

    fn bytes_up_to(&self, position: Position) -> u64 {
        (**self).bytes_up_to(position)
    }

    fn address_of(&self, position: Position) -> Vec<u8> {
        (**self).address_of(position)
    }

    fn verify(&self) -> Result<Verified> {
        (**self).verify()
    }

    fn close(&self) -> Result<()> {
        (**self).close()
    }
}

/// Appends all records of `from` up to `upto` to an empty log, some together.
///
/// Errors: those of [`Log::read`] and [`Log::append`].
pub(crate) fn append_copy(from: &dyn Log, to: &dyn Log, upto: Position) -> Result<()> {
    let mut next = Position(1);
    while next <= upto {
        let mut records = from.read(next, ReadLimit::default())?;
        records.truncate(usize::try_from(upto.0 + 1 - next.0).unwrap_or(usize::MAX));
        to.append(next, &records.iter().map(Vec::as_slice).collect::<Vec<_>>())?;
        next = Position(next.0 + widen(records.len()));
    }
    Ok(())
}

/// Refuses an append call that no log accepts. Every log calls this first.
///
/// Errors: `InvalidArgument` for no record or position zero; `TooLarge` beyond the bounds.
pub fn check_append(log: &dyn Log, call: &Call<'_>) -> Result<()> {
    let Call { at, records, .. } = *call;
    if at == Position::ZERO || at.0.checked_add(widen(records.len())).is_none() {
        let text = format!(
            "{}: append at position {at}: positions count from 1; append at tail + 1",
            log.describe()
        );
        return Err(Error::new(ErrorKind::InvalidArgument, text));
    }
    if records.is_empty() {
        let text = format!("{}: append at {at}: expected at least one record, found none", log.describe());
        return Err(Error::new(ErrorKind::InvalidArgument, text));
    }
    let too_large = |what: String| {
        Err(Error::new(ErrorKind::TooLarge, format!("{}: append at {at}: {what}; split it", log.describe())))
    };
    if records.len() > APPEND_RECORDS_MAX {
        return too_large(format!("expected at most {APPEND_RECORDS_MAX} records, found {}", records.len()));
    }
    let mut bytes = 0usize;
    for record in records {
        if record.len() > RECORD_BYTES_MAX {
            let found = record.len();
            return too_large(format!(
                "expected at most {RECORD_BYTES_MAX} bytes in one record, found {found}"
            ));
        }
        bytes = bytes.saturating_add(record.len());
    }
    if bytes > APPEND_BYTES_MAX {
        return too_large(format!("expected at most {APPEND_BYTES_MAX} bytes in one call, found {bytes}"));
    }
    Ok(())
}

/// Refuses an append that does not start right after the tail; `None` if it does. A log calls this while no other thread
/// can append, after it has looked for the token of the call.
pub fn check_next(log: &dyn Log, at: Position, tail: Position) -> Option<Appended> {
    if at <= tail {
        return Some(Appended::Taken);
    }
    (at != tail.next()).then(|| {
        let text =
            format!("{}: expected position {}, found {at}; append at tail + 1", log.describe(), tail.next());
        Appended::Refused(Error::new(ErrorKind::InvalidArgument, text))
    })
}

/// Refuses to read from position zero. Every log calls this before reading.
///
/// Errors: `InvalidArgument` for [`Position::ZERO`].
pub fn check_read(log: &dyn Log, from: Position) -> Result<()> {
    if from == Position::ZERO {
        let text = format!("{}: read from position 0: positions count from 1; start at 1", log.describe());
        return Err(Error::new(ErrorKind::InvalidArgument, text));
    }
    Ok(())
}

// The answer to an append, of a log that is prepared but not in force.
fn refuse_prepared(log: &dyn Log) -> Appended {
    let text = format!("{}: append: expected the log in force, found one that is prepared", log.describe());
    Appended::Refused(Error::new(ErrorKind::ReadOnly, text))
}

/// Collects records until a [`ReadLimit`] is reached. Only this type decides "at least one, then up to the limit".
#[derive(Debug)]
pub struct ReadBatch {
    limit: ReadLimit,
    records: Vec<Vec<u8>>,
    bytes: usize,
    is_full: bool,
}

impl ReadBatch {
    /// An empty batch that fills up to `limit`.
    pub fn new(limit: ReadLimit) -> ReadBatch {
        ReadBatch { limit, records: Vec::new(), bytes: 0, is_full: false }
    }

    /// Adds `record` if the limit allows it; otherwise the batch is full.
    pub fn offer(&mut self, record: &[u8]) -> bool {
        let bytes = self.bytes.saturating_add(record.len());
        let is_first = self.records.is_empty();
        if self.is_full
            || (!is_first && (bytes > self.limit.bytes || self.records.len() >= self.limit.records))
        {
            self.is_full = true;
            return false;
        }
        self.records.push(record.to_vec());
        self.bytes = bytes;
        self.is_full = self.records.len() >= self.limit.records || bytes >= self.limit.bytes;
        true
    }

    /// True if it accepts no further record.
    pub fn is_full(&self) -> bool {
        self.is_full
    }

    /// How many records it holds.
    pub fn records_count(&self) -> usize {
        self.records.len()
    }

    /// The limit of this batch.
    pub fn limit(&self) -> ReadLimit {
        self.limit
    }

    /// The records of this batch.
    pub fn into_records(self) -> Vec<Vec<u8>> {
        self.records
    }
}
