//! The graph value and the persistent structures that it is made of.

// The graph value is the only user of these structures; until it calls all of them the lint would be noise.
#![allow(dead_code)]

pub(crate) mod vector;

pub(crate) mod id_map;

pub(crate) mod key_set;

#[cfg(test)]
mod tests {
    use super::{id_map::IdMap, key_set::KeySet, vector::Vector};

    fn is_shared_between_threads<T: Send + Sync + Clone>() {}

    #[test]
    fn snapshots_may_be_read_from_any_thread() {
        is_shared_between_threads::<Vector<String>>();
        is_shared_between_threads::<IdMap>();
        is_shared_between_threads::<KeySet>();
    }
}
