//! Finds the number of keys before one, about the number between two bounds, and the key at an index, without walking
//! the keys.

use std::ops::Bound;

use super::set_key::Key;
use super::{KeySet, Node, behind_prefix};

impl KeySet {
    /// How many keys are less than `key`.
    pub(crate) fn rank(&self, key: &[u8]) -> usize {
        let mut before = 0;
        let Some(mut node) = self.root.as_ref() else { return 0 };
        loop {
            if let Node::Leaf(leaf) = node {
                return before + leaf.keys().search(key).unwrap_or_else(|at| at);
            }
            let index = node.branch().child_index(key);
            before += (0..index).map(|at| node.child(at).keys_count()).sum::<usize>();
            node = node.child(index);
        }
    }

    /// How many keys start with `prefix`.
    pub(crate) fn count_prefix(&self, prefix: &[u8]) -> usize {
        match behind_prefix(prefix) {
            Some(behind) => self.rank(&behind) - self.rank(prefix),
            None => self.len() - self.rank(prefix),
        }
    }

    /// The key with `place` keys before it.
    pub(crate) fn nth(&self, place: usize) -> Option<Key<'_>> {
        if place >= self.len() {
            return None;
        }
        let mut place = place;
        let mut node = self.root.as_ref()?;
        loop {
            if let Node::Leaf(leaf) = node {
                return Some(leaf.keys().get(place));
            }
            let mut index = 0;
            while place >= node.child(index).keys_count() {
                place -= node.child(index).keys_count();
                index += 1;
            }
            node = node.child(index);
        }
    }

    /// About how many keys are between two bounds: exact within one leaf; in larger ranges as exact as the tree is
    /// evenly filled.
    pub(crate) fn count_about(&self, from: Bound<&[u8]>, to: Bound<&[u8]>) -> usize {
        let edge = |bound: Bound<&[u8]>, open: f64| match bound {
            Bound::Included(key) | Bound::Excluded(key) => self.part_before(key),
            Bound::Unbounded => open,
        };
        let part = edge(to, 1.0) - edge(from, 0.0);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an estimate")]
        let count = (part * self.len() as f64).round().max(0.0) as usize;
        count
    }

    // The share of keys that are smaller than `key`, from 0 to 1.
    fn part_before(&self, key: &[u8]) -> f64 {
        let (mut start, mut width) = (0.0, 1.0);
        let Some(mut node) = self.root.as_ref() else { return 0.0 };
        loop {
            if let Node::Leaf(leaf) = node {
                let at = leaf.keys().search(key).unwrap_or_else(|at| at);
                return start + width * at as f64 / leaf.keys().len().max(1) as f64;
            }
            let branch = node.branch();
            let index = branch.child_index(key);
            width /= branch.children_len() as f64;
            start += width * index as f64;
            node = node.child(index);
        }
    }
}
