//! The memory budget: its shares, and whether it is spent.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::{Error, ErrorKind, Result};

/// Smallest budget: a smaller one cannot be divided. Units: bytes.
pub(crate) const BUDGET_BYTES_MIN: u64 = 16 << 20;
/// Records read for history, and waiting transactions, may each take this share of the budget: one sixteenth.
const SHARE: u64 = 16;
/// Share of the budget that is read, decoded or written before the next check of the resident set: 1/1,024, because in
/// memory it may take ten times as much.
const STEP_SHARE: u64 = 1_024;
/// The resident set is checked after this much, or a step of the budget, was charged since the last check. Units:
/// bytes.
const LOOK_BYTES_MAX: usize = 4 << 20;
/// Fixed part of the size of a change: row, id, entry in the map of ids, keys. Units: bytes.
const CHANGE_BYTES: u64 = 256;
/// Memory for an instance that a change takes along: its version before and after, its keys, its past. Units: bytes.
const ALONG_BYTES: u64 = 1_280;
/// Fixed part of the size of a transaction. Units: bytes.
const TRANSACTION_BYTES: u64 = 1_024;
/// Size of a new name of a type or property, which has its own indexes.
/// Units: bytes.
/// Source: 400 in `tests/name_memory.rs`.
const NEW_NAME_BYTES: u64 = 512;
/// Size of a known name: a leaf of each of its indexes is copied.
/// Units: bytes.
const KNOWN_NAME_BYTES: u64 = 2_048;
/// Bytes read from a log or a checkpoint may take this many times as much in memory.
const STORED_FACTOR: u64 = 4;
/// If there is too much at opening, it checks this many times more, because allocators return memory late.
const LOOKS_AGAIN: u32 = 20;
/// The pause between two of these checks.
const LOOK_AGAIN_PAUSE: Duration = Duration::from_millis(25);
/// Units: bytes. The system counts pages of this size on every machine that Annals is built for.
const PAGE_BYTES: u64 = 4_096;

/// The memory budget of one repository, shared by all its parts.
pub(crate) struct Memory {
    /// Units: bytes of the resident set; `None` for no bound.
    bytes_max: Option<u64>,
    /// The statistics of the system on this process; `None` if the system has none.
    statistics: Option<File>,
    /// Bytes charged since the last check.
    unlooked: AtomicU64,
    /// Expected memory of writes in progress, which the resident set may not include yet. Units: bytes.
    expected: AtomicU64,
    /// True if the last check found more than the budget.
    is_spent: AtomicBool,
    has_failed: AtomicBool,
    /// Why long values can no longer be written to disk.
    failure: Mutex<Option<Error>>,
}

/// The parts of a transaction that take memory.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Need {
    /// Length of its record. Units: bytes.
    pub(crate) bytes: usize,
    pub(crate) changes: usize,
    /// Instances that its changes take along: the content of containers, and relationships.
    pub(crate) along: usize,
    /// Names of types and properties that are new to the graph.
    pub(crate) new_names: usize,
    /// Names that the graph has, if there are many.
    pub(crate) known_names: usize,
}

/// A transaction with more names than this changes as many indexes. Each of them is copied while readers hold the
/// version before, so known names count then, too.
pub(crate) const NAMES_FEW: usize = 1_000;

impl Need {
    /// Expected memory. Units: bytes.
    fn expected_bytes(self) -> u64 {
        self.bytes as u64
            + TRANSACTION_BYTES
            + CHANGE_BYTES * self.changes as u64
            + ALONG_BYTES * self.along as u64
            + NEW_NAME_BYTES * self.new_names as u64
            + KNOWN_NAME_BYTES * self.known_names as u64
    }
}

/// The kind of data that is opened, for the text of a refusal.
#[derive(Clone, Copy, Debug)]
pub(crate) enum StoredData {
    /// Records of the log: those in memory, and all of them.
    Records { done: u64, all: u64 },
    /// A checkpoint of this size, without long values.
    Checkpoint { bytes: u64 },
}

