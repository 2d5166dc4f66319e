//! Reads of readers with grants.

mod sights;
mod kept_sights;
mod shown_changes;
mod shown_trees;
mod ways;
