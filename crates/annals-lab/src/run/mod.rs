//! A run: which lines, how large, how often, and what came out.

mod size;
mod catalogue;
mod sample;
mod threads;
mod cores;
mod job;
mod summary;
mod measured;
mod report;
mod limits;
mod growth;
mod child;
mod folder;
mod server;
mod raw_file;
mod machine;

pub use catalogue::{MEMORY, SAME_WORK};
pub use cores::Cores;
pub use folder::make_folder;
pub use job::{Job, write_sample};
pub use limits::Limits;
pub use machine::resident_bytes;
pub use raw_file::RawFile;
pub use sample::{Latencies, Sample, Timed, agree, in_turn, per_second};
pub use server::{Load, Server, request};
pub use threads::together;
