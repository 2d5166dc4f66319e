//! What the actions of a record do to the graph.

pub(crate) mod apply;
pub(crate) mod content;
pub(crate) mod copies;
pub(crate) mod header_changes;
pub(crate) mod lifecycle;
pub(crate) mod look_ahead;
pub(crate) mod unchanged;
pub(crate) mod version;
pub(crate) mod context;
