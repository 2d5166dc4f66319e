//! Caches recently read values, up to a number of bytes.

use std::collections::VecDeque;
use std::hash::Hash;
use std::sync::{Mutex, MutexGuard, PoisonError};

use foldhash::{HashMap, HashMapExt};

/// A bounded cache. The oldest entry is dropped first.
pub(in crate::read) struct Recent<K, V>(Mutex<Kept<K, V>>);

struct Kept<K, V> {
    // With the size of each.
    values: HashMap<K, (V, usize)>,
    // Oldest first.
    order: VecDeque<K>,
    bytes: usize,
}

impl<K: Copy + Eq + Hash, V: Clone> Recent<K, V> {
    pub(in crate::read) fn new() -> Recent<K, V> {
        Recent(Mutex::new(Kept { values: HashMap::new(), order: VecDeque::new(), bytes: 0 }))
    }

    fn lock(&self) -> MutexGuard<'_, Kept<K, V>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(in crate::read) fn get(&self, key: K) -> Option<V> {
        self.lock().values.get(&key).map(|(value, _)| value.clone())
    }

    /// Caches a value of this size, and drops the oldest ones until all fit into `bytes_max`.
    pub(in crate::read) fn insert(&self, key: K, value: V, bytes: usize, bytes_max: usize) {
        let mut kept = self.lock();
        // Another thread may have read it meanwhile.
        match kept.values.insert(key, (value, bytes)) {
            None => kept.order.push_back(key),
            Some((_, before)) => kept.bytes -= before,
        }
        kept.bytes += bytes;
        while kept.bytes > bytes_max
            && let Some(oldest) = kept.order.pop_front()
        {
            let gone = kept.values.remove(&oldest).map_or(0, |(_, bytes)| bytes);
            kept.bytes -= gone;
        }
    }

    pub(in crate::read) fn clear(&self) {
        *self.lock() = Kept { values: HashMap::new(), order: VecDeque::new(), bytes: 0 };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_first_goes_first_and_the_bytes_are_bounded() {
        let recent = Recent::new();
        for key in 0..10u32 {
            recent.insert(key, key, 10, 30);
        }
        let kept: Vec<u32> = (0..10).filter(|key| recent.get(*key).is_some()).collect();
        assert_eq!(kept, [7, 8, 9]);
        recent.insert(8, 80, 5, 30);
        assert_eq!((recent.get(8), recent.lock().bytes), (Some(80), 25));
        recent.insert(11, 11, 31, 30);
        assert!(recent.get(11).is_none() && recent.lock().bytes == 0);
        recent.clear();
        assert!(recent.get(9).is_none());
    }
}
