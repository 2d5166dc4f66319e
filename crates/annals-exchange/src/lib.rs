//! Import and export: foreign formats into changes of the graph, and the graph into files. This crate does not know the
//! inside of the engine, nor its listener: a terminal, or a server that answers.
#![forbid(unsafe_code)]
#![deny(missing_docs)]

// In the order a newcomer should read them.
mod progress;
pub mod text;
pub mod user;
pub mod import;
pub mod export;

pub use progress::{Outcome, Progress, RefusedLine, RepeatedReason, Stop};
