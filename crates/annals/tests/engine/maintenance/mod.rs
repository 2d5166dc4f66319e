//! Checkpoints, backups, compaction, and what is durable.

mod folder;
mod durability;
mod compaction;
mod purges;
mod stopping;
mod closing;
