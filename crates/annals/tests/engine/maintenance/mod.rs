//! Checkpoints, backups, compaction, and what is durable.

mod folder;
mod late_answer;
mod moved_log;
mod durability;
mod compaction;
mod purges;
mod stopping;
mod closing;
