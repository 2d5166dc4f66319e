//! Transactions of writers with grants: what they may name, and what they see meanwhile.

mod limits;
pub(super) mod writer_graph;
mod allowed_contents;
