//! The suite `datastore`: every row of a published benchmark of a configuration datastore, on several targets.

// In the order a newcomer should read them.
mod content;
mod target;
mod row;
mod check;
mod measure;
mod subscribers;
mod embedded;
mod http;
mod file;
mod stores;
mod suite;

pub use suite::SUITE;
