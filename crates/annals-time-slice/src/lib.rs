//! Asks the scheduler for short turns that come soon.
//!
//! Linux gives every thread the same part of the processor, in turns of some milliseconds, and lets whoever has been promised his turn
//! soonest go first. A thread that works for microseconds and then waits, for a disk or for work, gains nothing from a long turn,
//! and has to wait for it behind all threads that became ready before. With a short one it goes before them, and has no more of the processor
//! than before. No privilege is needed.
//!
//! Linux, from 6.12 on; earlier ones take the request and do nothing, elsewhere the answer is
//! [`Unsupported`](std::io::ErrorKind::Unsupported).
#![deny(missing_docs)]

use std::io::Result;
use std::time::Duration;

#[cfg(target_os = "linux")]
mod attributes;

/// Asks for turns of this length, 0.1 to 100 ms, for the calling thread and those that it starts. Its policy and its niceness stay
/// as they are.
///
/// Errors: those of the system; `Unsupported` for a thread that is not scheduled as threads are by default, and elsewhere than on Linux.
pub fn request(length: Duration) -> Result<()> {
    set(Some(length))
}

/// Takes that back. Errors: as [`request`].
pub fn reset() -> Result<()> {
    set(None)
}

fn set(length: Option<Duration>) -> Result<()> {
    #[cfg(target_os = "linux")]
    return attributes::set(length);
    #[cfg(not(target_os = "linux"))]
    {
        let _ = length;
        Err(unsupported("expected Linux"))
    }
}

fn unsupported(why: &str) -> std::io::Error {
    std::io::Error::new(std::io::ErrorKind::Unsupported, format!("time slice: {why}"))
}
