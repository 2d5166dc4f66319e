//! Sort: the total order of results: the keys of the order, and then age. It does not depend on the plan, so another
//! plan can continue a page.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use smallvec::{SmallVec, smallvec};

use crate::Result;
use crate::graph::index::key::{append_id, for_each_indexed};
use crate::graph::structures::symbols::Symbol;
use crate::model::{Id, Instant, TypeKind, Value, append_index_key, append_order_key};
use crate::read::operators::filter::subject::Subject;
use crate::read::operators::filter::test::Test;
use crate::read::operators::scan::bounds::Bounds;
use crate::read::past::held::Held;
use crate::read::snapshot::Snapshot;
use crate::search::{Field, Find, Header, Operator, Order, OrderBy, check_order};

/// Precedes the key of an instance with the field, or marks a missing field: instances without it come last in both
/// directions.
pub(in crate::read) const PRESENT: u8 = 1;
pub(in crate::read) const ABSENT: u8 = 2;

// The kind of a key of an order, in its number.
const PROPERTY: u8 = 1;
const HEADER: u8 = 2;

/// One key of the order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::read) enum Key {
    /// Without a symbol, no instance ever had a property of this name.
    Property(Option<Symbol>),
    Header(Header),
}

pub(in crate::read) struct Sorting {
    pub(in crate::read) keys: SmallVec<[(Key, bool); 1]>,
    /// Distinguishes the cursors of different orders.
    pub(in crate::read) number: u32,
}

impl Sorting {
    /// The order of a search; without one, an order derived from its conditions only, not from the data.
    pub(in crate::read) fn of(snapshot: &Snapshot, find: &Find, test: &Test) -> Sorting {
        if find.order.is_empty()
            && let Some(property) = ranged_property(snapshot, test)
        {
            let number = numbered(0, PROPERTY, snapshot.graph().names.name(property), false);
            return Sorting { keys: smallvec![(Key::Property(Some(property)), false)], number };
        }
        Sorting::by(snapshot, &find.order)
    }

    /// The order by these keys.
    pub(in crate::read) fn by(snapshot: &Snapshot, order: &[OrderBy]) -> Sorting {
        let names = &snapshot.graph().names;
        let mut number = 0;
        let mut keys = SmallVec::with_capacity(order.len());
        for sort in order {
            let is_descending = sort.order == Order::Descending;
            let (key, what, name) = match &sort.field {
                Field::Property(name) => (Key::Property(names.find(name)), PROPERTY, &**name),
                Field::Header(header) => (Key::Header(*header), HEADER, header.name()),
                Field::AnyText => continue,
            };
            number = numbered(number, what, name, is_descending);
            keys.push((key, is_descending));
        }
        Sorting { keys, number }
    }

    /// True if ids decide, so that nothing has to be read.
    pub(in crate::read) fn is_by_id(&self) -> bool {
        matches!(self.keys[..], [(Key::Header(Header::Id), _)])
    }

    /// Writes the place of an instance in an order by id.
    pub(in crate::read) fn write_id_key(&self, id: &Id, slot: u32, out: &mut Vec<u8>) {
        out.clear();
        out.push(PRESENT);
        append_id(id, out);
        if self.is_last_descending() {
            out[1..].iter_mut().for_each(|byte| *byte = !*byte);
        }
        append_slot(slot, self.is_last_descending(), out);
    }

    /// Writes the place of an instance in an order by one time. Units: microseconds since 1970.
    pub(in crate::read) fn write_time_key(&self, micros: i64, slot: u32, out: &mut Vec<u8>) {
        out.clear();
        out.push(PRESENT);
        append_index_key(&Value::Timestamp(Instant::from_checked_micros(micros)), out);
        if self.is_last_descending() {
            out[1..].iter_mut().for_each(|byte| *byte = !*byte);
        }
        append_slot(slot, self.is_last_descending(), out);
    }

    /// True if the youngest of equal instances comes first.
    pub(in crate::read) fn is_last_descending(&self) -> bool {
        self.keys.last().is_some_and(|(_, is_descending)| *is_descending)
    }

    /// Writes the place of an instance in the order. Shape: for each key 1 and the value, or 2; then the slot.
    pub(in crate::read) fn write_key(
        &self,
        snapshot: &Snapshot,
        kind: TypeKind,
        slot: u32,
        subject: Subject,
        out: &mut Vec<u8>,
    ) {
        out.clear();
        for (key, is_descending) in &self.keys {
            let start = out.len();
            out.push(PRESENT);
            match key {
                Key::Property(None) => {}
                Key::Property(Some(name)) => {
                    // An index has its own order for equal numbers of different kinds. Orders by several keys use no
                    // index, and there these numbers are equal.
                    let append = if self.keys.len() == 1 { append_index_key } else { append_order_key };
                    subject.with_property(snapshot, *name, |value| {
                        if let Some(value) = value {
                            append_sort_key(value, *is_descending, append, out);
                        }
                    });
                }
                Key::Header(Header::Id) => append_id(subject.id(snapshot, kind, slot), out),
                Key::Header(header) => {
                    if let Some(value) = subject.header(snapshot, *header) {
                        append_index_key(&value, out);
                    }
                }
            }
            if out.len() == start + 1 {
                out[start] = ABSENT;
            } else if *is_descending {
                out[start + 1..].iter_mut().for_each(|byte| *byte = !*byte);
            }
        }
        append_slot(slot, self.is_last_descending(), out);
    }
}

