//! Walks the keys between two bounds from either end.

use std::ops::Bound;

use super::node::HEIGHT_MAX;
use super::piece::Piece;
use super::run::Keys;
use super::set_key::Key;
use super::{Branch, FAN, Node};
use crate::structures::number::narrow;

/// The keys of a range, borrowed from the set. Made by [`KeySet::range`](super::KeySet::range).
///
/// Shape: ascending from the front, descending from the back; each key is returned once.
#[derive(Clone)]
pub(crate) struct Range<'a> {
    // `None` when the bounds exclude everything.
    ends: Option<(Cursor<'a>, Cursor<'a>)>,
}

// A place between two keys: before the key at `at` of `leaf`, or after the last one.
#[derive(Clone, Copy)]
struct Cursor<'a> {
    leaf: Keys<'a>,
    at: usize,
    root: &'a Node,
    height: u8,
    // The index of the child in each inner node above the leaf, from the root down. The nodes are not stored: ranges
    // are moved more often than they reach the end of a leaf.
    path: Indexes,
}

/// The index of the child at each level, packed into one number: writing it byte by byte and then moving it as a whole
/// would make the processor wait.
#[derive(Clone, Copy)]
struct Indexes(u64);

const INDEX_BITS: usize = FAN.ilog2() as usize;
const _: () = assert!(FAN.is_power_of_two() && HEIGHT_MAX * INDEX_BITS <= u64::BITS as usize);

impl Indexes {
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the rest is in the lowest bits, which a cast keeps")]
    fn get(self, level: usize) -> usize {
        (self.0 >> (level * INDEX_BITS)) as usize % FAN
    }

    #[inline]
    fn set(&mut self, level: usize, index: usize) {
        let others = !((FAN as u64 - 1) << (level * INDEX_BITS));
        self.0 = self.0 & others | (index as u64) << (level * INDEX_BITS);
    }
}

impl<'a> Range<'a> {
    pub(super) fn new(root: Option<&'a Node>, from: Bound<&[u8]>, to: Bound<&[u8]>) -> Range<'a> {
        let Some(root) = root.filter(|_| !is_crossed(from, to)) else { return Range { ends: None } };
        // Both paths down together: both wait for the same nodes.
        let (mut front, mut back) = (Way::from(root), Way::from(root));
        let ends = loop {
            match (front.node, back.node) {
                (Node::Leaf(first), Node::Leaf(last)) => {
                    let (first, last) = (first.keys(), last.keys());
                    break (
                        front.cursor(root, first, first_place(first, from)),
                        back.cursor(root, last, last_place(last, to)),
                    );
                }
                (first, last) => {
                    let (first, last) = (first.branch(), last.branch());
                    front.descend(first.edge(from, 0));
                    back.descend(last.edge(to, last.children_len() - 1));
                }
            }
        };
        Range { ends: Some(ends) }
    }

    /// The next keys of one leaf, from the back if `is_back`; `None` at the end. They stay in the range until
    /// [`Range::pass`].
    pub(crate) fn ahead(&mut self, is_back: bool) -> Option<Piece<'a>> {
        let (front, back) = self.ends.as_mut()?;
        loop {
            let is_one = front.leaf.is(back.leaf);
            let (leaf, from, to) = match is_back {
                true => (back.leaf, if is_one { front.at } else { 0 }, back.at),
                false => (front.leaf, front.at, if is_one { back.at } else { front.leaf.len() }),
            };
            if from < to {
                return Some(Piece::of_leaf(leaf, from, to));
            }
            if is_one {
                return None;
            }
            match is_back {
                true => back.move_to_previous_leaf(),
                false => front.move_to_next_leaf(),
            }
        }
    }

    /// Removes the next `count` keys: not more than [`Range::ahead`] gave.
    pub(crate) fn pass(&mut self, count: usize, is_back: bool) {
        match &mut self.ends {
            Some((_, back)) if is_back => back.at -= count,
            Some((front, _)) => front.at += count,
            None => {}
        }
    }
}

impl<'a> Iterator for Range<'a> {
    type Item = Key<'a>;

    #[inline]
    fn next(&mut self) -> Option<Key<'a>> {
        let (front, back) = self.ends.as_mut()?;
        loop {
            let end = if front.leaf.is(back.leaf) { back.at } else { front.leaf.len() };
            if front.at < end {
                front.at += 1;
                return Some(front.leaf.get(front.at - 1));
            }
            if front.leaf.is(back.leaf) {
                return None;
            }
            front.move_to_next_leaf();
        }
    }

    // A leaf at a time.
    #[inline]
    fn fold<B, F: FnMut(B, Key<'a>) -> B>(self, init: B, mut f: F) -> B {
        let Some((mut front, back)) = self.ends else { return init };
        let mut folded = init;
        loop {
            let is_last = front.leaf.is(back.leaf);
            let end = if is_last { back.at } else { front.leaf.len() };
            folded = front.leaf.range(front.at..end).fold(folded, &mut f);
            if is_last {
                return folded;
            }
            front.move_to_next_leaf();
        }
    }
}

