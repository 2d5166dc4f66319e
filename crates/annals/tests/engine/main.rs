//! The tests of the engine, in one program: what they share is compiled once, and they fill all cores together. Tests that
//! measure the memory of their process are programs of their own, and so are those that read the sources.

#[path = "../support/mod.rs"]
mod support;

mod smoke;

// A room for each room of the sources.
mod log;
mod record;
mod graph;
mod read;
mod sight;
mod build;
mod commit;
mod limited;
mod tree;
mod undo;
mod candidate;
mod maintenance;

// Rooms of the sources with one file of tests.
mod contents;
mod content_puts;
mod operational;

// Whole repositories. `.config/nextest.toml` and CONTRIBUTING.md name these files.
mod history;
mod log_crash;
mod other_logs;
mod repository_crash;

// Random histories beside a plain model.
mod model;
