//! The status of what nobody gave another.

/// The status of instances that have no other.
pub(crate) const ACTIVE: &str = "active";
