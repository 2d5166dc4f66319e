//! A graph repository on one append-only log: entities, relationships and classifications with their complete history.
//!
//! A [`Repository`] is a log and the graph of its records. Every commit appends one record to the log, and every change makes
//! a new version of an instance, so the past stays: any read takes a time. Reading goes to a [`Snapshot`], the graph at one
//! position, which never changes and never waits.
//!
//! ```
//! use annals::{AsOf, Direction, Find, NewEntity, NewRelationship, Operator, Patch, Repository};
//!
//! # fn main() -> annals::Result<()> {
//! # let folder = tempfile::tempdir().unwrap();
//! # let path = folder.path().join("library");
//! let repository = Repository::open(path)?;
//!
//! // Write: when `transact` returns, all of it is durable; after an error, nothing is stored.
//! let (book, first) = repository.transact(|t| {
//!     t.author("ada").message("first entry");
//!     let author = t.create_entity(NewEntity::new("person").property("name", "Mary Shelley"))?;
//!     let book = t.create_entity(NewEntity::new("book").property("title", "Frankenstein").property("year", 1819))?;
//!     t.create_relationship(NewRelationship::new("wrote", author, book.clone()))?;
//!     Ok(book)
//! })?;
//!
//! // Read: look up, search, walk.
//! let snapshot = repository.snapshot();
//! assert_eq!(snapshot.entity(&book)?.unwrap().property("title").unwrap().as_str(), Some("Frankenstein"));
//! let old = Find::of("book").matching("year", Operator::Less, 1900).order_by("year");
//! assert_eq!(snapshot.find_entities(&old)?.items.len(), 1);
//! for neighbor in snapshot.neighbors(&book, Direction::In, Some("wrote"))? {
//!     assert_eq!(neighbor?.entity.type_name(), "person");
//! }
//!
//! // Change: a new version. The old one can be read, listed and compared.
//! let id = snapshot.entity(&book)?.unwrap().instance_id();
//! repository.transact(|t| t.update(&id, Patch::new().set("year", 1818)))?;
//! let snapshot = repository.snapshot();
//! let before = snapshot.as_of(AsOf { position: Some(first.position), ..AsOf::default() })?;
//! assert_eq!(before.entity(&book)?.unwrap().property("year").unwrap().as_integer(), Some(1819));
//! assert_eq!(snapshot.versions(&id, 0, 10)?.len(), 2);
//! assert_eq!(snapshot.difference(&id, 1, 2)?.properties[0].name.as_ref(), "year");
//! # Ok(())
//! # }
//! ```
//!
//! # Where to find things
//!
//! | you want to | look at |
//! |---|---|
//! | open a repository in a folder, in memory, or on a log of your own | [`Repository::open`], [`Repository::in_memory`], [`Repository::with_log`]; settings: [`Options`] |
//! | hold more than fits memory | [`Options::memory_bytes_max`], [`parse_size`] |
//! | write | [`Repository::transact`], [`Transaction`]; contents: [`NewEntity`], [`NewRelationship`], [`ClassificationContent`], [`Patch`] |
//! | write from many threads, or without waiting | [`Transaction::submit`], [`Transaction::try_submit`], [`Ticket`] |
//! | look up one instance | [`Snapshot::entity`], [`Snapshot::relationship`], [`Entity`], [`Relationship`] |
//! | search, in order, page by page | [`Find`], [`Snapshot::find_entities`], [`Snapshot::find_relationships`] |
//! | list neighbours | [`Snapshot::neighbors`], [`Snapshot::degree`], [`Snapshot::relationships_of`] |
//! | walk | [`Snapshot::neighborhood`], [`Snapshot::walk`], [`Snapshot::reachable`], [`Snapshot::related`], [`Reach`] |
//! | find paths between two entities | [`Snapshot::shortest_path`], [`Snapshot::shortest_paths`], [`Snapshot::linking`], [`Snapshot::shared`] |
//! | store binaries | [`Repository::contents`], [`Contents::put`], [`Contents::open`], [`Contents::digests`]; re-read them: [`Repository::fixity`] |
//! | cancel a long read | [`Cancel`], [`Snapshot::cancelled_by`] |
//! | read as of a time | [`Snapshot::as_of`], [`AsOf`] |
//! | see changes | [`Snapshot::versions`], [`Snapshot::history`], [`Snapshot::difference`], [`Snapshot::changes_between`], [`Repository::follow`], [`Repository::subscribe`] |
//! | see changes with author, time and values | [`Snapshot::log`], [`LogQuery`] |
//! | write into the past | [`Transaction::valid_from`] |
//! | delete, restore, undo, delete permanently | [`Transaction::delete`], [`Transaction::restore`], [`Transaction::undo`], [`Transaction::purge`], [`Repository::compact`] |
//! | declare types | [`TypeDefinition`], [`Transaction::define_type`] |
//! | try without committing | [`Transaction::dry_run`] |
//! | edit for days, then commit, or undo a commit | [`Repository::candidates`], [`Transaction::take_back`] |
//! | read beside another process that writes | [`Options::read_only`], [`Repository::wait_for`], [`Repository::refresh`] |
//! | check, back up, restore | [`Repository::check`], [`verify`], [`Repository::backup`], [`restore`] |
//! | bring your own storage | [`log::Log`], [`log::conformance`]; for checkpoints [`storage::Store`], [`Repository::with_log_and_store`] |
//! | act on an error | [`ErrorKind`], [`ErrorKind::is_retryable`] |
//!
//! # Guarantees
//!
//! An acknowledged commit is durable: file and folder are synced. Readers see durable commits only, and each commit
//! completely. Readers never wait for writers, nor writers for readers. Every relationship has both ends, as of any
//! time. Every list, queue and wait has a bound; beyond it the call returns an error and never hangs. The crate opens
//! no sockets, starts no async runtime and prints nothing.
//!
//! A [`Value`] is cheap to clone, and so are [`Repository`], [`Snapshot`] and [`Ticket`]. All may be used from any thread.
#![forbid(unsafe_code)]
#![deny(missing_docs)]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::cast_possible_wrap))]
#![cfg_attr(not(test), deny(clippy::cast_possible_truncation, clippy::cast_sign_loss))]

