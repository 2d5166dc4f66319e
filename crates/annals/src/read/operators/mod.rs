//! What searches, walks and lists of neighbours are made of. Each operator does one thing to slots, for any snapshot.

// In the order a newcomer should read them.
#[rustfmt::skip]
pub(super) mod fetch;
pub(super) mod expand;
