//! Adds many keys to a set, or removes them, leaf by leaf.

use super::leaf::{Fill, LEAF_BYTES_MAX, LEAF_KEYS_MAX, assert_bounded, separator_between};
use super::node::{Node, Split};
use super::run::{Keys, Run};
use super::set_key::Key;
use super::{KeySet, Path, insert_into, lower, path_to, raise, remove};
use crate::structures::number::narrow;

impl KeySet {
    /// Adds keys; those of one leaf are added together. Calls `tell` with each key that was missing.
    ///
    /// Shape: `keys` ascending; existing and repeated keys have no effect.
    pub(crate) fn insert_sorted<K: AsRef<[u8]>>(&mut self, keys: &[K], tell: &mut impl FnMut(&[u8])) {
        let root = self.root.get_or_insert_with(|| Node::Leaf(Run::new()));
        let mut adding = Adding { missing: Vec::new(), count: 0, tell };
        let right = adding.add(root, from_missing(root, keys), true);
        raise(root, right);
        self.len += adding.count;
        if self.len == 0 {
            self.root = None;
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

// Keys in the course of being added.
struct Adding<'k, 't, T> {
    // Of the present leaf: the keys that it lacks, each with its index there.
    missing: Vec<(usize, &'k [u8])>,
    // Number of added keys.
    count: usize,
    tell: &'t mut T,
}

impl<'k, T: FnMut(&[u8])> Adding<'k, '_, T> {
    // Adds keys below a node; returns what came to its right. `is_last` means that it is at the right end of the tree.
    fn add<K: AsRef<[u8]>>(&mut self, node: &mut Node, keys: &'k [K], is_last: bool) -> Vec<Split> {
        if keys.is_empty() {
            return Vec::new();
        }
        match node {
            Node::Leaf(leaf) => self.add_to_leaf(leaf, keys, is_last),
            inner => self.add_to_children(inner, keys, is_last),
        }
    }

    fn add_to_children<K: AsRef<[u8]>>(
        &mut self,
        node: &mut Node,
        mut keys: &'k [K],
        is_last: bool,
    ) -> Vec<Split> {
        let children_len = node.branch().children_len();
        let mut splits = Vec::new();
        while let Some(key) = keys.first() {
            let branch = node.branch();
            let index = branch.child_index(key.as_ref());
            let is_last = is_last && index + 1 == children_len;
            let len = match (index + 1 < children_len).then(|| branch.separators.keys().get(index)) {
                None => keys.len(),
                Some(behind) => keys.partition_point(|key| behind > *key.as_ref()),
            };
            let (of_child, rest) = keys.split_at(len);
            keys = rest;
            let of_child = from_missing(node.child(index), of_child);
            if of_child.is_empty() {
                continue;
            }
            let before = self.count;
            let right = self.add(node.child_mut(index), of_child, is_last);
            node.count(narrow(self.count - before));
            if !right.is_empty() {
                splits.push((index, right));
            }
        }
        if splits.is_empty() { Vec::new() } else { node.insert_splits(splits, is_last) }
    }

    fn add_to_leaf<K: AsRef<[u8]>>(&mut self, leaf: &mut Run, keys: &'k [K], is_last: bool) -> Vec<Split> {
        self.missing.clear();
        let old = leaf.keys();
        let ends = [keys.first(), keys.last()].map(|key| key.and_then(|key| old.search(key.as_ref()).err()));
        // Many keys often belong into one place.
        let place = ends[0].filter(|place| ends[1] == Some(*place));
        for key in keys.iter().map(AsRef::as_ref) {
            assert_bounded(key);
            let is_new = self.missing.last().is_none_or(|(_, last)| *last != key);
            if let (Err(at), true) = (place.map_or_else(|| old.search(key), Err), is_new) {
                self.missing.push((at, key));
                (self.tell)(key);
            }
        }
        self.count += self.missing.len();
        if let [(at, key)] = self.missing[..] {
            return insert_into(leaf, at, key, is_last);
        }
        if have_room(old, &self.missing) {
            leaf.insert_all(&self.missing);
            return Vec::new();
        }
        let mut leaves = leaves_with(old, &self.missing, is_last).into_iter();
        if let Some(Split { right: Node::Leaf(first), .. }) = leaves.next() {
            *leaf = first;
        }
        leaves.collect()
    }
}

// Without keys at the beginning that are there already, so that they copy nothing.
fn from_missing<'k, K: AsRef<[u8]>>(node: &Node, keys: &'k [K]) -> &'k [K] {
    let known = keys.iter().take_while(|key| path_to(node, key.as_ref()).found.is_ok()).count();
    &keys[known..]
}

fn have_room(old: Keys, missing: &[(usize, &[u8])]) -> bool {
    let mut fill = Fill::of(old);
    let any = if old.len() == 0 { missing[0].1 } else { old.common() };
    old.len() + missing.len() <= LEAF_KEYS_MAX && missing.iter().all(|(_, key)| fill.add(any, key))
}

// The leaves with the keys of one and those that it lacks, each with its index there. `is_last` means that there is no
// leaf after it.
fn leaves_with(old: Keys, missing: &[(usize, &[u8])], is_last: bool) -> Vec<Split> {
    let mut keys: Vec<Key> = Vec::with_capacity(old.len() + missing.len());
    let mut from = 0;
    for (at, key) in missing {
        keys.extend(old.range(from..*at));
        keys.push(Key::from(*key));
        from = *at;
    }
    keys.extend(old.range(from..old.len()));
    // For keys that arrive in order, and for many, leaves are full; otherwise there are two with as many keys.
    let is_behind = is_last && missing.first().is_some_and(|(at, _)| *at == old.len());
    let are_two = !is_behind && keys.len() <= 2 * LEAF_KEYS_MAX;
    let len_max = if are_two { keys.len().div_ceil(2) } else { LEAF_KEYS_MAX };
    let mut leaves = Vec::new();
    let mut rest = &keys[..];
    while !rest.is_empty() {
        let (of_one, behind) = rest.split_at(longest_leaf(rest, len_max));
        let separator = match keys[..keys.len() - rest.len()].last() {
            None => Vec::new(),
            Some(before) => separator_between(*before, of_one[0]),
        };
        leaves.push(Split { separator, right: Node::Leaf(Run::of(of_one.iter().copied())) });
        rest = behind;
    }
    leaves
}

// How many of these keys fit into one leaf, at least one and at most `len_max`.
fn longest_leaf(keys: &[Key], len_max: usize) -> usize {
    let keys = &keys[..keys.len().min(len_max)];
    let fits = |keys: &[Key]| {
        let common_len = keys[0].common_len(keys[keys.len() - 1]);
        let bytes_len: usize = keys.iter().map(|key| key.len() - common_len).sum();
        common_len + bytes_len <= LEAF_BYTES_MAX
    };
    if fits(keys) {
        return keys.len();
    }
    // More keys never take fewer bytes.
    let (mut fit, mut unfit) = (1, keys.len());
    while fit + 1 < unfit {
        let middle = usize::midpoint(fit, unfit);
        if fits(&keys[..middle]) { fit = middle } else { unfit = middle }
    }
    fit
}
