//! Annals: a graph repository on one append-only log.
#![forbid(unsafe_code)]

mod error;
pub mod log;
mod position;

pub use error::{Error, ErrorKind, Result};
pub use position::Position;
