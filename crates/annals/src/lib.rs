//! Annals: a graph repository on one append-only log.
#![forbid(unsafe_code)]
#![allow(dead_code)]

mod error;
mod graph;
mod model;
mod position;
mod record;

pub use error::{Error, ErrorKind, Result};
pub use model::*;
pub use position::Position;
