//! Adds many keys to a set, or removes them, leaf by leaf.

use super::leaf::{Fill, assert_bounded};
use super::node::Node;
use super::run::{Keys, Run};
use super::set_key::Key;
use super::{KeySet, Path, insert_at, lower, path_to, remove};
use crate::structures::number::narrow;

impl KeySet {
    /// Adds keys; those of one leaf are added together. Calls `tell` with each key that was missing.
    ///
    /// Shape: `keys` ascending; existing and repeated keys have no effect.
    pub(crate) fn insert_sorted<K: AsRef<[u8]>>(&mut self, mut keys: &[K], tell: &mut impl FnMut(&[u8])) {
        if keys.is_empty() {
            return;
        }
        let root = self.root.get_or_insert_with(|| Node::Leaf(Run::new()));
        let mut added: Vec<(usize, &[u8])> = Vec::new();
        while let Some(key) = keys.first() {
            let key = key.as_ref();
            assert_bounded(key);
            let path = path_to(root, key);
            // An existing key copies nothing. A single key, or one that splits its leaf, is added by itself.
            let count = path.found.map_or_else(|_| count_beside(root, &path, keys), |_| 1);
            if count <= 1 {
                if let Err(at) = path.found {
                    insert_at(root, &path, at, key);
                    self.len += 1;
                    tell(key);
                }
                keys = &keys[1..];
                continue;
            }
            let (together, rest) = keys.split_at(count);
            let leaf = leaf_mut(root, path.indexes());
            added.clear();
            for key in together.iter().map(AsRef::as_ref) {
                assert_bounded(key);
                let is_new = added.last().is_none_or(|(_, last)| *last != key);
                if let (Err(at), true) = (leaf.keys().search(key), is_new) {
                    added.push((at, key));
                    tell(key);
                }
            }
            leaf.insert_all(&added);
            count_along(root, path.indexes(), narrow(added.len()));
            self.len += added.len();
            keys = rest;
        }
    }

    /// Removes keys; those of one leaf are removed together.
    ///
    /// Shape: `keys` ascending, each once; missing keys have no effect.
    pub(crate) fn remove_sorted<K: AsRef<[u8]>>(&mut self, mut keys: &[K]) {
        while let (Some(key), Some(root)) = (keys.first(), &mut self.root) {
            let path = path_to(root, key.as_ref());
            let (leaf, behind) = leaf_at(root, &path);
            let belongs = |key: &K| behind.is_none_or(|behind| behind > *key.as_ref());
            let (together, rest) = keys.split_at(keys.partition_point(belongs));
            keys = rest;
            let found: Vec<usize> =
                together.iter().filter_map(|key| leaf.search(key.as_ref()).ok()).collect();
            // Missing keys copy nothing.
            if !found.is_empty() {
                remove(root, path.indexes(), &found);
                lower(root);
                self.len -= found.len();
                if self.len == 0 {
                    self.root = None;
                }
            }
        }
    }
}

// The leaf at the end of this path, and the least bound of the keys after it; `None` if there are no keys after it.
fn leaf_at<'n>(root: &'n Node, path: &Path) -> (Keys<'n>, Option<Key<'n>>) {
    let mut node = root;
    let mut behind = None;
    for index in path.indexes() {
        let index = usize::from(*index);
        let separators = node.branch().separators.keys();
        if index < separators.len() {
            behind = Some(separators.get(index));
        }
        node = node.child(index);
    }
    let Node::Leaf(leaf) = node else { unreachable!("paths end at leaves") };
    (leaf.keys(), behind)
}

// How many of `keys` belong into the same leaf as the first, to which this path leads, and have room there.
fn count_beside<K: AsRef<[u8]>>(root: &Node, path: &Path, keys: &[K]) -> usize {
    let (leaf, behind) = leaf_at(root, path);
    let mut fill = Fill::of(leaf);
    let any = if leaf.len() == 0 { keys[0].as_ref() } else { leaf.common() };
    let belongs = |key: &&K| {
        let key = key.as_ref();
        behind.is_none_or(|behind| behind > *key) && fill.add(any, key)
    };
    keys.iter().take_while(belongs).count()
}

// The leaf at the end of `path`.
fn leaf_mut<'n>(node: &'n mut Node, path: &[u8]) -> &'n mut Run {
    path.iter().fold(node, |node, index| node.child_mut(usize::from(*index))).leaf_mut()
}

// Adds to the key counts of all nodes on `path`.
fn count_along(node: &mut Node, path: &[u8], change: isize) {
    if let Some((index, path)) = path.split_first() {
        node.count(change);
        count_along(node.child_mut(usize::from(*index)), path, change);
    }
}
