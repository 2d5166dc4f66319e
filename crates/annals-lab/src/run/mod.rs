//! A run: which lines, how large, how often, and what came out.

mod size;
mod catalogue;
mod sample;
mod threads;
mod cores;
mod job;
mod summary;
mod report;
mod limits;
mod growth;
mod child;
mod folder;
mod huge_pages;
mod machine;

pub use catalogue::{MEMORY, SAME_WORK};
pub use child::Child;
pub use cores::Cores;
pub use folder::make_folder;
pub use huge_pages::{move_onto_huge_pages, move_onto_huge_pages_behind};
pub use job::Job;
pub use limits::Limits;
pub use machine::resident_bytes;
pub use sample::{Latencies, Sample, Timed, agree, in_turn, per_second};
pub use threads::together;
