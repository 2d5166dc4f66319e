//! The log in S3.

mod stored;
mod merging;
mod rewriting;
mod answers;
mod outages;
mod openings;
mod engine;
mod bars;
