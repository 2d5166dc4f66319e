//! Page: the instances after an offset, up to a number of instances and of bytes.

use crate::graph::instance::row::SHORT_BYTES_MAX;
use crate::model::TypeKind;
use crate::read::cursor;
use crate::read::operators::fetch::push_handle;
use crate::read::past::held::Held;
use crate::read::snapshot::Snapshot;
use crate::read::stored::stored_bytes;
use crate::search::PAGE_BYTES_MAX;

/// Longer pages grow as instances are found.
const ITEMS_RESERVED_MAX: usize = 1_000;

/// A page of results.
#[derive(Debug)]
pub struct Page<T> {
    /// The results, in order.
    pub items: Vec<T>,
    /// Where the next page starts; `None` on the last page.
    pub next: Option<String>,
}

/// The instances of a page.
pub(in crate::read) struct Hits<T> {
    pub(in crate::read) items: Vec<T>,
    /// The place of the last one, if there are more.
    pub(in crate::read) last: Option<Vec<u8>>,
}

impl<T> Hits<T> {
    /// The page, whose cursor belongs to the order with this number.
    pub(in crate::read) fn into_page(self, snapshot: &Snapshot, order: u32) -> Page<T> {
        let next = self.last.map(|last| cursor::encode(snapshot, order, &last));
        Page { items: self.items, next }
    }
}

/// The bounds of a page.
#[derive(Clone, Copy)]
pub(in crate::read) struct Size {
    /// Number of instances to skip before it.
    pub(in crate::read) offset: usize,
    pub(in crate::read) limit: usize,
    /// Units: bytes, as stored.
    pub(in crate::read) bytes_max: usize,
}

/// The bound of a page in bytes, and the bytes so far. Units: bytes, as stored.
struct Weighing {
    is_needed: bool,
    bytes: usize,
    bytes_max: usize,
}

impl Weighing {
    /// For a page of at most `limit` instances. With the default bound, only handles with their own memory count; with
    /// a smaller bound, all count if a page can exceed it.
    fn new(snapshot: &Snapshot, kind: TypeKind, limit: usize, bytes_max: usize) -> Weighing {
        let table = snapshot.graph().table(kind);
        let are_heavy = snapshot.view().is_some() || table.spill.is_used();
        let may_exceed = table.has_long || limit.saturating_mul(SHORT_BYTES_MAX) > bytes_max;
        let is_needed = are_heavy || may_exceed && bytes_max < PAGE_BYTES_MAX;
        Weighing { is_needed, bytes: 0, bytes_max }
    }

    /// Adds an instance to the page; true if the page is full with it.
    #[inline]
    fn is_full_with(&mut self, snapshot: &Snapshot, kind: TypeKind, slot: u32, held: &Held) -> bool {
        if !self.is_needed {
            return false;
        }
        self.bytes = self.bytes.saturating_add(stored_bytes(snapshot.row(kind, slot, held)));
        self.bytes >= self.bytes_max
    }
}

/// A page in progress.
pub(in crate::read) struct Filling<'s, T> {
    snapshot: &'s Snapshot,
    kind: TypeKind,
    limit: usize,
    /// Number of instances to skip before the page.
    offset: usize,
    weighing: Weighing,
    /// True if the page has no more room.
    is_full: bool,
    items: Vec<T>,
    /// The place of its last instance.
    last: Option<Vec<u8>>,
    has_more: bool,
}

impl<'s, T> Filling<'s, T> {
    /// An empty page, for at most this many.
    pub(in crate::read) fn new(
        snapshot: &'s Snapshot,
        kind: TypeKind,
        Size { offset, limit, bytes_max }: Size,
    ) -> Filling<'s, T> {
        Filling {
            snapshot,
            kind,
            limit,
            offset,
            weighing: Weighing::new(snapshot, kind, limit, bytes_max),
            is_full: false,
            items: Vec::with_capacity(limit.min(ITEMS_RESERVED_MAX)),
            last: None,
            has_more: false,
        }
    }

    /// Adds the next instance in the order; `place` returns its place. True if it comes after the page.
    #[inline]
    pub(in crate::read) fn add(
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
        push_handle(&mut self.items, held, |held| make(slot, held));
        false
    }

    /// The number of instances that [`Filling::add_together`] takes; zero if each must be weighed.
    pub(in crate::read) fn room(&self) -> usize {
        if self.weighing.is_needed { 0 } else { self.offset.saturating_add(self.limit - self.items.len()) }
    }

    /// Adds the next instances in the order, all of them in force, for which there is room; `place` returns the place of the
    /// last one.
    pub(in crate::read) fn add_together(
        &mut self,
        slots: &[u32],
        place: impl FnOnce() -> Vec<u8>,
        make: impl Fn(u32, Held) -> T,
    ) {
        let skipped = self.offset.min(slots.len());
        self.offset -= skipped;
        let slots = &slots[skipped..];
        self.items.extend(slots.iter().map(|slot| make(*slot, Held::InForce)));
        if self.items.len() == self.limit && !slots.is_empty() {
            self.last = Some(place());
        }
    }

    pub(in crate::read) fn finish(self) -> Hits<T> {
        Hits { items: self.items, last: self.last.filter(|_| self.has_more) }
    }
}
