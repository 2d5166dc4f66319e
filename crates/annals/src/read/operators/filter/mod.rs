//! Filter: checks whether an instance matches, in the version that a snapshot sees.

// In the order a newcomer should read them.
pub(in crate::read) mod status;
pub(in crate::read) mod entities;
pub(in crate::read) mod value_test;
pub(in crate::read) mod subject;
pub(in crate::read) mod test;
pub(in crate::read) mod resolve;
pub(in crate::read) mod properties;
pub(in crate::read) mod condition;
