//! The keys of an index within bounds, in either direction.

use std::ops::Bound as Edge;

use super::bounds::Bounds;
use crate::structures::key_set::{Key, KeySet, Piece, Range};

/// The keys of a set from one place on, in one direction. The end is found during the walk: most pages end before, and
/// so need no look-up of the end.
pub(in crate::read) struct Directed<'d, 'g> {
    range: Range<'g>,
    is_descending: bool,
    // The first key after the range; descending, the last key in it.
    until: Option<&'d [u8]>,
    peeked: Option<Key<'g>>,
}

impl<'d, 'g> Directed<'d, 'g> {
    /// Starts after the key of a cursor, if it is within the bounds: a foreign one may not be.
    pub(in crate::read) fn new(
        set: &'g KeySet,
        bounds: &'d Bounds,
        after: Option<&[u8]>,
        is_descending: bool,
    ) -> Directed<'d, 'g> {
        let (low, high) = (bounds.low(), bounds.high.as_deref());
        let (from, until) = if is_descending {
            let after = after.filter(|after| high.is_none_or(|high| *after <= high));
            (after.or(high).map_or(Edge::Unbounded, Edge::Excluded), low)
        } else {
            let after = after.filter(|after| low.is_none_or(|low| *after >= low));
            (after.map_or(bounds.edges().0, Edge::Excluded), high)
        };
        let (low, high) = if is_descending { (Edge::Unbounded, from) } else { (from, Edge::Unbounded) };
        Directed { range: set.range(low, high), is_descending, until, peeked: None }
    }

    /// All keys of a range, ascending.
    pub(in crate::read) fn of_range(range: Range<'g>) -> Directed<'d, 'g> {
        Directed { range, is_descending: false, until: None, peeked: None }
    }

    /// The next keys, at most `count`, that lie side by side and come before those that begin with one of `edges`. `None`
    /// if there are none: then [`Directed::next`] gives the next key.
    pub(in crate::read) fn next_piece(&mut self, count: usize, edges: &[Vec<u8>]) -> Option<Piece<'g>> {
        if self.peeked.is_some() {
            return None;
        }
        let is_back = self.is_descending;
        let mut piece = self.range.ahead(is_back)?;
        if let Some(until) = self.until {
            piece = if is_back { piece.not_before(until) } else { piece.before(until) };
        }
        for edge in edges {
            piece = piece.up_to_prefix(edge, is_back);
        }
        let piece = piece.some(count, is_back);
        self.range.pass(piece.len(), is_back);
        (!piece.is_empty()).then_some(piece)
    }

    #[inline(always)] // As `Values::next_key`.
    pub(in crate::read) fn next(&mut self) -> Option<Key<'g>> {
        if self.peeked.is_some() {
            return self.peeked.take();
        }
        let key = if self.is_descending { self.range.next_back() } else { self.range.next() };
        key.filter(|key| is_before(*key, self.until, self.is_descending))
    }

    pub(in crate::read) fn peek(&mut self) -> Option<Key<'g>> {
        self.peeked = self.next();
        self.peeked
    }
}

/// True if a key comes before the end of a walk.
#[inline]
fn is_before(key: Key, until: Option<&[u8]>, is_descending: bool) -> bool {
    until.is_none_or(|until| (key < *until) != is_descending)
}