/// Most memory that a checkpoint takes, in hundredths of its bytes without long values stored apart. A checkpoint
/// written without a budget has long values in its rows, and takes less.
/// Source: 220 to 240 measured with values of 60 bytes, with relationships and without.
const CHECKPOINT_PERCENT: u64 = 250;

impl StoredData {
    /// Upper estimate of the memory needed in all, if the process holds `resident` now. Units: bytes.
    fn needed_bytes(self, resident: u64) -> u64 {
        let needed = match self {
            StoredData::Records { done, all } => {
                u128::from(resident) * u128::from(all) / u128::from(done.max(1))
            }
            StoredData::Checkpoint { bytes } => u128::from(bytes) * u128::from(CHECKPOINT_PERCENT) / 100,
        };
        u64::try_from(needed).unwrap_or(u64::MAX).max(resident)
    }
}

/// The expected memory of a write in progress. It counts until this is dropped: after that the resident set includes
/// it.
#[derive(Default)]
pub(crate) struct Charge(Option<(Arc<Memory>, u64)>);

/// Memory that work outside of the engine will take, reserved in the memory budget until this is dropped. Made by
/// [`Repository::reserve_memory`](crate::Repository::reserve_memory).
pub struct ReservedMemory(#[expect(dead_code, reason = "dropping it ends the reservation")] Charge);

impl Drop for Charge {
    fn drop(&mut self) {
        if let Some((memory, bytes)) = &self.0 {
            memory.expected.fetch_sub(*bytes, Ordering::Relaxed);
        }
    }
}

impl Memory {
    pub(crate) fn new(bytes_max: Option<u64>) -> Memory {
        Memory {
            bytes_max,
            statistics: File::open("/proc/self/statm").ok(),
            // The first charge is checked.
            unlooked: AtomicU64::new(LOOK_BYTES_MAX as u64),
            expected: AtomicU64::new(0),
            is_spent: AtomicBool::new(false),
            has_failed: AtomicBool::new(false),
            failure: Mutex::default(),
        }
    }

    /// Refuses a budget that is too small for anything.
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

    /// True if there is a budget.
    pub(crate) fn is_bounded(&self) -> bool {
        self.bytes_max.is_some()
    }

    /// The share of a part with its own bound: `bytes`, or less if the budget is small.
    pub(crate) fn share(&self, bytes: usize) -> usize {
        self.part(bytes, SHARE)
    }

    /// How much to read or write between two checks of the resident set: `bytes`, or less if the budget is small.
    pub(crate) fn step(&self, bytes: usize) -> usize {
        self.part(bytes, STEP_SHARE)
    }

    fn part(&self, bytes: usize, parts: u64) -> usize {
        let part = self.bytes_max.map_or(u64::MAX, |bytes_max| bytes_max / parts);
        bytes.min(usize::try_from(part).unwrap_or(usize::MAX))
    }

    /// Charges a write before any work for it; it counts until the charge is dropped. Checks the resident set at
    /// intervals, and at every write while the budget is spent.
    ///
    /// Errors: `NoRoom` if the process would hold more than the budget; `Io` after a spill file could not be written.
    pub(crate) fn charge(self: &Arc<Memory>, need: Need) -> Result<Charge> {
        if self.has_failed() {
            let failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
            return failure.as_ref().map_or(Ok(Charge::default()), |error| Err(error.duplicate()));
        }
        let Some(bytes_max) = self.bytes_max else { return Ok(Charge::default()) };
        let bytes = need.expected_bytes();
        let expected = self.expected.fetch_add(bytes, Ordering::Relaxed) + bytes;
        // From here on, a refusal drops the charge.
        let charge = Charge(Some((Arc::clone(self), bytes)));
        if !self.is_look_due(bytes) {
            return Ok(charge);
        }
        let resident = self.look(bytes_max);
        if resident.saturating_add(expected) <= bytes_max {
            return Ok(charge);
        }
        if bytes <= self.step(LOOK_BYTES_MAX) as u64 {
            // Even a smaller write would not fit.
            self.is_spent.store(true, Ordering::Relaxed);
        }
        let along = match need.along {
            0 => String::new(),
            along => format!(
                ", because this one takes {along} instances along (delete, restore or purge the content of the \
                 container in parts first)"
            ),
        };
        Err(Error::new(
            ErrorKind::NoRoom,
            format!(
                "memory: expected at most {}, the process holds {} and the writes under way need about {}{along}; reads \
                 go on, to write reopen with a larger budget",
                size(bytes_max),
                size(resident),
                size(expected)
            ),
        ))
    }

    /// As [`Memory::charge`], for memory that a door takes.
    pub(crate) fn reserve(self: &Arc<Memory>, bytes: usize) -> Result<ReservedMemory> {
        self.charge(Need { bytes, ..Need::default() }).map(ReservedMemory)
    }

    /// Charges bytes of the log, or of a checkpoint, before they are applied. The bound is a fifth above the budget,
    /// because a process must be able to open what another process has written under the same budget.
    ///
    /// Errors: `TooLarge`; `Io` as [`Memory::charge`].
    pub(crate) fn charge_stored(&self, bytes: usize, stored: StoredData) -> Result<()> {
        if self.has_failed() {
            let failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
            return failure.as_ref().map_or(Ok(()), |error| Err(error.duplicate()));
        }
        let Some(budget) = self.bytes_max else { return Ok(()) };
        if !self.is_look_due(bytes as u64) {
            return Ok(());
        }
        let bytes_max = budget.saturating_add(budget / 5);
        let has_room = |resident: u64| resident.saturating_add(STORED_FACTOR * bytes as u64) <= bytes_max;
        let mut resident = self.look(budget);
        for _ in 0..LOOKS_AGAIN {
            if has_room(resident) {
                return Ok(());
            }
            std::thread::sleep(LOOK_AGAIN_PAUSE);
            resident = self.look(budget);
        }
        if has_room(resident) {
            return Ok(());
        }
        Err(Error::new(
            ErrorKind::TooLarge,
            format!(
                "memory: expected at most {} (the budget of {} and a fifth), the process holds {} and opening needs up to about {} \
                 in all; open it with a larger budget",
                size(bytes_max),
                size(budget),
                size(resident),
                size(stored.needed_bytes(resident))
            ),
        ))
    }

    // Counts `bytes` as charged; true if the resident set must be checked first.
    fn is_look_due(&self, bytes: u64) -> bool {
        let unlooked = self.unlooked.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes);
        if unlooked < self.step(LOOK_BYTES_MAX) as u64 && !self.is_spent() {
            return false;
        }
        self.unlooked.store(0, Ordering::Relaxed);
        true
    }

    // Reads the resident set, and notes whether it is more than the budget.
    fn look(&self, bytes_max: u64) -> u64 {
        let resident = self.resident_bytes();
        self.is_spent.store(resident > bytes_max, Ordering::Relaxed);
        resident
    }

    /// Refuses work that needs the memory of a second graph if the budget has no room for one.
    ///
    /// Errors: `TooLarge`.
    pub(crate) fn check_second_graph(&self) -> Result<()> {
        let Some(bytes_max) = self.bytes_max else { return Ok(()) };
        let resident = self.resident_bytes();
        if resident.saturating_mul(2) <= bytes_max {
            return Ok(());
        }
        Err(Error::new(
            ErrorKind::TooLarge,
            format!(
                "memory: expected at most {}, the process holds {} and this needs as much again; reopen with a larger \
                 budget",
                size(bytes_max),
                size(resident)
            ),
        ))
    }

    /// Units: bytes; 0 if the system has no statistics.
    fn resident_bytes(&self) -> u64 {
        let mut buffer = [0; 128];
        let read = self.statistics.as_ref().and_then(|file| file.read_at(&mut buffer, 0).ok());
        let text = read.and_then(|read| std::str::from_utf8(&buffer[..read]).ok()).unwrap_or_default();
        // Shape: pages in all, resident pages, and more.
        let pages: Option<u64> = text.split_whitespace().nth(1).and_then(|pages| pages.parse().ok());
        pages.unwrap_or(0) * PAGE_BYTES
    }

    /// True if the last check found more than the budget.
    pub(crate) fn is_spent(&self) -> bool {
        self.is_spent.load(Ordering::Relaxed)
    }

    pub(crate) fn has_failed(&self) -> bool {
        self.has_failed.load(Ordering::Relaxed)
    }

    /// Refuses later writes: long values would accumulate in memory. The first reason stays.
    pub(crate) fn fail(&self, error: &Error) {
        let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        failure.get_or_insert_with(|| error.duplicate());
        self.has_failed.store(true, Ordering::Relaxed);
    }
}

