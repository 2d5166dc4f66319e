//! Annals: a graph repository on one append-only log.
#![forbid(unsafe_code)]
#![allow(dead_code)]

// In the order a newcomer should read them.
mod error;
mod position;
mod model;
mod record;
pub mod log;
mod graph;
mod read;
mod write;
mod recover;
mod follow;
mod checkpoint;
mod folder;
mod options;
mod repository;
mod check;
mod backup;
mod compact;

pub use backup::{BackupReport, restore, verify};
pub use check::CheckReport;
pub use compact::CompactReport;
pub use error::{Error, ErrorKind, Result};
pub use follow::Follow;
pub use model::*;
pub use options::{Options, ReplayProgress};
pub use position::Position;
pub use read::*;
pub use repository::Repository;
pub use write::*;
