//! Helps the tests of the engine: random numbers, a checked repository, and a plain model to compare with.
#![allow(dead_code, unused_imports)]

pub mod random;
pub mod damage;
pub mod dump;
pub mod folders;
pub mod checked;
pub mod named;
pub mod access;
pub mod object_log;
pub mod trees;
pub mod typed;
pub mod copies;
pub mod plain_patch;
pub mod reference;
pub mod plain_content;
pub mod plain_copies;
pub mod plain_lifecycle;
pub mod operations;
pub mod compare;
pub mod plain_graph;
pub mod plain_idle;
pub mod plain_merge;
pub mod search;
pub mod search_order;
pub mod seeds;

pub use checked::CheckedRepository;
pub use dump::dump;
pub use folders::copy_folder;
pub use random::{Random, fresh_seed, number_from_environment};
pub use seeds::seeds;
pub use trees::declare_lists;