impl Snapshot {
    /// The order by these keys; `None` if there are none.
    ///
    /// Errors: `InvalidExpression` for free text; `TooLarge` for too many keys.
    pub(in crate::read) fn sorting(&self, order: &[OrderBy]) -> Result<Option<Sorting>> {
        check_order(order)?;
        Ok((!order.is_empty()).then(|| Sorting::by(self, order)))
    }

    /// The place of the instance at `slot`, in the version that this snapshot sees, deleted or not.
    ///
    /// Shape: bytes that compare in the order, and end with the slot.
    /// Errors: those of reading history; not for an order only by ids.
    pub(in crate::read) fn sort_key(&self, kind: TypeKind, slot: u32, sorting: &Sorting) -> Result<Vec<u8>> {
        let mut key = Vec::new();
        if sorting.is_by_id() {
            sorting.write_id_key(self.id_of(kind, slot), slot, &mut key);
            return Ok(key);
        }
        match self.seen(kind, slot, true)? {
            Some(Held::Read(version)) => {
                sorting.write_key(self, kind, slot, Subject::Read(kind, slot, version.row()), &mut key);
            }
            // An instance that a walk reached is in sight.
            Some(Held::InForce) | None => {
                sorting.write_key(self, kind, slot, Subject::InForce(kind, slot), &mut key)
            }
        }
        Ok(key)
    }
}

/// The number of an order with one more key: FNV-1a, which costs least for a few bytes. A name ends with a zero byte,
/// which no name contains.
fn numbered(before: u32, what: u8, name: &str, is_descending: bool) -> u32 {
    let bytes = name.bytes().chain([0, what, u8::from(is_descending)]);
    bytes.fold(before ^ 0x811C_9DC5, |number, byte| (number ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

/// Appends the slot, which ends every key.
pub(in crate::read) fn append_slot(slot: u32, is_descending: bool, out: &mut Vec<u8>) {
    let slot = if is_descending { !slot } else { slot };
    out.extend_from_slice(&slot.to_be_bytes());
}

/// The slot at the end of a key. A foreign cursor may have any bytes, but at least four.
pub(in crate::read) fn slot_of(key: &[u8], is_descending: bool) -> u32 {
    let bytes = key.last_chunk().copied().unwrap_or_default();
    let slot = u32::from_be_bytes(bytes);
    if is_descending { !slot } else { slot }
}

/// Appends the key of the smallest scalar of a value, or of the greatest.
fn append_sort_key(value: &Value, is_greatest: bool, append: fn(&Value, &mut Vec<u8>), out: &mut Vec<u8>) {
    let start = out.len();
    let mut own = Vec::new();
    for_each_indexed(value, |scalar| {
        own.clear();
        append(scalar, &mut own);
        let is_first = out.len() == start;
        if is_first || (own[..] > out[start..]) == is_greatest {
            out.truncate(start);
            out.extend_from_slice(&own);
        }
    });
}

/// The property whose range decides the result of a search, if no condition names values.
fn ranged_property(snapshot: &Snapshot, test: &Test) -> Option<Symbol> {
    let parts = match test {
        Test::All(parts) => &parts[..],
        one => std::slice::from_ref(one),
    };
    let mut ranged = None;
    for part in parts {
        match part {
            Test::Property(Some(name), test) if !snapshot.graph().types.unindexed.contains(name) => {
                match test.operator {
                    Operator::Equal | Operator::In => return None,
                    _ if ranged.is_none() && Bounds::of(test).is_some() => ranged = Some(*name),
                    _ => {}
                }
            }
            Test::Header(Header::Id, test) if matches!(test.operator, Operator::Equal | Operator::In) => {
                return None;
            }
            _ => {}
        }
    }
    ranged
}

/// Writes the place of an instance without the only key of an order.
pub(in crate::read) fn absent_key(slot: u32, is_descending: bool, out: &mut Vec<u8>) {
    out.clear();
    out.push(ABSENT);
    append_slot(slot, is_descending, out);
}

/// The first instances in an order, a bounded number of them.
pub(in crate::read) struct Firsts<T> {
    // The last one is on top.
    heap: BinaryHeap<Placed<T>>,
    count: usize,
}

/// An item, and its place in an order.
pub(in crate::read) struct Placed<T> {
    pub(in crate::read) key: Vec<u8>,
    pub(in crate::read) item: T,
}

impl<T> Firsts<T> {
    pub(in crate::read) fn new(count: usize) -> Firsts<T> {
        Firsts { heap: BinaryHeap::new(), count }
    }

    /// True if an item with this place may be one of the first.
    pub(in crate::read) fn has_room_for(&self, key: &[u8]) -> bool {
        self.heap.len() < self.count || self.heap.peek().is_some_and(|last| *key < last.key[..])
    }

    /// Adds an item; returns one that is no longer among the first.
    pub(in crate::read) fn put(&mut self, key: Vec<u8>, item: T) -> Option<T> {
        self.heap.push(Placed { key, item });
        if self.heap.len() > self.count { self.heap.pop().map(|last| last.item) } else { None }
    }

    /// All of them, in order.
    pub(in crate::read) fn into_sorted(self) -> Vec<Placed<T>> {
        self.heap.into_sorted_vec()
    }
}

impl<T> Ord for Placed<T> {
    fn cmp(&self, other: &Placed<T>) -> Ordering {
        self.key.cmp(&other.key)
    }
}

impl<T> PartialOrd for Placed<T> {
    fn partial_cmp(&self, other: &Placed<T>) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> PartialEq for Placed<T> {
    fn eq(&self, other: &Placed<T>) -> bool {
        self.key == other.key
    }
}

impl<T> Eq for Placed<T> {}
