//! The settings of a log that no place has.

use std::time::Duration;

/// The settings with which a program opens a log; those of the log itself are in its place.
#[derive(Clone, Debug)]
pub struct Options {
    /// Open for reading only: nothing is written, and the log must exist.
    pub is_read_only: bool,
    /// How long a call waits for the store. A call with many bytes gets a second more for each 16 MiB.
    pub deadline: Duration,
    /// Most bytes that all readers and uploads of a store of objects hold together, of pieces beyond the one that each of them
    /// needs at once. Without room a reader asks for 64 KiB at a time, and an upload sends one part after the other.
    /// Units: bytes.
    pub ahead_bytes_max: u64,
}

/// Units: bytes.
const AHEAD_BYTES_MAX: u64 = 256 << 20;
/// The part of a memory budget that readers and uploads may hold.
const AHEAD_SHARE: u64 = 16;

impl Options {
    /// Under a memory budget, if there is one. Units: bytes.
    #[must_use]
    pub fn within(self, memory_bytes_max: Option<u64>) -> Options {
        let share = memory_bytes_max.map_or(u64::MAX, |bytes| bytes / AHEAD_SHARE);
        Options { ahead_bytes_max: self.ahead_bytes_max.min(share), ..self }
    }
}

impl Default for Options {
    /// For writing, with four seconds for a call, and 256 MiB ahead.
    fn default() -> Options {
        Options { is_read_only: false, deadline: Duration::from_secs(4), ahead_bytes_max: AHEAD_BYTES_MAX }
    }
}
