//! Indexes of instances: by value, by past value, by time, by id, by link.

pub(crate) mod id_order;
pub(crate) mod links;
pub(crate) mod past_index;
pub(crate) mod past_keys;
pub(crate) mod staged;
pub(crate) mod stamps;
pub(crate) mod value_index;
pub(crate) mod key;