/// A number of bytes in a readable unit.
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

    const NOTHING: Need = Need { bytes: 0, changes: 0, along: 0, new_names: 0, known_names: 0 };
    const STORED: StoredData = StoredData::Records { done: 30, all: 90 };

    fn budget(bytes_max: Option<u64>) -> Arc<Memory> {
        Arc::new(Memory::new(bytes_max))
    }

    fn refusal(memory: &Arc<Memory>, need: Need) -> Error {
        memory.charge(need).err().expect("there is no room")
    }

    #[test]
    fn without_a_budget_everything_has_room() {
        let memory = budget(None);
        assert_eq!((memory.share(7 << 30), memory.step(7 << 30)), (7 << 30, 7 << 30));
        assert!(memory.check().is_ok() && memory.charge(Need { bytes: usize::MAX / 2, ..NOTHING }).is_ok());
        assert!(memory.check_second_graph().is_ok() && memory.charge_stored(usize::MAX / 2, STORED).is_ok());
    }

    #[test]
    fn a_spent_budget_refuses_and_says_how_much_there_is() {
        let memory = budget(Some(1));
        assert_eq!(memory.check().unwrap_err().kind(), ErrorKind::InvalidArgument);
        let error = refusal(&memory, NOTHING);
        assert_eq!(error.kind(), ErrorKind::NoRoom);
        assert!(error.text().contains("MiB"), "{error}");
        assert!(memory.charge(NOTHING).is_err() && memory.is_spent(), "looked at again");
        let error = memory.charge_stored(0, STORED).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TooLarge);
        assert!(
            error.text().contains("opening needs up to about") && error.text().contains("larger budget"),
            "{error}"
        );
    }

    #[test]
    fn what_an_opening_needs_is_told_from_how_far_it_came() {
        assert_eq!(STORED.needed_bytes(100), 300);
        assert_eq!(StoredData::Records { done: 0, all: 1 }.needed_bytes(100), 100);
        assert_eq!(StoredData::Checkpoint { bytes: 1_000 }.needed_bytes(100), 2_500);
        assert_eq!(StoredData::Checkpoint { bytes: 0 }.needed_bytes(100), 100);
    }

    #[test]
    fn a_budget_with_room_is_charged_and_shared_out() {
        let memory = budget(Some(1 << 40));
        assert!(memory.resident_bytes() > 1 << 20);
        assert!((0..100).all(|_| memory.charge(Need { bytes: 1 << 20, ..NOTHING }).is_ok()));
        let memory = budget(Some(512 << 20));
        assert_eq!((memory.share(128 << 20), memory.step(4 << 20)), (32 << 20, 512 << 10));
    }

    #[test]
    fn what_writes_under_way_will_take_counts_until_they_are_done() {
        let memory = budget(Some(1 << 40));
        let half = Need { known_names: 300 << 20, ..NOTHING };
        let first = memory.charge(half).unwrap_or_else(|error| panic!("{error}"));
        let error = refusal(&memory, half);
        assert!(error.text().contains("1200.00 GiB"), "{error}");
        assert!(!memory.is_spent(), "a smaller one fits");
        assert!(memory.charge(Need { changes: 1_000, ..NOTHING }).is_ok());
        drop(first);
        assert!(memory.charge(half).is_ok());
        assert_eq!(memory.expected.load(Ordering::Relaxed), 0);
    }
}
