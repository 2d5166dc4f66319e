//! Writers with grants.

mod at_commit;
mod changes;
mod trees;
mod reverts;
mod contents;
