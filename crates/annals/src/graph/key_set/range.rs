//! Walks the keys between two bounds from either end.

use std::ops::Bound;

use super::{Branch, HEIGHT_MAX, Leaf, Node};

/// The keys of a range, borrowed from the set. Made by [`KeySet::range`](super::KeySet::range).
///
/// Shape: ascending from the front, descending from the back; a key comes from one end only.
#[derive(Clone)]
pub(crate) struct Range<'a> {
    // `None` when the bounds exclude everything.
    ends: Option<(Cursor<'a>, Cursor<'a>)>,
}

// A place between two keys: before the key at `at` of `leaf`, which may be behind the last one.
#[derive(Clone)]
struct Cursor<'a> {
    leaf: &'a Leaf,
    at: usize,
    height: usize,
    // The inner nodes above the leaf, from the root down, each with the index of the child that was taken.
    path: [Option<(&'a Node, usize)>; HEIGHT_MAX],
}

impl<'a> Range<'a> {
    pub(super) fn new(root: &'a Node, from: Bound<&[u8]>, to: Bound<&[u8]>) -> Range<'a> {
        if is_crossed(from, to) {
            return Range { ends: None };
        }
        let front = Cursor::seek(root, |branch| branch.edge(from, 0), |leaf| first_place(leaf, from));
        // Most ranges are short. When the leaf of the front reaches behind the end, a second way down is not needed.
        let ends_here = match to {
            Bound::Included(key) | Bound::Excluded(key) => front.leaf.last().is_some_and(|last| last > key),
            Bound::Unbounded => false,
        };
        let back = if ends_here {
            Cursor { at: last_place(front.leaf, to), ..front.clone() }
        } else {
            Cursor::seek(
                root,
                |branch| branch.edge(to, branch.children_len() - 1),
                |leaf| last_place(leaf, to),
            )
        };
        Range { ends: Some((front, back)) }
    }
}

impl<'a> Iterator for Range<'a> {
    type Item = &'a [u8];

    #[inline]
    fn next(&mut self) -> Option<&'a [u8]> {
        let (front, back) = self.ends.as_mut()?;
        loop {
            let end = if std::ptr::eq(front.leaf, back.leaf) { back.at } else { front.leaf.len() };
            if front.at < end {
                front.at += 1;
                return Some(front.leaf.get(front.at - 1));
            }
            if std::ptr::eq(front.leaf, back.leaf) {
                return None;
            }
            front.move_to_next_leaf();
        }
    }

    // A leaf at a time.
    #[inline]
    fn fold<B, F: FnMut(B, &'a [u8]) -> B>(self, init: B, mut f: F) -> B {
        let Some((mut front, back)) = self.ends else { return init };
        let mut folded = init;
        loop {
            let is_last = std::ptr::eq(front.leaf, back.leaf);
            let end = if is_last { back.at } else { front.leaf.len() };
            folded = (front.at..end).fold(folded, |folded, index| f(folded, front.leaf.get(index)));
            if is_last {
                return folded;
            }
            front.move_to_next_leaf();
        }
    }
}

impl<'a> DoubleEndedIterator for Range<'a> {
    #[inline]
    fn next_back(&mut self) -> Option<&'a [u8]> {
        let (front, back) = self.ends.as_mut()?;
        loop {
            let start = if std::ptr::eq(front.leaf, back.leaf) { front.at } else { 0 };
            if start < back.at {
                back.at -= 1;
                return Some(back.leaf.get(back.at));
            }
            if std::ptr::eq(front.leaf, back.leaf) {
                return None;
            }
            back.move_to_previous_leaf();
        }
    }
}

impl std::iter::FusedIterator for Range<'_> {}

impl<'a> Cursor<'a> {
    // Goes down from the root; the two functions choose the child of a branch and the place in the leaf.
    #[inline]
    fn seek(
        root: &'a Node,
        child_of: impl Fn(&Branch) -> usize,
        place_in: impl Fn(&Leaf) -> usize,
    ) -> Cursor<'a> {
        let mut path = [None; HEIGHT_MAX];
        let mut height = 0;
        let mut node = root;
        loop {
            match node {
                Node::Leaf(leaf) => {
                    let at = place_in(leaf);
                    return Cursor { leaf, at, height, path };
                }
                inner => {
                    let index = child_of(inner.branch());
                    path[height] = Some((inner, index));
                    height += 1;
                    node = inner.child(index);
                }
            }
        }
    }

    #[cold]
    fn move_to_next_leaf(&mut self) {
        let turn = self.path[..self.height]
            .iter()
            .rposition(|step| step.is_some_and(|(inner, index)| index + 1 < inner.branch().children_len()))
            .expect("the back lies in a leaf further on");
        let (inner, index) = self.path[turn].expect(WALKED);
        self.path[turn] = Some((inner, index + 1));
        self.descend(turn, |_| 0);
        self.at = 0;
    }

    #[cold]
    fn move_to_previous_leaf(&mut self) {
        let turn = self.path[..self.height]
            .iter()
            .rposition(|step| step.is_some_and(|(_, index)| index > 0))
            .expect("the front lies in an earlier leaf");
        let (inner, index) = self.path[turn].expect(WALKED);
        self.path[turn] = Some((inner, index - 1));
        self.descend(turn, |branch| branch.children_len() - 1);
        self.at = self.leaf.len();
    }

    // Renews the path below the branch at `turn`.
    fn descend(&mut self, turn: usize, child_of: impl Fn(&Branch) -> usize) {
        for level in turn..self.height {
            let (inner, index) = self.path[level].expect(WALKED);
            match inner.child(index) {
                Node::Leaf(leaf) => self.leaf = leaf,
                below => self.path[level + 1] = Some((below, child_of(below.branch()))),
            }
        }
    }
}

const WALKED: &str = "a path is set down to its height";

impl Branch {
    // The child in which `bound` lies; the child at `open` if there is no bound.
    fn edge(&self, bound: Bound<&[u8]>, open: usize) -> usize {
        match bound {
            Bound::Included(key) | Bound::Excluded(key) => self.child_index(key),
            Bound::Unbounded => open,
        }
    }
}

// The place before the first key that `from` lets in.
fn first_place(leaf: &Leaf, from: Bound<&[u8]>) -> usize {
    match from {
        Bound::Included(key) => leaf.search(key).unwrap_or_else(|at| at),
        Bound::Excluded(key) => leaf.search(key).map_or_else(|at| at, |at| at + 1),
        Bound::Unbounded => 0,
    }
}

// The place behind the last key that `to` lets in.
fn last_place(leaf: &Leaf, to: Bound<&[u8]>) -> usize {
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
