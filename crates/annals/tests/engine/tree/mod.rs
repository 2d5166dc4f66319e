//! Changes of trees, and trees in time.

mod one_transaction;
mod tree_changes;
mod tree_history;
mod valid_time_trees;
