//! Keeps byte-string keys in order in a tree whose parts are shared between snapshots.
#![expect(clippy::expect_used, reason = "a node has the children that it counts, and one to change is owned")]

use crate::structures::number::narrow;
use leaf::{assert_bounded, halves_with, leaf_has_room, separator_between};
use node::HEIGHT_MAX;
use std::ops::Bound;

mod builder;
mod node;
mod piece;
mod range;
mod rank;
mod run;
mod set_key;
mod signature;
mod sorted;

impl KeySet {
    /// Calls `take` with the keys from `low` to before `high`, but skips branches in which no text has the needed
    /// trigrams. Returns the number of skipped branches.
    ///
    /// Errors: those of `take`.
    pub(crate) fn search_texts<E>(
        &self,
        low: &[u8],
        high: &[u8],
        needed: &Needed,
        take: &mut dyn FnMut(Key) -> Result<(), E>,
    ) -> Result<usize, E> {
        let mut skipped = 0;
        if let Some(root) = &self.root {
            search(root, low, high, needed, &mut skipped, take)?;
        }
        Ok(skipped)
    }
}

#[cfg(test)]
mod tests;
pub(crate) mod leaf;

pub(crate) use builder::Builder;
use node::{Branch, FAN, Node, Split};
pub(crate) use piece::Piece;
pub(crate) use range::Range;
use run::Run;
pub(crate) use set_key::Key;
use signature::search;
pub(crate) use signature::{Needed, fold, gram};

/// A persistent ordered set of byte strings: a clone costs one reference count, and a change copies only what a clone
/// still shares.
///
/// Shape: keys in the order of their bytes, each once; the empty string is a key like any other.
/// Units: a key has at most [`KEY_BYTES_MAX`] bytes; a leaf holds at most 128 keys or 2 KiB, with the prefix that all its
/// keys have in common once.
#[derive(Clone, Default)]
pub(crate) struct KeySet {
    len: usize,
    // `None` if the set is empty.
    root: Option<Node>,
}

impl KeySet {
    /// An empty set.
    pub(crate) fn new() -> KeySet {
        KeySet::default()
    }

    /// Builds a set with full leaves.
    ///
    /// Shape: `keys` ascending; a repeated key counts once.
    pub(crate) fn from_sorted<K: AsRef<[u8]>>(keys: impl IntoIterator<Item = K>) -> KeySet {
        let mut builder = Builder::new();
        keys.into_iter().for_each(|key| builder.push(key.as_ref()));
        builder.finish()
    }

    /// Counts the keys.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Whether the set is empty.
    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whether `key` is in the set.
    pub(crate) fn contains(&self, key: &[u8]) -> bool {
        let Some(mut node) = self.root.as_ref() else { return false };
        loop {
            match node {
                Node::Leaf(leaf) => return leaf.keys().search(key).is_ok(),
                inner => node = inner.child(inner.branch().child_index(key)),
            }
        }
    }

    /// Adds `key` and returns whether it was missing. Copies nothing if it was there.
    pub(crate) fn insert(&mut self, key: &[u8]) -> bool {
        assert_bounded(key);
        let root = self.root.get_or_insert_with(|| Node::Leaf(Run::new()));
        let path = path_to(root, key);
        let Err(at) = path.found else { return false };
        insert_at(root, &path, at, key);
        self.len += 1;
        true
    }

    /// Removes `key` and returns whether it was there. Copies nothing if it was missing.
    pub(crate) fn remove(&mut self, key: &[u8]) -> bool {
        let Some(root) = &mut self.root else { return false };
        let path = path_to(root, key);
        let Ok(at) = path.found else { return false };
        remove(root, path.indexes(), &[at]);
        lower(root);
        self.len -= 1;
        if self.len == 0 {
            self.root = None;
        }
        true
    }

