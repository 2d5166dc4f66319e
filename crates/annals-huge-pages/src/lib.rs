//! Puts the memory that a process keeps on huge pages, behind what it does.
//!
//! A processor keeps the addresses of a few thousand pages at hand. Of a graph of gigabytes on pages of 4 KiB it finds hardly
//! any of them there, and each read of memory waits for the address first, and then for the memory. Pages of 2 MiB are so few
//! that it does not. Asking the system for them in advance makes whoever writes first into one wait until all of it is
//! cleared, and whoever commits writes into new memory all the time. So memory is left as it is until it is full and has been for a
//! while; then it is moved onto huge pages.
//!
//! `annals serve --huge-pages` starts it. The engine has no `unsafe` code and does not choose where its memory comes from; a call of
//! [`collapse_behind`] serves everything in the process, whatever its allocator is.
//!
//! Linux, from 6.1 on; elsewhere everything answers [`Unsupported`](std::io::ErrorKind::Unsupported).
//!
//! ```
//! # fn main() -> std::io::Result<()> {
//! match annals_huge_pages::collapse_behind() {
//!     // The system has none: reads wait as long as they did.
//!     Err(error) if error.kind() == std::io::ErrorKind::Unsupported => Ok(()),
//!     other => other,
//! }
//! # }
//! ```
#![deny(missing_docs)]

#[cfg(target_os = "linux")]
mod advice;
#[cfg(target_os = "linux")]
mod behind;
#[cfg(target_os = "linux")]
mod regions;
#[cfg(all(test, target_os = "linux"))]
mod tests;
mod unsupported;

use std::io::Result;

#[cfg(not(target_os = "linux"))]
use unsupported::unsupported;

/// Starts a thread that looks at the memory of the process every ten seconds, and moves what has been resident for two looks
/// onto huge pages, 2 MiB at a time. It rests 99 times as long as it works. While 2 MiB are moved, whoever touches them waits, and so does
/// whoever asks the system for new memory: for as long as copying takes, and many times longer in a virtual machine whose host has to
/// find the memory. A second call changes nothing.
///
/// A huge page takes the place of memory of which three quarters or more are resident, so at most a third more; in a process that mostly
/// holds a graph, far less.
///
/// Errors: [`Unsupported`](std::io::ErrorKind::Unsupported) if the system has no huge pages of 2 MiB, none for this process, cannot move to
/// them, or does not tell what is resident; those of starting a thread.
pub fn collapse_behind() -> Result<()> {
    #[cfg(target_os = "linux")]
    return behind::start();
    #[cfg(not(target_os = "linux"))]
    Err(unsupported("expected Linux"))
}