// In the order a newcomer should read them.
mod error;
mod position;
mod cancel;
mod idempotency_key;
mod protection;
mod structures;
mod model;
mod record;
pub mod storage;
pub mod log;
mod memory;
mod sync;
mod contents;
mod graph;
mod search;
mod tree;
mod read;
mod write;
mod options;
mod observer;
mod size;
mod feed;
mod maintenance;
mod repository;
mod standby;
mod settled_instant;
mod operational;

pub use crate::contents::{Contents, Hashing, NewContent, StoredContent};
pub use crate::feed::follow::Follow;
pub use crate::feed::subscription::{Event, RECORDS_BEHIND_MAX, Subscription};
pub use crate::maintenance::backup::{
    BackupReport, restore, restore_into, restore_on, restore_with, verify, verify_log, verify_on, verify_with,
};
pub use crate::maintenance::check::CheckReport;
pub use crate::maintenance::compact::CompactReport;
pub use crate::maintenance::contents::{DamagedContent, FixityReport};
pub use crate::maintenance::sent_backup::{BackupPart, ReceivedBackup};
pub use cancel::Cancel;
pub use error::{Error, ErrorKind, Result};
pub use graph::actions as action;
pub use idempotency_key::IdempotencyKey;
pub use memory::ReservedMemory;
pub use model::*;
pub use observer::Observer;
pub use operational::*;
#[doc(hidden)]
pub use options::WallClock;
pub use options::{Options, ReplayProgress};
pub use position::Position;
pub use read::*;
pub use repository::Repository;
pub use search::*;
pub use size::parse_size;
pub use tree::*;
pub use write::*;

/// The examples in the documents are tests.
#[cfg(doctest)]
mod documents {
    #[doc = include_str!("../../../docs/semantics.md")]
    struct Semantics;
    #[doc = include_str!("../../../README.md")]
    struct Readme;
}
