//! Scan: the slots of types, classifications and homes, and the keys of a range of an index.

// In the order a newcomer should read them.
pub(in crate::read) mod domain;
pub(in crate::read) mod bounds;
pub(in crate::read) mod keys;
