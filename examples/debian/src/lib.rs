//! Releases of Debian as a graph with a past: an example of an importer of one's own, on the loader of `annals-exchange`.
#![forbid(unsafe_code)]
#![deny(missing_docs)]

// In the order a newcomer should read them.
pub mod packages;
mod survey;
mod plan;
mod release;
#[cfg(any(test, feature = "fuzz"))]
pub mod fuzz;

pub use plan::{Candidate, Step, check_dates, plan};
pub use release::load_debian;
pub use survey::{Content, Names, Survey};
