//! The settings of a log that no place has.

use std::time::Duration;

/// The settings with which a program opens a log; those of the log itself are in its place.
#[derive(Clone, Debug)]
pub struct Options {
    /// Open for reading only: nothing is written, and the log must exist.
    pub is_read_only: bool,
    /// How long a call waits for the store. A call with many bytes gets a second more for each 16 MiB.
    pub deadline: Duration,
}

impl Default for Options {
    /// For writing, with four seconds for a call.
    fn default() -> Options {
        Options { is_read_only: false, deadline: Duration::from_secs(4) }
    }
}
