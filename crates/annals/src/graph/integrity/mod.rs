//! Declared types, and the rules for instances.

mod by_kind;
pub(crate) mod checks;
pub(crate) mod constraints;
pub(crate) mod definitions;
mod internal_types;
pub(crate) mod types;
pub(crate) mod status;
pub(crate) mod values;
