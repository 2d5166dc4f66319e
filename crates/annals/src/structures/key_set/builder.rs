//! Builds a set from keys in order.

use super::KeySet;
use super::leaf::{Fill, assert_bounded, separator_between};
use super::node::{FAN, Node, Split, branches_over};
use super::run::Run;
use super::set_key::Key;

/// A set in progress, with full leaves.
#[derive(Default)]
pub(crate) struct Builder {
    len: usize,
    full: Vec<Split>,
    // The keys of the present leaf, one after the other, and the end of each.
    bytes: Vec<u8>,
    ends: Vec<usize>,
    fill: Fill,
    // Its separator from the leaf before.
    separator: Vec<u8>,
}

impl Builder {
    pub(crate) fn new() -> Builder {
        Builder::default()
    }

    /// The last added key.
    pub(crate) fn last(&self) -> Option<&[u8]> {
        self.ends.len().checked_sub(1).map(|last| self.key(last))
    }

    /// Adds a key, which must not be less than the one before. An equal key counts once.
    pub(crate) fn push(&mut self, key: &[u8]) {
        assert_bounded(key);
        if let Some(last) = self.last() {
            assert!(last <= key, "keys are sorted before a set is built from them");
            if last == key {
                return;
            }
            let mut fill = self.fill;
            if fill.add(self.key(0), key) {
                self.fill = fill;
            } else {
                let separator = separator_between(last.into(), key.into());
                self.end_leaf();
                self.separator = separator;
            }
        }
        if self.ends.is_empty() {
            self.fill.add(key, key);
        }
        self.bytes.extend_from_slice(key);
        self.ends.push(self.bytes.len());
        self.len += 1;
    }

    fn key(&self, index: usize) -> &[u8] {
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.bytes[start..self.ends[index]]
    }

    fn end_leaf(&mut self) {
        let keys = (0..self.ends.len()).map(|index| Key::from(self.key(index)));
        let right = Node::Leaf(Run::of(keys));
        self.full.push(Split { separator: std::mem::take(&mut self.separator), right });
        self.bytes.clear();
        self.ends.clear();
        self.fill = Fill::default();
    }

    pub(crate) fn finish(mut self) -> KeySet {
        if self.len == 0 {
            return KeySet::new();
        }
        self.end_leaf();
        KeySet { len: self.len, root: Some(root_over(self.full)) }
    }
}

/// The root of a tree with these nodes of one height. There must be one.
pub(super) fn root_over(mut level: Vec<Split>) -> Node {
    while level.len() > 1 {
        level = branches_over(level, FAN);
    }
    level.pop().expect("a tree has a leaf").right
}
