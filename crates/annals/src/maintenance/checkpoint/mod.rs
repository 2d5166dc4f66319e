//! Checkpoints: the whole graph at one position in a file. A checkpoint is only a cache: the log is enough to open, and
//! a damaged checkpoint, or one of another version, is ignored with a warning.

#![cfg_attr(not(test), deny(clippy::as_conversions, clippy::indexing_slicing))]

mod block;
mod file;
mod shared_checkpoints;
mod headers;
mod load;
mod load_deletions;
mod load_keys;
mod load_past;
mod load_rows;
mod load_table;
mod save;
mod stoppable;
mod table_basis;
mod keeper;
mod write;

pub(crate) use file::Checkpoints;
pub(crate) use keeper::{Checkpointed, start};
