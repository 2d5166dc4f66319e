//! The endpoints: reads, writes and their conditions.

mod conditions;
mod other_logs;
mod unchanged;
mod mistakes;
mod contents;
mod trees;
mod candidates;
mod operational;
mod large_containers;
mod log;
mod purges;
pub mod importing;
mod repeats;
mod rows;
