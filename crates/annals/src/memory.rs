//! The memory budget: how it is shared out, and when it is spent.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::{Error, ErrorKind, Result};

/// Smallest budget: below it there is nothing to share out. Units: bytes.
pub(crate) const BUDGET_BYTES_MIN: u64 = 16 << 20;
/// Share of the budget that records read for history, and that waiting transactions, may take: one sixteenth each.
const SHARE: u64 = 16;
/// The resident set is looked at when this much was written since the last look. Units: bytes.
const LOOK_BYTES: u64 = 4 << 20;
/// What a change counts for beside its bytes. Units: bytes.
const TRANSACTION_BYTES: u64 = 1_024;
/// Units: bytes. The system counts pages of this size on every machine that Annals is built for.
const PAGE_BYTES: u64 = 4_096;

/// What all parts of one repository know about its budget.
pub(crate) struct Memory {
    /// Units: bytes of the resident set; `None` for no bound.
    bytes_max: Option<u64>,
    /// What the system says of this process; `None` where it does not tell.
    statistics: Option<File>,
    /// Bytes written since the last look.
    unlooked: AtomicU64,
    /// True while the last look found more than the budget.
    is_spent: AtomicBool,
    has_failed: AtomicBool,
    /// Why long values cannot leave memory any more.
    failure: Mutex<Option<Error>>,
}

impl Memory {
    pub(crate) fn new(bytes_max: Option<u64>) -> Memory {
        Memory {
            bytes_max,
            statistics: File::open("/proc/self/statm").ok(),
            unlooked: AtomicU64::new(LOOK_BYTES),
            is_spent: AtomicBool::new(false),
            has_failed: AtomicBool::new(false),
            failure: Mutex::default(),
        }
    }

    /// Refuses a budget that nothing fits.
    ///
    /// Errors: `InvalidArgument`.
    pub(crate) fn check(&self) -> Result<()> {
        match self.bytes_max {
            Some(bytes) if bytes < BUDGET_BYTES_MIN => Err(Error::new(
                ErrorKind::InvalidArgument,
                format!(
                    "memory: expected a budget of at least {}, found {bytes} bytes",
                    size(BUDGET_BYTES_MIN)
                ),
            )),
            _ => Ok(()),
        }
    }

    /// What one of the parts that have a bound of their own may take: `bytes`, or less if the budget is small.
    pub(crate) fn share(&self, bytes: usize) -> usize {
        let share = self.bytes_max.map_or(u64::MAX, |bytes_max| bytes_max / SHARE);
        bytes.min(usize::try_from(share).unwrap_or(usize::MAX))
    }

    /// Admits a write of `bytes`. Looks at the resident set now and then, and at every write while the budget is spent.
    ///
    /// Errors: `NoRoom` while the process holds more than the budget; that or `Io` after a spill file could not be written.
    pub(crate) fn admit(&self, bytes: usize) -> Result<()> {
        self.admit_within(bytes, self.bytes_max).map_err(Error::for_write)
    }

    /// Admits a record of the log: with a fifth more, because what one process could write under a budget the next must
    /// be able to open under the same.
    ///
    /// Errors: as [`Memory::admit`], but `TooLarge`.
    pub(crate) fn admit_committed(&self, bytes: usize) -> Result<()> {
        self.admit_within(bytes, self.bytes_max.map(|bytes_max| bytes_max.saturating_add(bytes_max / 5)))
    }

    fn admit_within(&self, bytes: usize, bytes_max: Option<u64>) -> Result<()> {
        if self.has_failed() {
            let failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
            return failure.as_ref().map_or(Ok(()), |error| Err(error.duplicate()));
        }
        let Some(bytes_max) = bytes_max else { return Ok(()) };
        let unlooked = self.unlooked.fetch_add(bytes as u64 + TRANSACTION_BYTES, Ordering::Relaxed);
        if unlooked < LOOK_BYTES && !self.is_spent.load(Ordering::Relaxed) {
            return Ok(());
        }
        self.unlooked.store(0, Ordering::Relaxed);
        self.check_within(bytes_max, 1)
    }

