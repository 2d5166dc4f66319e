//! Builds a set from keys in order.

use std::sync::Arc;

use super::KeySet;
use super::leaf::{FEW_KEYS_MAX, LEAF_BYTES_MAX, Leaf, assert_bounded, leaf_has_room, separator_between};
use super::node::branches_over;
use super::node::{Node, Split};
use super::root::Root;

/// A set in progress, with full leaves.
pub(crate) struct Builder {
    len: usize,
    full: Vec<Split>,
    // The present leaf, and its separator from the leaf before.
    leaf: Leaf,
    separator: Vec<u8>,
}

impl Builder {
    pub(crate) fn new() -> Builder {
        Builder { len: 0, full: Vec::new(), leaf: Leaf::with_room(LEAF_BYTES_MAX), separator: Vec::new() }
    }

    /// The last added key.
    pub(crate) fn last(&self) -> Option<&[u8]> {
        self.leaf.last()
    }

    /// Adds a key, which must not be less than the one before. An equal key counts once.
    pub(crate) fn push(&mut self, key: &[u8]) {
        assert_bounded(key);
        if let Some(last) = self.leaf.last() {
            assert!(last <= key, "keys are sorted before a set is built from them");
            if last == key {
                return;
            }
            if !leaf_has_room(&self.leaf, key) {
                let separator = separator_between(last, key);
                self.end_leaf();
                self.separator = separator;
            }
        }
        let end = self.leaf.len();
        self.leaf.insert(end, key);
        self.len += 1;
    }

    fn end_leaf(&mut self) {
        let separator = std::mem::take(&mut self.separator);
        self.full.push(Split { separator, right: Arc::new(Node::Leaf(self.leaf.take())) });
    }

    pub(crate) fn finish(mut self) -> KeySet {
        if self.len <= FEW_KEYS_MAX && self.full.is_empty() {
            let mut root = Root::Empty;
            if self.len > 0 {
                root.few_mut().append(&self.leaf);
            }
            return KeySet { len: self.len, root };
        }
        self.end_leaf();
        let mut level = self.full;
        while level.len() > 1 {
            level = branches_over(level);
        }
        let root = level.pop().expect("the last leaf is always there").right;
        KeySet { len: self.len, root: Root::Tree(root) }
    }
}
