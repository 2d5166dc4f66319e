//! Keeps byte-string keys in order in a tree whose parts are shared between snapshots.

use std::ops::Bound;
use std::sync::Arc;

mod range;
mod run;

#[cfg(test)]
mod tests;

pub(crate) use range::Range;
use run::KeyRun;

/// The longest key in bytes. A leaf holds several of the longest keys, and offsets fit 16 bits.
pub(crate) const KEY_BYTES_MAX: usize = 512;

const LEAF_KEYS_MAX: usize = 128;
// One key more may lie above this, right after a split.
const LEAF_BYTES_MAX: usize = 2048;
// Copying a branch touches the reference count of each child. With 16 a copy costs as much, because there is one level
// more to copy, and lookups cost a tenth more.
const FAN: usize = 32;
// Even a tree worn out by removals keeps eight children per branch on average, and 8^12 leaves fit no memory.
const HEIGHT_MAX: usize = 12;

/// A persistent ordered set of byte strings: a clone costs one reference count, and a change copies only what a clone
/// still shares.
///
/// Shape: keys in the order of their bytes, each once; the empty string is a key like any other.
/// Units: a key has at most [`KEY_BYTES_MAX`] bytes; a leaf holds at most 128 keys or 2 KiB.
#[derive(Clone)]
pub(crate) struct KeySet {
    len: usize,
    root: Arc<Node>,
}

#[derive(Clone)]
enum Node {
    Branch(Branch),
    Leaf(Leaf),
}

// Invariant: there is one child more than there are separators; the child before a separator has only smaller keys,
// the child behind it has none that are smaller.
#[derive(Clone)]
struct Branch {
    separators: KeyRun<FAN>,
    children: [Option<Arc<Node>>; FAN],
}

type Leaf = KeyRun<LEAF_KEYS_MAX>;

// A node that a split put to the right of another, and the separator between the two.
struct Split {
    separator: Vec<u8>,
    right: Arc<Node>,
}

impl KeySet {
    /// An empty set.
    pub(crate) fn new() -> KeySet {
        KeySet { len: 0, root: Arc::new(Node::Leaf(Leaf::new())) }
    }

    /// Builds a set with full leaves.
    ///
    /// Shape: `keys` ascending; a key that comes twice counts once.
    pub(crate) fn from_sorted<K: AsRef<[u8]>>(keys: impl IntoIterator<Item = K>) -> KeySet {
        let mut len = 0;
        let mut leaf = Leaf::new();
        let mut level: Vec<Split> = Vec::new();
        let mut separator = Vec::new();
        for key in keys {
            let key = key.as_ref();
            assert_bounded(key);
            if let Some(last) = leaf.last() {
                assert!(last <= key, "keys are sorted before a set is built from them");
                if last == key {
                    continue;
                }
                if !leaf_has_room(&leaf, key) {
                    let next_separator = separator_between(last, key);
                    let mut full = std::mem::replace(&mut leaf, Leaf::new());
                    full.shrink();
                    level.push(Split {
                        separator: std::mem::replace(&mut separator, next_separator),
                        right: Arc::new(Node::Leaf(full)),
                    });
                }
            }
            leaf.insert(leaf.len(), key);
            len += 1;
        }
        level.push(Split { separator, right: Arc::new(Node::Leaf(leaf)) });
        while level.len() > 1 {
            level = branches_over(level);
        }
        let root = level.pop().expect("the last leaf is always there").right;
        KeySet { len, root }
    }

    /// Counts the keys.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no key.
    #[cfg(test)]
    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whether `key` is in the set.
    pub(crate) fn contains(&self, key: &[u8]) -> bool {
        let mut node = &*self.root;
        loop {
            match node {
                Node::Branch(branch) => node = branch.child(branch.child_index(key)),
                Node::Leaf(leaf) => return leaf.search(key).is_ok(),
            }
        }
    }

    /// Adds `key` and says whether it was missing. Copies nothing if it was there.
    pub(crate) fn insert(&mut self, key: &[u8]) -> bool {
        assert_bounded(key);
        let path = self.path_to(key);
        let Err(at) = path.found else { return false };
        if let Some(split) = insert(&mut self.root, path.indexes(), at, key, true) {
            let left = self.root.clone();
            self.root = Arc::new(Node::Branch(Branch::over(left, split)));
        }
        self.len += 1;
        true
    }

    /// Removes `key` and says whether it was there. Copies nothing if it was not.
    pub(crate) fn remove(&mut self, key: &[u8]) -> bool {
        let path = self.path_to(key);
        let Ok(at) = path.found else { return false };
        remove(&mut self.root, path.indexes(), at);
        while let Node::Branch(branch) = &*self.root {
            if branch.children_len() > 1 {
                break;
            }
            self.root = branch.children[0].clone().unwrap_or_else(|| Arc::new(Node::Leaf(Leaf::new())));
        }
        self.len -= 1;
        true
    }

    /// The smallest key.
    #[cfg(test)]
    pub(crate) fn first(&self) -> Option<&[u8]> {
        self.iter().next()
    }

