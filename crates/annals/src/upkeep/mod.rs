//! The upkeep of a store that all repositories of a log with a register share, by the one that writes: the checkpoints in
//! force, and the objects that leave the store.

#![cfg_attr(not(test), deny(clippy::as_conversions, clippy::indexing_slicing))]

mod content_name;
mod parts;
mod value;
mod leaving;
mod shared_upkeep;

pub(crate) use content_name::ContentName;
pub(crate) use parts::{FORMAT, end, open, read_instant, read_token};
pub(crate) use shared_upkeep::SharedUpkeep;
pub(crate) use value::{Replaced, Upkeep};
