//! The seam below everything durable: the few operations that logs, checkpoints, copies and spill files need from a
//! disk.
//!
//! [`RealDisk`] is the disk of the operating system. Tests replace it by the simulated disk, which loses its power, has
//! no room, or fails at any operation.

// Input from outside may hold any bytes: so no cast cuts a number, and no index panics.
#![cfg_attr(not(test), deny(clippy::as_conversions, clippy::indexing_slicing))]

mod disk;
mod folder_syncs;
mod lock_note;
mod memory_store;
pub mod private_files;
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
pub use memory_store::MemoryStore;
pub use real_disk::RealDisk;
pub use store::{DiskStore, Store, StoreReader};

pub(crate) use disk::widen;
pub(crate) use real_disk::UNNAMED_SUFFIX;

pub(crate) use whole_file::{UNFINISHED_SUFFIX, put_whole};