    /// The greatest key.
    #[cfg(test)]
    pub(crate) fn last(&self) -> Option<&[u8]> {
        self.iter().next_back()
    }

    /// All keys, ascending; `rev` makes it descending.
    pub(crate) fn iter(&self) -> Range<'_> {
        self.range(Bound::Unbounded, Bound::Unbounded)
    }

    /// The keys between two bounds, ascending; `rev` makes it descending. Empty if `from` lies behind `to`.
    pub(crate) fn range(&self, from: Bound<&[u8]>, to: Bound<&[u8]>) -> Range<'_> {
        Range::new(&self.root, from, to)
    }

    /// The keys that start with `prefix`, ascending; `rev` makes it descending.
    pub(crate) fn prefix(&self, prefix: &[u8]) -> Range<'_> {
        // The least string behind all those with the prefix: the prefix with its last byte raised, where a byte that
        // cannot be raised is dropped.
        let raised_at = prefix.iter().rposition(|byte| *byte != u8::MAX);
        let Some(raised_at) = raised_at else { return self.range(Bound::Included(prefix), Bound::Unbounded) };
        let mut behind = prefix[..=raised_at].to_vec();
        behind[raised_at] += 1;
        self.range(Bound::Included(prefix), Bound::Excluded(&behind))
    }

    // Finds the way without changing anything, so that a change that turns out to be none copies nothing.
    fn path_to(&self, key: &[u8]) -> Path {
        let mut path = Path { children: [0; HEIGHT_MAX], height: 0, found: Err(0) };
        let mut node = &*self.root;
        loop {
            match node {
                Node::Branch(branch) => {
                    let index = branch.child_index(key);
                    path.children[path.height] = index as u8;
                    path.height += 1;
                    node = branch.child(index);
                }
                Node::Leaf(leaf) => {
                    path.found = leaf.search(key);
                    return path;
                }
            }
        }
    }
}

// The way from the root to a key: the child taken in each branch, then the place in the leaf.
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

impl Default for KeySet {
    fn default() -> KeySet {
        KeySet::new()
    }
}

impl Branch {
    fn empty() -> Branch {
        Branch { separators: KeyRun::new(), children: [const { None }; FAN] }
    }

    fn over(left: Arc<Node>, split: Split) -> Branch {
        let mut branch = Branch::empty();
        branch.children[0] = Some(left);
        branch.insert(0, split);
        branch
    }

    // Zero only for a moment, while a removal is under way.
    fn children_len(&self) -> usize {
        if self.children[0].is_none() { 0 } else { self.separators.len() + 1 }
    }

    #[inline]
    fn child_index(&self, key: &[u8]) -> usize {
        match self.separators.search(key) {
            Ok(index) => index + 1,
            Err(index) => index,
        }
    }

    #[inline]
    fn child(&self, index: usize) -> &Node {
        self.children[index].as_deref().expect("a branch has a child beside each separator")
    }

    fn child_mut(&mut self, index: usize) -> &mut Arc<Node> {
        self.children[index].as_mut().expect("a branch has a child beside each separator")
    }

    // Puts the right half of a split behind the child at `index`. There must be room.
    fn insert(&mut self, index: usize, split: Split) {
        let children_len = self.children_len();
        self.separators.insert(index, &split.separator);
        self.children[children_len] = Some(split.right);
        self.children[index + 1..=children_len].rotate_right(1);
    }

    // Like `insert` for a branch without room: divides the branch as well.
    fn insert_and_split(&mut self, index: usize, split: Split, is_last: bool) -> Split {
        let mut right = Branch::empty();
        if is_last && index + 1 == FAN {
            // Keys that arrive in order leave full branches behind.
            right.children[0] = Some(split.right);
            return Split { separator: split.separator, right: Arc::new(Node::Branch(right)) };
        }
        let middle = FAN / 2;
        right.separators = self.separators.split_off(middle);
        let separator = self.separators.get(middle - 1).to_vec();
        self.separators.remove(middle - 1);
        for (from, to) in self.children[middle..].iter_mut().zip(&mut right.children) {
            *to = from.take();
        }
        if index < middle {
            self.insert(index, split);
        } else {
            right.insert(index - middle, split);
        }
        Split { separator, right: Arc::new(Node::Branch(right)) }
    }

    // Restores the fill of the child at `index` after a removal below it: an empty child goes, a child that fits
    // together with a neighbour into half a node is merged with it.
    fn refill(&mut self, index: usize) {
        let children_len = self.children_len();
        if self.child(index).is_empty() {
            self.children[index] = None;
            self.children[index..children_len].rotate_left(1);
            if children_len > 1 {
                self.separators.remove(index.saturating_sub(1));
            }
        } else if index + 1 < children_len && self.child(index).fits_with(self.child(index + 1)) {
            self.merge(index);
        } else if index > 0 && self.child(index - 1).fits_with(self.child(index)) {
            self.merge(index - 1);
        }
    }

