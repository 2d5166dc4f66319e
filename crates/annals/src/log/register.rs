//! Two small values beside a log that change by compare-and-swap: who writes, and what is kept up beside the log.

use crate::model::Instant;
use crate::{Error, ErrorKind, Result};

/// A value of a [`Register`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Slot {
    /// The term of the writer, and what it keeps up beside the log. Changes seldom.
    Upkeep,
    /// The writer's sign of life: its address, its position. Changes every second.
    Lease,
}

/// Two values of at most [`REGISTER_BYTES_MAX`] bytes each, in the same storage as the log.
///
/// No value is ever stored twice, so a swap compares values and needs no versions. Every register passes the suite in
/// [`register_conformance`](super::register_conformance).
pub trait Register: Send + Sync {
    /// The value of `slot`; `None` if it was never set.
    ///
    /// Errors: `Unavailable` if the storage does not answer.
    fn get(&self, slot: Slot) -> Result<Option<Vec<u8>>>;

    /// Replaces the value of `slot` by `value` if it is `expected`, durably. True if it did.
    ///
    /// Errors: `Unavailable` if the storage did not answer: then the swap may have happened, or happen later. A later
    /// [`get`](Register::get) of `value` proves that it happened. `TooLarge`.
    fn swap(&self, slot: Slot, expected: Option<&[u8]>, value: &[u8]) -> Result<bool>;

    /// The time of the storage's clock.
    ///
    /// Errors: `Unavailable` if the storage does not answer.
    fn now(&self) -> Result<Instant>;
}

/// Units: bytes of a value of a [`Register`]. A larger one is refused with `TooLarge`, by every register.
pub const REGISTER_BYTES_MAX: usize = 256 * 1024;

/// Refuses a value that no register stores. Every register calls this first.
///
/// Errors: `TooLarge`.
pub fn check_swap(value: &[u8]) -> Result<()> {
    if value.len() <= REGISTER_BYTES_MAX {
        return Ok(());
    }
    let found = value.len();
    let text = format!("register: expected at most {REGISTER_BYTES_MAX} bytes in a value, found {found}");
    Err(Error::new(ErrorKind::TooLarge, text))
}
