//! The seam below everything durable: the few things that logs, checkpoints, copies and spill files ask of a disk.
//!
//! [`RealDisk`] is the disk of the operating system. The simulated disk of the tests stands in its place and loses its
//! power, has no room, or fails at any operation.

// Bytes from outside may be anything: no number is cut short and no index panics.
#![deny(clippy::as_conversions, clippy::indexing_slicing)]

mod disk;
mod real_disk;
#[doc(hidden)]
#[allow(
    clippy::as_conversions,
    clippy::indexing_slicing,
    reason = "only tests use it, and a panic fails them"
)]
pub mod simulated_disk;
pub mod conformance;
mod store;
mod stream;
mod whole_file;

pub use disk::{Access, Disk, DiskFile, DiskLock};
pub use real_disk::RealDisk;
pub use store::{DiskStore, Store, StoreReader};

pub(crate) use disk::widen;
pub(crate) use real_disk::UNNAMED_SUFFIX;

pub(crate) use whole_file::{UNFINISHED_SUFFIX, put_whole};
