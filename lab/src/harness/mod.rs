//! The harness: runs a suite on any set of targets, each cell in a fresh process, and keeps what it measured.
//!
//! A *suite* has rows. A *target* is a system that a suite measures. A *part* of a suite measures some rows at some
//! volumes on one target; one repeat of one part on one target is a *cell*.

mod peer;
mod target;
mod suite;
mod record;
mod results;
pub mod kept;
mod plan;
mod cell;
mod process;
mod measuring;
mod run;
mod steady;
mod adapter;
mod syncs;
mod install;
mod list;
mod server;

pub use adapter::{Answered, System};
pub use cell::{Cell, CellArguments};
pub use install::{DATA, Install, PEERS};
pub use list::List;
pub use measuring::{Measuring, OUT_OF_MEMORY, bytes_in};
pub use peer::Peer;
pub use process::{TreeUsage, tree_usage};
pub use record::{
    Bar, Better, CellRecord, Figure, Form, Height, LoadRecord, LoadStep, Record, Row, Syncs, TargetName,
    TargetRecord,
};
pub use results::{Results, newest_runs};
pub use run::RunSuite;
pub use server::PeerServer;
pub use steady::steady_from;
pub use suite::{Part, Quote, Reason, Suite, whole};
pub use target::{Kind, Target};
