//! Writers with grants.

mod changes;
mod trees;
mod reverts;
mod contents;
