//! Persistent structures that know nothing of instances: clones share what they do not change.

pub(crate) mod key_set;
pub(crate) mod vector;
pub(crate) mod order;
pub(crate) mod text_key;
