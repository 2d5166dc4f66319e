//! The operators of searches, walks and lists of relationships. Each does one thing with the slots of instances, for
//! any snapshot: scan lists slots, filter removes some, expand goes from entities to others, sort orders them, page
//! takes some of them, fetch reads the instances, groups counts them by their values.

// In the order a newcomer should read them.
pub(super) mod scan;
pub(super) mod filter;
pub(super) mod link_types;
pub(super) mod expand;
pub(super) mod sort;
pub(super) mod page;
pub(super) mod fetch;
mod aggregate;
pub(super) mod grouper;