    /// Refuses what needs the memory of a second graph if the budget has no room for one.
    ///
    /// Errors: `TooLarge`.
    pub(crate) fn admit_second_graph(&self) -> Result<()> {
        self.bytes_max.map_or(Ok(()), |bytes_max| self.check_within(bytes_max, 2))
    }

    // Fails if `times` what the process holds is more than `bytes_max`.
    fn check_within(&self, bytes_max: u64, times: u64) -> Result<()> {
        let resident = self.resident_bytes();
        let is_spent = resident.saturating_mul(times) > bytes_max;
        if times == 1 {
            self.is_spent.store(is_spent, Ordering::Relaxed);
        }
        if !is_spent {
            return Ok(());
        }
        let needed = if times == 1 { "" } else { " and this needs as much again" };
        Err(Error::new(
            ErrorKind::TooLarge,
            format!(
                "memory: expected at most {}, the process holds {}{needed}; reads go on, to write reopen with a \
                 larger budget",
                size(bytes_max),
                size(resident)
            ),
        ))
    }

    /// Units: bytes; 0 where the system does not tell.
    fn resident_bytes(&self) -> u64 {
        let mut buffer = [0; 128];
        let read = self.statistics.as_ref().and_then(|file| file.read_at(&mut buffer, 0).ok());
        let text = read.and_then(|read| std::str::from_utf8(&buffer[..read]).ok()).unwrap_or_default();
        // Shape: pages in all, resident pages, and more.
        let pages: Option<u64> = text.split_whitespace().nth(1).and_then(|pages| pages.parse().ok());
        pages.unwrap_or(0) * PAGE_BYTES
    }

    /// True while the last look found more than the budget.
    pub(crate) fn is_spent(&self) -> bool {
        self.is_spent.load(Ordering::Relaxed)
    }

    pub(crate) fn has_failed(&self) -> bool {
        self.has_failed.load(Ordering::Relaxed)
    }

    /// Refuses writes from now on: long values would pile up in memory. The first reason stays.
    pub(crate) fn fail(&self, error: &Error) {
        let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        failure.get_or_insert_with(|| error.duplicate());
        self.has_failed.store(true, Ordering::Relaxed);
    }
}

/// A number of bytes as people say it.
fn size(bytes: u64) -> String {
    let mebibytes = bytes as f64 / f64::from(1 << 20);
    if mebibytes < 1_024.0 {
        format!("{mebibytes:.1} MiB")
    } else {
        format!("{:.2} GiB", mebibytes / 1_024.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_budget_everything_is_admitted() {
        let memory = Memory::new(None);
        assert_eq!(memory.share(7 << 30), 7 << 30);
        assert!(memory.check().is_ok() && memory.admit(usize::MAX / 2).is_ok());
        assert!(memory.admit_second_graph().is_ok());
    }

    #[test]
    fn a_spent_budget_refuses_and_says_how_much_there_is() {
        let memory = Memory::new(Some(1));
        assert_eq!(memory.check().unwrap_err().kind(), ErrorKind::InvalidArgument);
        let error = memory.admit(0).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NoRoom);
        assert!(error.text().contains("MiB"), "{error}");
        assert!(memory.admit(0).is_err(), "looked at again");
        assert_eq!(memory.admit_committed(0).unwrap_err().kind(), ErrorKind::TooLarge);
    }

    #[test]
    fn a_budget_with_room_admits_and_is_shared_out() {
        let memory = Memory::new(Some(1 << 40));
        assert!(memory.resident_bytes() > 1 << 20);
        assert!((0..100).all(|_| memory.admit(1 << 20).is_ok()));
        assert_eq!(Memory::new(Some(512 << 20)).share(128 << 20), 32 << 20);
    }
}
