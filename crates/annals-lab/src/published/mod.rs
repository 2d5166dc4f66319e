//! The performance pages of five other projects, as data, and their rendering.

// In the order a newcomer should read them.
mod page;
mod samples;
mod interval;
#[cfg(test)]
mod tests;

pub use page::{Cell, Table, page};
