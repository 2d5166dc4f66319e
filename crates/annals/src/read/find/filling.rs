//! Fills a page, one instance after the other.

use super::run::{Hits, Search};
use crate::model::TypeKind;
use crate::read::held::Held;
use crate::read::snapshot::Snapshot;
use crate::read::stored::Weighing;

/// Pages of more instances make room as they find them.
const ITEMS_RESERVED_MAX: usize = 1_000;

/// A page that is being filled.
pub(super) struct Filling<'s, T> {
    snapshot: &'s Snapshot,
    kind: TypeKind,
    limit: usize,
    /// How many come before the page.
    offset: usize,
    weighing: Weighing,
    /// True if nothing more has room on it.
    is_full: bool,
    items: Vec<T>,
    /// The place of the last one on it.
    last: Option<Vec<u8>>,
    has_more: bool,
}

impl<'s, T> Filling<'s, T> {
    /// The page that a search asks for.
    pub(super) fn new(search: &Search<'s, '_>) -> Filling<'s, T> {
        let (snapshot, kind, find) = (search.snapshot, search.kind, search.find);
        Filling {
            snapshot,
            kind,
            limit: find.limit,
            offset: find.offset,
            weighing: Weighing::new(snapshot, kind, find.limit, find.bytes_max),
            is_full: false,
            items: Vec::with_capacity(find.limit.min(ITEMS_RESERVED_MAX)),
            last: None,
            has_more: false,
        }
    }

    /// Leaves out so many that come before the page.
    pub(super) fn skip(&mut self, count: usize) {
        self.offset -= count;
    }

    /// Takes the next one in the order; `place` tells where that is. True if it stands behind the page.
    pub(super) fn take(
        &mut self,
        slot: u32,
        held: Held,
        place: impl FnOnce(&Held) -> Vec<u8>,
        make: impl Fn(u32, Held) -> T,
    ) -> bool {
        if self.offset > 0 {
            self.offset -= 1;
            return false;
        }
        if self.is_full || self.items.len() == self.limit {
            self.has_more = true;
            return true;
        }
        self.is_full = self.weighing.is_full_with(self.snapshot, self.kind, slot, &held);
        if self.is_full || self.items.len() + 1 == self.limit {
            self.last = Some(place(&held));
        }
        self.items.push(make(slot, held));
        false
    }

    pub(super) fn finish(self) -> Hits<T> {
        Hits { items: self.items, last: self.last.filter(|_| self.has_more) }
    }
}
