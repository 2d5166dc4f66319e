//! The log as this handle has seen it: what it must find again, and what it knows without asking.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use annals::log::{LogId, another_log};
use annals::{Error, ErrorKind, Position, Result};
use tokio_postgres::Row;
use tokio_postgres::types::FromSql;
use uuid::Uuid;

/// Sizes that are remembered: those of the tail and of checkpoints are asked for again and again.
const SIZES_MAX: usize = 16;

/// The last call that is known to be in the log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct LastCall {
    pub last: Position,
    /// Nil for an empty log.
    pub token: Uuid,
    /// Units: bytes of all records up to it, as they were appended.
    pub bytes: u64,
}

/// The state of the log that this handle has seen. The log must not go back behind it.
pub(super) struct Seen {
    log: String,
    pub id: LogId,
    generation: AtomicU64,
    /// Units: bytes that rewritings have taken out.
    saved: AtomicU64,
    last: Mutex<LastCall>,
    sizes: Mutex<Vec<(Position, u64)>>,
}

impl Seen {
    pub fn new(log: String, id: LogId, generation: u64) -> Seen {
        Seen {
            log,
            id,
            generation: AtomicU64::new(generation),
            saved: AtomicU64::new(0),
            last: Mutex::default(),
            sizes: Mutex::default(),
        }
    }

    /// The generation in the latest answer. It never falls.
    pub fn generation(&self) -> u64 {
        self.generation.load(Ordering::SeqCst)
    }

    /// The last call that is known.
    pub fn last(&self) -> LastCall {
        *self.lock()
    }

    fn lock(&self) -> MutexGuard<'_, LastCall> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the first two columns of each answer, the id and the generation of the log.
    ///
    /// Shape: the generation of the answer.
    /// Errors: `Unavailable` if it is the answer of another log.
    pub fn take_origin(&self, rows: &[Row]) -> Result<u64> {
        let Some(row) = rows.first() else {
            return Err(another_log(&self.log, "the table of logs is empty"));
        };
        let id = LogId(column::<Uuid>(row, 0)?.into_bytes());
        if id != self.id {
            return Err(another_log(&self.log, &format!("expected the log {}, found {id}", self.id)));
        }
        let generation = position(row, 1)?;
        self.generation.fetch_max(generation, Ordering::SeqCst);
        Ok(generation)
    }

    /// Notes bytes that rewritings have taken out.
    pub fn note_saved(&self, bytes: u64) {
        self.saved.store(bytes, Ordering::Relaxed);
    }

    /// Notes a call that is in the log.
    pub fn note(&self, call: LastCall) {
        let mut last = self.lock();
        if call.last > last.last {
            *last = call;
        }
    }

    /// Notes the last call of the log. `before` was known when the question was sent.
    ///
    /// Errors: `Unavailable` if the log has lost calls since.
    pub fn note_tail(&self, before: LastCall, found: LastCall) -> Result<()> {
        self.check_tail(before, found)?;
        self.note(found);
        Ok(())
    }

    /// Errors: as [`Seen::note_tail`].
    pub fn check_tail(&self, before: LastCall, found: LastCall) -> Result<()> {
        if found.last < before.last {
            return Err(self.lost(before, &format!("found them up to {}", found.last)));
        }
        self.check_call(before, found)
    }

    /// Errors: `Unavailable` if another call ends at the position of the last one that was known.
    pub fn check_call(&self, before: LastCall, found: LastCall) -> Result<()> {
        if found.last == before.last && found.token != before.token {
            return Err(self.lost(before, "found another call there"));
        }
        Ok(())
    }

    /// The error of a log that has lost calls that were stored or read.
    pub fn lost(&self, before: LastCall, found: &str) -> Error {
        another_log(&self.log, &format!("expected records up to {}, {found}", before.last))
    }

    /// The size of the log up to `position`, if it is known. Units: bytes.
    pub fn bytes_up_to(&self, position: Position) -> Option<u64> {
        let last = self.last();
        let known = match position >= last.last && last != LastCall::default() {
            true => Some(last.bytes),
            false => {
                let sizes = self.sizes.lock().unwrap_or_else(PoisonError::into_inner);
                sizes.iter().find(|(known, _)| *known == position).map(|(_, bytes)| *bytes)
            }
        };
        known.map(|bytes| bytes.saturating_sub(self.saved.load(Ordering::Relaxed)))
    }

    /// Remembers the size up to `position`, as the records were appended.
    pub fn note_size(&self, position: Position, bytes: u64) {
        let mut sizes = self.sizes.lock().unwrap_or_else(PoisonError::into_inner);
        if sizes.len() == SIZES_MAX {
            sizes.remove(0);
        }
        sizes.push((position, bytes));
    }
}

/// A column of an answer.
///
/// Errors: `Corrupted` if it has another type: the tables are not those of a log.
pub(super) fn column<'r, T: FromSql<'r>>(row: &'r Row, at: usize) -> Result<T> {
    row.try_get(at).map_err(|error| {
        let text = format!("log in PostgreSQL: expected the tables of a log, found others: {error}");
        Error::new(ErrorKind::Corrupted, text)
    })
}

/// A column that counts; 0 if it is null.
pub(super) fn position(row: &Row, at: usize) -> Result<u64> {
    let found: Option<i64> = column(row, at)?;
    u64::try_from(found.unwrap_or_default()).map_err(|_| {
        let text = format!("log in PostgreSQL: expected a number from 0 on, found {found:?}");
        Error::new(ErrorKind::Corrupted, text)
    })
}
