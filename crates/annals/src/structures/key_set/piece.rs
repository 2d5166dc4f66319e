//! Keys of a range that lie side by side in one leaf, so that they are read without asking after each whether there is more.

use super::run::Keys;
use super::set_key::Key;

/// Some keys of one leaf. Made by [`Range::ahead`](super::Range::ahead).
#[derive(Clone, Copy)]
pub(crate) struct Piece<'a> {
    leaf: Keys<'a>,
    from: usize,
    to: usize,
}

impl<'a> Piece<'a> {
    #[inline]
    pub(super) fn of_leaf(leaf: Keys<'a>, from: usize, to: usize) -> Piece<'a> {
        Piece { leaf, from, to }
    }

    #[inline]
    pub(crate) fn len(self) -> usize {
        self.to - self.from
    }

    #[inline]
    pub(crate) fn is_empty(self) -> bool {
        self.to == self.from
    }

    /// The keys, ascending; `rev` makes it descending.
    #[inline]
    pub(crate) fn keys(self) -> impl DoubleEndedIterator<Item = Key<'a>> {
        self.leaf.range(self.from..self.to)
    }

    /// The first `count` of them, or the last if `is_back`.
    #[inline]
    pub(crate) fn some(self, count: usize, is_back: bool) -> Piece<'a> {
        let count = count.min(self.len());
        match is_back {
            true => Piece { from: self.to - count, ..self },
            false => Piece { to: self.from + count, ..self },
        }
    }

    /// Those that are not less than `key`.
    pub(crate) fn not_before(self, key: &[u8]) -> Piece<'a> {
        Piece { from: self.place(key), ..self }
    }

    /// Those that are less than `key`.
    pub(crate) fn before(self, key: &[u8]) -> Piece<'a> {
        Piece { to: self.place(key), ..self }
    }

    /// Those before the first key that begins with `prefix`; or those behind the last such key, if `is_back`.
    pub(crate) fn up_to_prefix(self, prefix: &[u8], is_back: bool) -> Piece<'a> {
        let begins = |at: usize| self.leaf.get(at).starts_with(prefix);
        let from = self.place(prefix);
        if from == self.to || !begins(from) {
            return self;
        }
        if !is_back {
            return Piece { to: from, ..self };
        }
        let (mut behind, mut end) = (from + 1, self.to);
        while behind < end {
            let middle = usize::midpoint(behind, end);
            if begins(middle) {
                behind = middle + 1;
            } else {
                end = middle;
            }
        }
        Piece { from: behind, ..self }
    }

    // Where the keys begin that are not less than `key`.
    fn place(self, key: &[u8]) -> usize {
        self.leaf.search(key).unwrap_or_else(|at| at).clamp(self.from, self.to)
    }
}
