//! Moves the long-lived memory of a process onto huge pages, in the background.
//!
//! A processor caches the addresses of a few thousand pages. For a graph of gigabytes on pages of 4 KiB, the cache
//! holds hardly any of them, and each read of memory first waits for the address, and then for the memory. With pages
//! of 2 MiB the cache holds enough of them. Asking the system for huge pages in advance is no solution: the first write
//! to a page waits until all of it is cleared, and a committing thread writes into new memory all the time. So memory
//! stays on small pages until it is full and has stayed resident for a while; then it is moved onto huge pages.
//!
//! `annals serve --huge-pages` starts it. The engine has no `unsafe` code and does not choose its allocator; a call of
//! [`collapse_behind`] works for all memory of the process, with any allocator.
//!
//! It works on Linux from 6.1 on; elsewhere every call returns [`Unsupported`](std::io::ErrorKind::Unsupported).
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

/// Starts a thread that looks at the memory of the process every ten seconds, and moves regions that were resident at
/// two looks onto huge pages, 2 MiB at a time. The thread rests 99 times as long as it works. While it moves 2 MiB,
/// threads that touch this memory wait, and so do threads that ask the system for new memory. They wait as long as
/// copying takes; in a virtual machine whose host must find the memory, many times longer. A second call changes
/// nothing.
///
/// A huge page replaces memory of which at least three quarters are resident. So memory grows by at most a third; in a
/// process that mostly holds a graph, far less.
///
/// Errors: [`Unsupported`](std::io::ErrorKind::Unsupported) if the system has no huge pages of 2 MiB, none for this
/// process, cannot move memory onto them, or does not report resident pages; those of starting a thread.
pub fn collapse_behind() -> Result<()> {
    #[cfg(target_os = "linux")]
    return behind::start();
    #[cfg(not(target_os = "linux"))]
    Err(unsupported("expected Linux"))
}
