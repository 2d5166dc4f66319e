//! Adds many keys to a set, or removes them, leaf by leaf.

use std::sync::Arc;

use super::leaf::{FEW_KEYS_MAX, LEAF_BYTES_MAX, LEAF_KEYS_MAX, Leaf, assert_bounded};
use super::node::Node;
use super::root::{Root, Top};
use super::{KeySet, Path, insert_at, lower, path_to, remove};
use crate::structures::number::narrow;

impl KeySet {
    /// Adds keys; those of one leaf are added together. Calls `tell` with each key that was missing.
    ///
    /// Shape: `keys` ascending; existing and repeated keys have no effect.
    pub(crate) fn insert_sorted<K: AsRef<[u8]>>(&mut self, mut keys: &[K], tell: &mut impl FnMut(&[u8])) {
        while self.len + keys.len() <= FEW_KEYS_MAX
            && let Some((key, rest)) = keys.split_first()
        {
            if self.insert(key.as_ref()) {
                tell(key.as_ref());
            }
            keys = rest;
        }
        if keys.is_empty() {
            return;
        }
        let root = self.root.tree_mut();
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
            let len_before = leaf.len();
            for key in together.iter().map(AsRef::as_ref) {
                assert_bounded(key);
                if let Err(at) = leaf.search(key) {
                    leaf.insert(at, key);
                    tell(key);
                }
            }
            let added = leaf.len() - len_before;
            count_along(root, path.indexes(), narrow(added));
            self.len += added;
            keys = rest;
        }
    }

    /// Removes keys; those of one leaf are removed together.
    ///
    /// Shape: `keys` ascending, each once; missing keys have no effect.
    pub(crate) fn remove_sorted<K: AsRef<[u8]>>(&mut self, mut keys: &[K]) {
        while let Some(key) = keys.first()
            && let Top::Tree(root) = self.root.top()
        {
            let path = path_to(root, key.as_ref());
            let (leaf, behind) = leaf_at(root, &path);
            let belongs = |key: &K| behind.is_none_or(|behind| key.as_ref() < behind);
            let (together, rest) = keys.split_at(keys.partition_point(belongs));
            keys = rest;
            let found: Vec<usize> =
                together.iter().filter_map(|key| leaf.search(key.as_ref()).ok()).collect();
            // Missing keys copy nothing.
            if !found.is_empty() {
                let root = self.root.tree_mut();
                remove(root, path.indexes(), &found);
                lower(root);
                self.len -= found.len();
                if self.len == 0 {
                    self.root = Root::Empty;
                }
            }
        }
        keys.iter().for_each(|key| {
            self.remove(key.as_ref());
        });
    }
}

// The leaf at the end of this path, and the least bound of the keys after it; `None` if there are no keys after it.
fn leaf_at<'n>(root: &'n Node, path: &Path) -> (&'n Leaf, Option<&'n [u8]>) {
    let mut node = root;
    let mut behind = None;
    for index in path.indexes() {
        let index = usize::from(*index);
        let separators = &node.branch().separators;
        if index < separators.len() {
            behind = Some(separators.get(index));
        }
        node = node.child(index);
    }
    let Node::Leaf(leaf) = node else { unreachable!("paths end at leaves") };
    (leaf, behind)
}

// How many of `keys` belong into the same leaf as the first, to which this path leads, and have room there.
fn count_beside<K: AsRef<[u8]>>(root: &Node, path: &Path, keys: &[K]) -> usize {
    let (leaf, behind) = leaf_at(root, path);
    let (mut len, mut bytes_len) = (leaf.len(), leaf.bytes_len());
    let belongs = |key: &&K| {
        let key = key.as_ref();
        len += 1;
        bytes_len += key.len();
        len <= LEAF_KEYS_MAX && bytes_len <= LEAF_BYTES_MAX && behind.is_none_or(|behind| key < behind)
    };
    keys.iter().take_while(belongs).count()
}

// The leaf at the end of `path`.
fn leaf_mut<'n>(node: &'n mut Arc<Node>, path: &[u8]) -> &'n mut Leaf {
    let child = path.iter().fold(node, |node, index| Node::child_mut(node, usize::from(*index)));
    Node::leaf_mut(child)
}

// Adds to the key counts of all nodes on `path`.
fn count_along(node: &mut Arc<Node>, path: &[u8], change: isize) {
    if let Some((index, path)) = path.split_first() {
        Node::count(node, change);
        count_along(Node::child_mut(node, usize::from(*index)), path, change);
    }
}
