//! Holds elements by dense index in a tree whose parts are shared between snapshots.
#![expect(clippy::expect_used, reason = "callers ask below the length, and a tail to change is owned")]

use std::ops::{Index, IndexMut};
use std::slice;
use std::sync::Arc;

#[cfg(test)]
mod tests;
mod tree;

use tree::{LEAF_LEN, Leaf, Tree};

const EXISTS: &str = "the caller asks only for elements below the length";

/// A persistent vector: a clone costs two reference counts, and a change copies only what a clone still shares.
///
/// Shape: dense, indexed from 0. Elements are added at the end and replaced in place, never removed.
/// Units: the first change of an element after a clone copies one leaf of 32 elements and one node per level;
/// further changes nearby are in place.
/// Source: the tree with a tail of Bagwell and Rompf, <https://infoscience.epfl.ch/record/169879>.
#[derive(Clone)]
pub(crate) struct Vector<T> {
    // Number of elements in the tree. Invariant: whole leaves.
    tail_start: usize,
    tree: Tree<T>,
    // Invariant: fewer than `LEAF_LEN`.
    tail: Arc<Vec<T>>,
}

/// The elements of a [`Vector`] in order of their index.
pub(crate) struct Iter<'a, T> {
    vector: &'a Vector<T>,
    leaf: slice::Iter<'a, T>,
    // The index of the first element after `leaf`.
    leaf_end: usize,
}

impl<T: Clone> Vector<T> {
    /// An empty vector.
    pub(crate) fn new() -> Vector<T> {
        Vector { tail_start: 0, tree: Tree::new(), tail: Arc::new(Vec::new()) }
    }

    /// Counts the elements.
    pub(crate) fn len(&self) -> usize {
        self.tail_start + self.tail.len()
    }

    /// The element at `index`, or `None` from `len` on.
    #[inline(always)]
    pub(crate) fn get(&self, index: usize) -> Option<&T> {
        if index < self.tail_start {
            return Some(&self.tree.leaf(index)[index % LEAF_LEN]);
        }
        self.tail.get(index - self.tail_start)
    }

    /// The element at `index`, mutable, or `None` from `len` on. Copies what a clone still shares.
    pub(crate) fn get_mut(&mut self, index: usize) -> Option<&mut T> {
        if index >= self.tail_start {
            let at = index - self.tail_start;
            // Checking first keeps a miss from copying the tail.
            self.tail.get(at)?;
            return Arc::make_mut(&mut self.tail).get_mut(at);
        }
        Some(&mut self.tree.leaf_mut(index)[index % LEAF_LEN])
    }

    /// Replaces the element at `index`, which must be below `len`.
    pub(crate) fn set(&mut self, index: usize, value: T) {
        self[index] = value;
    }

    /// The element at `index`, mutable, after as many `empty` ones were added as it takes.
    pub(crate) fn grown_to(&mut self, index: usize, empty: impl Fn() -> T) -> &mut T {
        while self.len() <= index {
            self.push(empty());
        }
        &mut self[index]
    }

    /// Adds an element at the end.
    pub(crate) fn push(&mut self, value: T) {
        let tail = self.tail_mut();
        tail.push(value);
        if tail.len() == LEAF_LEN {
            self.move_tail_into_tree();
        }
    }

    /// All elements in order of their index.
    pub(crate) fn iter(&self) -> Iter<'_, T> {
        self.iter_from(0)
    }

    /// The elements from `index` on, in order; none if `index` is at or after the end.
    pub(crate) fn iter_from(&self, index: usize) -> Iter<'_, T> {
        let index = index.min(self.len());
        let leaf = self.leaf_slice(index);
        Iter {
            vector: self,
            leaf: leaf[index % LEAF_LEN..].iter(),
            leaf_end: index - index % LEAF_LEN + leaf.len(),
        }
    }

    // The tail, mutable: a copy has room for a whole leaf, unless there is no leaf yet, because many vectors have few
    // elements.
    fn tail_mut(&mut self) -> &mut Vec<T> {
        if Arc::get_mut(&mut self.tail).is_none_or(|tail| tail.len() == tail.capacity()) {
            let room =
                if self.tail_start == 0 { (self.tail.len() + 1).next_power_of_two() } else { LEAF_LEN };
            let mut copy = Vec::with_capacity(room);
            copy.extend_from_slice(&self.tail);
            self.tail = Arc::new(copy);
        }
        Arc::get_mut(&mut self.tail).expect("made its own above")
    }

    fn move_tail_into_tree(&mut self) {
        let full = std::mem::take(Arc::make_mut(&mut self.tail));
        let leaf: Arc<[T]> = Arc::from(full);
        let leaf: Arc<Leaf<T>> =
            leaf.try_into().ok().expect("the tail moves when it has the length of a leaf");
        self.tree.push(self.tail_start, leaf);
        self.tail_start += LEAF_LEN;
    }

    // The elements of the leaf, or of the tail, at `index`.
    fn leaf_slice(&self, index: usize) -> &[T] {
        if index >= self.tail_start { &self.tail } else { self.tree.leaf(index) }
    }
}

impl<T: Clone> Index<usize> for Vector<T> {
    type Output = T;

    #[inline(always)]
    fn index(&self, index: usize) -> &T {
        self.get(index).expect(EXISTS)
    }
}

impl<T: Clone> IndexMut<usize> for Vector<T> {
    fn index_mut(&mut self, index: usize) -> &mut T {
        self.get_mut(index).expect(EXISTS)
    }
}

impl<T: Clone> Default for Vector<T> {
    fn default() -> Vector<T> {
        Vector::new()
    }
}

impl<T: Clone> Extend<T> for Vector<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, values: I) {
        let mut values = values.into_iter();
        loop {
            // A leaf at a time, because checking whether the tail is shared costs more than adding an element.
            let tail = self.tail_mut();
            let room = LEAF_LEN - tail.len();
            tail.extend(values.by_ref().take(room));
            if tail.len() < LEAF_LEN {
                return;
            }
            self.move_tail_into_tree();
        }
    }
}

impl<T: Clone> FromIterator<T> for Vector<T> {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Vector<T> {
        let mut vector = Vector::new();
        vector.extend(values);
        vector
    }
}

impl<'a, T: Clone> Iterator for Iter<'a, T> {
    type Item = &'a T;

    #[inline]
    fn next(&mut self) -> Option<&'a T> {
        loop {
            if let Some(element) = self.leaf.next() {
                return Some(element);
            }
            if self.leaf_end >= self.vector.len() {
                return None;
            }
            let leaf = self.vector.leaf_slice(self.leaf_end);
            self.leaf_end += leaf.len();
            self.leaf = leaf.iter();
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let remaining = self.leaf.len() + self.vector.len() - self.leaf_end;
        (remaining, Some(remaining))
    }
}

impl<T: Clone> ExactSizeIterator for Iter<'_, T> {}
