//! The change feed: every record as it comes, and subscriptions to what became of a part of the graph.

pub(crate) mod follow;
pub(crate) mod hub;
pub(crate) mod subscription;
