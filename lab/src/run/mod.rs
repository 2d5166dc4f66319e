//! A run: the lines, the size, the rounds, and the results.

mod size;
mod catalogue;
mod sample;
mod threads;
mod cores;
mod job;
mod summary;
mod measured;
mod machine;
pub mod page;
pub mod table;
mod report;
mod limits;
mod growth;
mod child;
mod folder;
mod server;
mod client;
mod raw_file;

pub use catalogue::{Growth, LINES, Line, MEMORY, Mark, SAME_WORK};
pub use child::Child;
pub use client::{Chunks, Client, Place, Request, read_head};
pub use cores::Cores;
pub use folder::make_folder;
pub use job::Job;
pub use limits::Limits;
pub use machine::{Machine, TICKS_PER_SECOND, own_seconds, resident_bytes, resident_bytes_max};
pub use page::command_line;
pub use raw_file::RawFile;
pub use report::figure;
pub use sample::{Sample, Timed, WRONG_ANSWER, agree, in_turn, per_second};
pub use server::{Load, Server, free_address, new_token};
pub use size::Size;
pub use summary::{bootstrap, median, quantile};
pub use threads::{start_together, together};
