//! Annals: a graph repository on one append-only log.
#![forbid(unsafe_code)]
#![allow(dead_code)]

// In the order a newcomer should read them.
#[rustfmt::skip]
mod error;
mod graph;
pub mod log;
mod model;
mod position;
mod read;
mod record;

pub use error::{Error, ErrorKind, Result};
pub use model::*;
pub use position::Position;
pub use read::*;
