//! Keeps records in memory: for tests, examples and repositories that end with their process.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::{
    Appended, Call, Log, ReadBatch, ReadLimit, Register, Rewrite, RewriteRecord, RewriteReport, Rewritten,
    Slot, Token, check_append, check_next, check_read, check_swap, refuse_prepared,
};
use crate::model::Instant;
use crate::storage::widen;
use crate::{Error, ErrorKind, Position, Result};

/// A log in memory. Clones are handles onto the same records, so two of them race as two processes would.
#[derive(Clone, Default)]
pub struct MemoryLog {
    stored: Arc<RwLock<Stored>>,
    has_register: bool,
}

#[derive(Default)]
struct Stored {
    records: Vec<Vec<u8>>,
    /// The first position of each call, ascending, and its token.
    calls: Vec<(Position, Token)>,
    /// The last position of each rewriting.
    rewritten: Vec<Position>,
    register: BTreeMap<Slot, Vec<u8>>,
}

impl Stored {
    fn generation(&self) -> u64 {
        widen(self.rewritten.len())
    }
}

impl MemoryLog {
    /// An empty log.
    pub fn new() -> MemoryLog {
        MemoryLog::default()
    }

    /// A log of these records.
    pub fn from_records(records: Vec<Vec<u8>>) -> MemoryLog {
        let log = MemoryLog::new();
        log.write_stored().records = records;
        log
    }

    /// An empty log with a register: one process after the other writes it.
    pub fn with_register() -> MemoryLog {
        MemoryLog { has_register: true, ..MemoryLog::default() }
    }

    fn read_stored(&self) -> RwLockReadGuard<'_, Stored> {
        self.stored.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write_stored(&self) -> RwLockWriteGuard<'_, Stored> {
        self.stored.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Log for MemoryLog {
    fn tail(&self) -> Result<Position> {
        Ok(Position(widen(self.read_stored().records.len())))
    }

    fn append_call(&self, call: &Call<'_>) -> Appended {
        if let Err(error) = check_append(self, call) {
            return Appended::Refused(error);
        }
        let mut stored = self.write_stored();
        if stored.calls.binary_search(&(call.at, call.token)).is_ok() {
            return Appended::Stored;
        }
        if let Some(outcome) = check_next(self, call.at, Position(widen(stored.records.len()))) {
            return outcome;
        }
        stored.calls.push((call.at, call.token));
        stored.records.extend(call.records.iter().map(|record| record.to_vec()));
        Appended::Stored
    }

    fn read(&self, from: Position, limit: ReadLimit) -> Result<Vec<Vec<u8>>> {
        check_read(self, from)?;
        Ok(batch_of(&self.read_stored().records, from, limit))
    }

    fn describe(&self) -> String {
        "memory log".to_string()
    }

    fn generation(&self) -> u64 {
        self.read_stored().generation()
    }

    fn rewritten_since(&self, since: u64) -> Position {
        let stored = self.read_stored();
        let since = usize::try_from(since).unwrap_or(usize::MAX);
        stored.rewritten.iter().skip(since).max().copied().unwrap_or(Position::ZERO)
    }

    fn as_rewrite(&self) -> Option<&dyn Rewrite> {
        Some(self)
    }

    fn register(&self) -> Option<&dyn Register> {
        let register: &dyn Register = self;
        self.has_register.then_some(register)
    }
}

impl Register for MemoryLog {
    fn get(&self, slot: Slot) -> Result<Option<Vec<u8>>> {
        Ok(self.read_stored().register.get(&slot).cloned())
    }

    fn swap(&self, slot: Slot, expected: Option<&[u8]>, value: &[u8]) -> Result<bool> {
        check_swap(value)?;
        let mut stored = self.write_stored();
        let is_expected = stored.register.get(&slot).map(Vec::as_slice) == expected;
        if is_expected {
            stored.register.insert(slot, value.to_vec());
        }
        Ok(is_expected)
    }

    fn now(&self) -> Result<Instant> {
        Ok(Instant::now())
    }
}

/// The records from `from` on, up to `limit`.
fn batch_of(records: &[Vec<u8>], from: Position, limit: ReadLimit) -> Vec<Vec<u8>> {
    let start = usize::try_from(from.0 - 1).unwrap_or(usize::MAX);
    let mut batch = ReadBatch::new(limit);
    for record in records.get(start..).unwrap_or_default() {
        if !batch.offer(record) || batch.is_full() {
            break;
        }
    }
    batch.into_records()
}

impl Rewrite for MemoryLog {
    fn seal(&self) -> Result<Position> {
        self.tail()
    }

    fn rewrite(&self, last: Position, change: &mut RewriteRecord<'_>) -> Result<Box<dyn Rewritten + '_>> {
        let (mut records, generation) = {
            let stored = self.read_stored();
            let count = usize::try_from(last.0).unwrap_or(usize::MAX);
            (stored.records.iter().take(count).cloned().collect::<Vec<_>>(), stored.generation())
        };
        let mut report = RewriteReport::default();
        for (position, record) in (1..).zip(&mut records) {
            if let Some(changed) = change(Position(position), record)? {
                *record = changed;
                report = RewriteReport { records_count: report.records_count + 1, segments_count: 1 };
            }
        }
        Ok(Box::new(RewrittenMemory { log: self, records, generation, report }))
    }
}

/// The records of a memory log after a rewriting, up to the last rewritten one.
struct RewrittenMemory<'l> {
    log: &'l MemoryLog,
    records: Vec<Vec<u8>>,
    // The generation of the log when it was read.
    generation: u64,
    report: RewriteReport,
}

impl Log for RewrittenMemory<'_> {
    fn tail(&self) -> Result<Position> {
        self.log.tail()
    }

    fn append_call(&self, _: &Call<'_>) -> Appended {
        refuse_prepared(self)
    }

    fn read(&self, from: Position, limit: ReadLimit) -> Result<Vec<Vec<u8>>> {
        check_read(self, from)?;
        if from.0 <= widen(self.records.len()) {
            return Ok(batch_of(&self.records, from, limit));
        }
        self.log.read(from, limit)
    }

    fn describe(&self) -> String {
        "rewritten memory log".to_string()
    }

    fn generation(&self) -> u64 {
        self.generation + 1
    }
}

impl Rewritten for RewrittenMemory<'_> {
    fn report(&self) -> RewriteReport {
        self.report
    }

    fn put_in_place(self: Box<Self>) -> Result<()> {
        let mut stored = self.log.write_stored();
        if stored.generation() != self.generation {
            let text = format!("{}: another rewriting was put in place first; retry", self.describe());
            return Err(Error::new(ErrorKind::Conflict, text));
        }
        stored.rewritten.push(Position(widen(self.records.len())));
        for (record, rewritten) in stored.records.iter_mut().zip(self.records) {
            *record = rewritten;
        }
        Ok(())
    }
}

impl fmt::Debug for MemoryLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryLog").field("tail", &self.tail()).finish()
    }
}
