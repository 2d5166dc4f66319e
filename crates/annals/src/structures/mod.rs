//! Persistent structures that know nothing of instances: clones share unchanged parts.

pub(crate) mod key_set;
pub(crate) mod vector;
pub(crate) mod number;
pub(crate) mod order;
pub(crate) mod text_key;
