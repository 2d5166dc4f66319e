//! What searches, walks and lists of relationships are made of. Each operator does one thing to the slots of instances, for
//! any snapshot: scan gives slots, filter leaves some out, expand goes from entities to others, sort puts them in order, page
//! takes some of them, fetch reads what is there.

// In the order a newcomer should read them.
#[rustfmt::skip]
pub(super) mod scan;
pub(super) mod filter;
pub(super) mod link_types;
pub(super) mod expand;
pub(super) mod sort;
pub(super) mod page;
pub(super) mod fetch;
