//! Transactions until they are committed: what one collects, its own view, what it leaves out, refuses and adds.

// In the order a newcomer should read them.
pub(super) mod transaction;
mod hand_over;
pub(super) mod taken_back_mark;
mod repeated;
pub(super) mod retry;
mod lifecycle;
mod upsert;
mod declarations;
mod declared;
mod merge;
mod touched;
pub(super) mod noted;
mod own_graph;
mod reading;
mod properties;
mod classifications;
mod new_values;
mod correction;
mod anchoring;
mod historic;
pub(super) mod internal;
pub(super) mod purged_edits;
