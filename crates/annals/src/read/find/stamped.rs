//! Walks slots in the order of their creation, or of their last change.

use super::access::Places;
use super::walk::{Values, index_key};
use crate::graph::index::key::{slot_of_key, time_key};
use crate::graph::index::times::Times;
use crate::read::operators::scan::domain::{Domain, Slots};
use crate::structures::key_set::Key;

/// Slots whose times follow from them, merged with those that have keys.
pub(super) struct Stamped<'d, 'g> {
    places: &'d Places<'g>,
    ordered: Slots<'g, &'d Domain<'g>>,
    values: Values<'d, 'g>,
    // The next of each, if it is known.
    next_ordered: Option<Vec<u8>>,
    next_key: Option<Key<'g>>,
    // The key of the last one, if it is not a key of an index.
    last: Vec<u8>,
    is_descending: bool,
    // True to leave out slots with a key of their own: in the present only the others are visible at the place of their
    // slot.
    leaves_changed_out: bool,
}

impl<'d, 'g> Stamped<'d, 'g> {
    /// Starts after the key of a cursor.
    pub(super) fn start(
        places: &'d Places<'g>,
        domain: &'d Domain<'g>,
        is_updated: bool,
        is_descending: bool,
        after: Option<&[u8]>,
    ) -> Stamped<'d, 'g> {
        let (times, with_past): (&'g Times, bool) = (&places.indexes.times, places.with_past);
        let after = after.map(|key| index_key(key, is_descending));
        let (current, past) = match is_updated {
            true => (times.updated(), with_past.then(|| times.past_updated())),
            false => (times.created(), None),
        };
        let place = after.as_deref().map(|after| ordered_place(places, after));
        let ordered = match place {
            None => domain.slots(None, is_descending),
            // In this direction the place itself is left out in any case.
            Some((first, _)) if is_descending => domain.slots(Some(first), true),
            Some((first, is_there)) => {
                let before = if is_there { Some(first) } else { first.checked_sub(1) };
                domain.slots(before, false)
            }
        };
        let values = Values::of_sets(current, past, after.as_deref(), is_descending);
        let leaves_changed_out = is_updated && !with_past;
        let mut stamped = Stamped {
            places,
            ordered,
            values,
            next_ordered: None,
            next_key: None,
            last: Vec::new(),
            is_descending,
            leaves_changed_out,
        };
        stamped.turn_ordered();
        stamped.next_key = stamped.values.next_key();
        stamped
    }

    fn turn_ordered(&mut self) {
        let places = self.places;
        let leaves_out = |slot| self.leaves_changed_out && places.indexes.times.is_changed(slot);
        let next = self.ordered.find(|slot| is_in_order(places, *slot) && !leaves_out(*slot));
        self.next_ordered =
            next.and_then(|slot| Some(time_key(places.table.row(slot)?.created().micros, slot)));
    }

    /// The key of the next one: its time, then its slot.
    pub(super) fn next(&mut self) -> Option<Key<'_>> {
        let takes_key = match (&self.next_ordered, self.next_key) {
            (None, None) => return None,
            (Some(_), None) => false,
            (None, Some(_)) => true,
            // A version may be in both lists, if a correction of the past was made at its time: then it comes once.
            (Some(ordered), Some(key)) if key == ordered[..] => {
                self.next_key = self.values.next_key();
                false
            }
            (Some(ordered), Some(key)) => (key < ordered[..]) != self.is_descending,
        };
        if takes_key {
            return std::mem::replace(&mut self.next_key, self.values.next_key());
        }
        self.last = self.next_ordered.take()?;
        self.turn_ordered();
        Some(Key::from(&self.last[..]))
    }
}

/// True if the slot has the place of its creation, as far as the indexes know.
fn is_in_order(places: &Places, slot: u32) -> bool {
    places.indexes.times.is_in_order(slot) && places.is_told(slot)
}

/// The first ordered slot that does not come before `after`, and whether its place equals `after`.
fn ordered_place(places: &Places, after: &[u8]) -> (u32, bool) {
    let table = places.table;
    let count = u32::try_from(table.slots_count()).unwrap_or(u32::MAX);
    let key_from = |slot: u32, end: u32| {
        let known = (slot..end).filter(|slot| is_in_order(places, *slot));
        known.filter_map(|slot| Some(time_key(table.row(slot)?.created().micros, slot))).next()
    };
    let (mut low, mut high) = (0, count);
    while low < high {
        let middle = low + (high - low) / 2;
        match key_from(middle, high) {
            Some(key) if key[..] < *after => low = slot_of_key(Key::from(&key[..])) + 1,
            _ => high = middle,
        }
    }
    let is_there = key_from(low, count).is_some_and(|key| key == after);
    // The slot itself may be unordered: the next ordered one decides.
    let first = key_from(low, count).map_or(count, |key| slot_of_key(Key::from(&key[..])));
    (first, is_there)
}