    // Merges the child at `index` with the next one.
    fn merge(&mut self, index: usize) {
        let children_len = self.children_len();
        let right = self.children[index + 1].take().expect("a branch has a child beside each separator");
        self.children[index + 1..children_len].rotate_left(1);
        let separator = self.separators.get(index).to_vec();
        self.separators.remove(index);
        match (Arc::make_mut(self.child_mut(index)), &*right) {
            (Node::Leaf(left), Node::Leaf(right)) => left.append(right),
            (Node::Branch(left), Node::Branch(right)) => left.append(&separator, right),
            _ => unreachable!("neighbours are of one height"),
        }
    }

    fn append(&mut self, separator: &[u8], right: &Branch) {
        let children_len = self.children_len();
        self.separators.insert(self.separators.len(), separator);
        self.separators.append(&right.separators);
        self.children[children_len..][..right.children_len()]
            .clone_from_slice(&right.children[..right.children_len()]);
    }
}

impl Node {
    fn is_empty(&self) -> bool {
        match self {
            Node::Branch(branch) => branch.children_len() == 0,
            Node::Leaf(leaf) => leaf.len() == 0,
        }
    }

    fn fits_with(&self, right: &Node) -> bool {
        match (self, right) {
            (Node::Leaf(left), Node::Leaf(right)) => {
                left.len() + right.len() <= LEAF_KEYS_MAX / 2
                    && left.bytes_len() + right.bytes_len() <= LEAF_BYTES_MAX / 2
            }
            (Node::Branch(left), Node::Branch(right)) => {
                left.children_len() + right.children_len() <= FAN / 2
            }
            _ => unreachable!("neighbours are of one height"),
        }
    }
}

// Inserts a key that is missing. `is_last` says that `node` is at the right end of the tree.
fn insert(node: &mut Arc<Node>, path: &[u8], at: usize, key: &[u8], is_last: bool) -> Option<Split> {
    match Arc::make_mut(node) {
        Node::Leaf(leaf) if leaf_has_room(leaf, key) => {
            leaf.insert(at, key);
            None
        }
        Node::Leaf(leaf) => Some(split_leaf(leaf, at, key, is_last)),
        Node::Branch(branch) => {
            let index = usize::from(path[0]);
            let children_len = branch.children_len();
            let is_last = is_last && index + 1 == children_len;
            let split = insert(branch.child_mut(index), &path[1..], at, key, is_last)?;
            if children_len < FAN {
                branch.insert(index, split);
                return None;
            }
            Some(branch.insert_and_split(index, split, is_last))
        }
    }
}

fn split_leaf(leaf: &mut Leaf, at: usize, key: &[u8], is_last: bool) -> Split {
    // Keys that arrive in order leave full leaves behind.
    let middle = if is_last && at == leaf.len() { at } else { leaf.middle() };
    let mut right = leaf.split_off(middle);
    if at < middle {
        leaf.insert(at, key);
    } else {
        right.insert(at - middle, key);
    }
    let (last, first) = (leaf.last(), right.get(0));
    Split {
        separator: separator_between(last.expect("a split leaves keys on both sides"), first),
        right: Arc::new(Node::Leaf(right)),
    }
}

// Removes the key at the end of `path`.
fn remove(node: &mut Arc<Node>, path: &[u8], at: usize) {
    match Arc::make_mut(node) {
        Node::Leaf(leaf) => leaf.remove(at),
        Node::Branch(branch) => {
            let index = usize::from(path[0]);
            remove(branch.child_mut(index), &path[1..], at);
            branch.refill(index);
        }
    }
}

// The level above `level`, in which each node but the last is full.
fn branches_over(level: Vec<Split>) -> Vec<Split> {
    let mut above: Vec<Split> = Vec::with_capacity(level.len().div_ceil(FAN));
    let mut branch = Branch::empty();
    let mut first_separator = Vec::new();
    for child in level {
        if branch.children_len() == FAN {
            above.push(Split {
                separator: std::mem::take(&mut first_separator),
                right: Arc::new(Node::Branch(std::mem::replace(&mut branch, Branch::empty()))),
            });
        }
        if branch.children_len() == 0 {
            first_separator = child.separator;
            branch.children[0] = Some(child.right);
        } else {
            branch.insert(branch.separators.len(), child);
        }
    }
    above.push(Split { separator: first_separator, right: Arc::new(Node::Branch(branch)) });
    above
}

fn leaf_has_room(leaf: &Leaf, key: &[u8]) -> bool {
    leaf.len() < LEAF_KEYS_MAX && leaf.bytes_len() + key.len() <= LEAF_BYTES_MAX
}

// The shortest string that is greater than `left` and not greater than `right`.
fn separator_between(left: &[u8], right: &[u8]) -> Vec<u8> {
    right[..=run::common_len(left, right)].to_vec()
}

fn assert_bounded(key: &[u8]) {
    assert!(key.len() <= KEY_BYTES_MAX, "a key has {} bytes, at most {KEY_BYTES_MAX} are allowed", key.len());
}