    /// The smallest key.
    #[cfg(test)]
    pub(crate) fn first(&self) -> Option<Key<'_>> {
        self.iter().next()
    }

    /// The greatest key.
    #[cfg(test)]
    pub(crate) fn last(&self) -> Option<Key<'_>> {
        self.iter().next_back()
    }

    /// All keys, ascending; `rev` makes it descending.
    pub(crate) fn iter(&self) -> Range<'_> {
        self.range(Bound::Unbounded, Bound::Unbounded)
    }

    /// The keys between two bounds, ascending; `rev` makes it descending. Empty if `from` is after `to`.
    pub(crate) fn range(&self, from: Bound<&[u8]>, to: Bound<&[u8]>) -> Range<'_> {
        Range::new(self.root.as_ref(), from, to)
    }

    /// The keys that start with `prefix`, ascending; `rev` makes it descending.
    pub(crate) fn prefix(&self, prefix: &[u8]) -> Range<'_> {
        match behind_prefix(prefix) {
            Some(behind) => self.range(Bound::Included(prefix), Bound::Excluded(&behind)),
            None => self.range(Bound::Included(prefix), Bound::Unbounded),
        }
    }
}

// The least string after all strings with the prefix: the prefix with its last byte incremented; bytes that cannot be
// incremented are dropped.
fn behind_prefix(prefix: &[u8]) -> Option<Vec<u8>> {
    let raised_at = prefix.iter().rposition(|byte| *byte != u8::MAX)?;
    let mut behind = prefix[..=raised_at].to_vec();
    behind[raised_at] += 1;
    Some(behind)
}

// The path from the root to a key: the index of the child in each branch, then the index in the leaf.
struct Path {
    children: [u8; HEIGHT_MAX],
    height: usize,
    found: Result<usize, usize>,
}

impl Path {
    fn indexes(&self) -> &[u8] {
        &self.children[..self.height]
    }
}

// Finds the path without a change, so that a change with no effect copies nothing.
fn path_to(root: &Node, key: &[u8]) -> Path {
    let mut path = Path { children: [0; HEIGHT_MAX], height: 0, found: Err(0) };
    let mut node = root;
    loop {
        match node {
            Node::Leaf(leaf) => {
                path.found = leaf.keys().search(key);
                return path;
            }
            inner => {
                let index = inner.branch().child_index(key);
                path.children[path.height] = narrow(index);
                path.height += 1;
                node = inner.child(index);
            }
        }
    }
}

fn insert_at(root: &mut Node, path: &Path, at: usize, key: &[u8]) {
    let right = insert(root, path.indexes(), at, key, true);
    raise(root, right);
}

// Inserts a missing key; returns what came to the right of `node`. `is_last` means that it is at the right end of the
// tree.
fn insert(node: &mut Node, path: &[u8], at: usize, key: &[u8], is_last: bool) -> Vec<Split> {
    if let Some((index, path)) = path.split_first() {
        let index = usize::from(*index);
        let is_last_child = is_last && index + 1 == node.branch().children_len();
        let right = insert(node.child_mut(index), path, at, key, is_last_child);
        node.count(1);
        return if right.is_empty() { right } else { node.insert_splits(vec![(index, right)], is_last) };
    }
    insert_into(node.leaf_mut(), at, key, is_last)
}

// The same for a leaf.
fn insert_into(leaf: &mut Run, at: usize, key: &[u8], is_last: bool) -> Vec<Split> {
    if leaf_has_room(leaf.keys(), key) {
        leaf.insert(at, key);
        return Vec::new();
    }
    let [left, right] = halves_with(leaf, at, key, is_last);
    let (last, first) = (left.keys().last(), right.keys().get(0));
    let separator = separator_between(last.expect("a split leaves keys on both sides"), first);
    *leaf = left;
    vec![Split { separator, right: Node::Leaf(right) }]
}

// Adds levels above a root until what came to its right is below it.
fn raise(root: &mut Node, right: Vec<Split>) {
    if right.is_empty() {
        return;
    }
    let mut level = vec![Split { separator: Vec::new(), right: root.clone() }];
    level.extend(right);
    *root = builder::root_over(level);
}

// Removes the keys at these indexes of the leaf at the end of `path`.
fn remove(node: &mut Node, path: &[u8], places: &[usize]) {
    if let Some((index, path)) = path.split_first() {
        let index = usize::from(*index);
        remove(node.child_mut(index), path, places);
        node.count(-narrow::<isize, usize>(places.len()));
        if node.is_worn(index) {
            node.branch_mut().refill(index);
        }
    } else {
        node.leaf_mut().remove_all(places);
    }
}

// Removes levels with only one node.
fn lower(root: &mut Node) {
    while root.is_inner()
        && root.branch().children_len() <= 1
        && let Some(child) = root.only_child()
    {
        *root = child;
    }
}
