//! The change feed: every record after its commit, and subscriptions to the changes of a part of the graph.

pub(crate) mod follow;
pub(crate) mod hub;
pub(crate) mod subscription;
