//! The tests of the engine, in one program: what they share is compiled once, and they fill all cores together. Tests that
//! measure the memory of their process are programs of their own, and so are those that read the sources.

#[path = "../support/mod.rs"]
mod support;

// The log alone.
mod log_conformance;
mod log_recovery;
mod log_crash;
mod log_maintenance;
mod log_reader;
mod log_speed;
mod stores;
mod leaders;

// The operations of a repository.
mod smoke;
mod types;
mod type_model;
mod constraints;
mod validation;
mod unchanged;
mod lifecycle;
mod lifecycle_races;
mod containment;
mod containment_model;
mod contents;
mod tree;
mod tree_history;
mod valid_time_trees;
mod tree_speed;
mod members_speed;
mod many;
mod undo;
mod history;
mod limited;
mod limited_trees;
mod limited_reverts;
mod limited_contents;
mod logged;
mod operational;
mod clock;
mod limits;
mod iris;

// Searches and walks.
mod candidates;
mod searches;
mod sights;
mod kept_sights;
mod shown_changes;
mod shown_trees;
mod graph_queries;
mod graph_proxies;
mod graph_speed;

// Writers, readers and threads.
mod isolation;
mod own_changes;
mod writers;
mod tickets;
mod retry;
mod subscriptions;
mod take_back;
mod taken_places;
mod taken_back_at_once;

// Durability, maintenance and crashes.
mod durability;
mod maintenance;
mod other_logs;
mod compaction;
mod golden_records;
mod fuzz_decoder;
mod repository_crash;

// Random histories beside a plain model.
mod model;