impl<'a> DoubleEndedIterator for Range<'a> {
    #[inline]
    fn next_back(&mut self) -> Option<Key<'a>> {
        let (front, back) = self.ends.as_mut()?;
        loop {
            let start = if front.leaf.is(back.leaf) { front.at } else { 0 };
            if start < back.at {
                back.at -= 1;
                return Some(back.leaf.get(back.at));
            }
            if front.leaf.is(back.leaf) {
                return None;
            }
            back.move_to_previous_leaf();
        }
    }
}

impl std::iter::FusedIterator for Range<'_> {}

impl<'a> Cursor<'a> {
    #[cold]
    fn move_to_next_leaf(&mut self) {
        let turn = self.turn(|node, index| index + 1 < node.branch().children_len());
        self.path.set(turn, self.path.get(turn) + 1);
        self.descend(turn, |_| 0);
        self.at = 0;
    }

    #[cold]
    fn move_to_previous_leaf(&mut self) {
        let turn = self.turn(|_, index| index > 0);
        self.path.set(turn, self.path.get(turn) - 1);
        self.descend(turn, |branch| branch.children_len() - 1);
        self.at = self.leaf.len();
    }

    // The lowest inner node of the path that has a child further on.
    fn turn(&self, has_more: impl Fn(&Node, usize) -> bool) -> usize {
        let mut turn = None;
        let mut node = self.root;
        for level in 0..usize::from(self.height) {
            let index = self.path.get(level);
            if has_more(node, index) {
                turn = Some(level);
            }
            node = node.child(index);
        }
        turn.expect("the other end lies in a leaf further on")
    }

    // Goes down the path to the child of the branch at `turn`, and below it as `child_of` chooses.
    fn descend(&mut self, turn: usize, child_of: impl Fn(&Branch) -> usize) {
        let mut node = self.root;
        for level in 0..usize::from(self.height) {
            if level > turn {
                self.path.set(level, child_of(node.branch()));
            }
            node = node.child(self.path.get(level));
        }
        match node {
            Node::Leaf(leaf) => self.leaf = leaf.keys(),
            _ => unreachable!("paths end at leaves"),
        }
    }
}

// The path down from the root so far.
struct Way<'a> {
    node: &'a Node,
    height: usize,
    path: Indexes,
}

impl<'a> Way<'a> {
    fn from(root: &'a Node) -> Way<'a> {
        Way { node: root, height: 0, path: Indexes(0) }
    }

    #[inline]
    fn descend(&mut self, index: usize) {
        self.path.set(self.height, index);
        self.height += 1;
        self.node = self.node.child(index);
    }

    #[inline]
    fn cursor(self, root: &'a Node, leaf: Keys<'a>, at: usize) -> Cursor<'a> {
        Cursor { leaf, at, root, height: narrow(self.height), path: self.path }
    }
}

impl Branch {
    // The child that contains `bound`; the child at `open` if there is no bound.
    fn edge(&self, bound: Bound<&[u8]>, open: usize) -> usize {
        match bound {
            Bound::Included(key) | Bound::Excluded(key) => self.child_index(key),
            Bound::Unbounded => open,
        }
    }
}

// The place before the first key that `from` includes.
fn first_place(leaf: Keys, from: Bound<&[u8]>) -> usize {
    match from {
        Bound::Included(key) => leaf.search(key).unwrap_or_else(|at| at),
        Bound::Excluded(key) => leaf.search(key).map_or_else(|at| at, |at| at + 1),
        Bound::Unbounded => 0,
    }
}

// The place after the last key that `to` includes.
fn last_place(leaf: Keys, to: Bound<&[u8]>) -> usize {
    match to {
        Bound::Included(key) => leaf.search(key).map_or_else(|at| at, |at| at + 1),
        Bound::Excluded(key) => leaf.search(key).unwrap_or_else(|at| at),
        Bound::Unbounded => leaf.len(),
    }
}

// Whether no key can lie between the bounds.
fn is_crossed(from: Bound<&[u8]>, to: Bound<&[u8]>) -> bool {
    match (from, to) {
        (Bound::Included(from), Bound::Included(to)) => from > to,
        (Bound::Included(from) | Bound::Excluded(from), Bound::Included(to) | Bound::Excluded(to)) => {
            from >= to
        }
        _ => false,
    }
}
