//! Walks slots in the order of their creation, or of their last change.

use std::borrow::Cow;

use super::domain::{Domain, Slots};
use super::walk::{Candidate, Place, Values, index_key};
use crate::graph::index::key::slot_of_key;
use crate::graph::index::stamps::{Stamps, stamp_key};
use crate::graph::table::Table;

/// Those whose times follow from their slots, and between them those that have keys.
pub(super) struct Stamped<'d, 'g> {
    table: &'g Table,
    ordered: Slots<'d, 'g>,
    values: Values<'d, 'g>,
    // The next of each, where it is known.
    next_ordered: Option<Vec<u8>>,
    next_key: Option<&'g [u8]>,
    is_descending: bool,
    // True for those without a key of their own: of the present only these are seen at the place of their slot.
    leaves_changed_out: bool,
}

impl<'d, 'g> Stamped<'d, 'g> {
    /// Starts behind the key of a cursor.
    pub(super) fn start(
        table: &'g Table,
        domain: &'d Domain<'g>,
        with_past: bool,
        is_updated: bool,
        is_descending: bool,
        after: Option<&[u8]>,
    ) -> Stamped<'d, 'g> {
        let stamps: &'g Stamps = &table.stamps;
        let after = after.map(|key| index_key(key, is_descending));
        let (current, past) = match is_updated {
            true => (stamps.updated(), with_past.then(|| stamps.past_updated())),
            false => (stamps.created(), None),
        };
        let place = after.as_deref().map(|after| ordered_place(table, after));
        let ordered = match place {
            None => domain.slots(None, is_descending),
            // In this direction the place itself is left out either way.
            Some((first, _)) if is_descending => domain.slots(Some(first), true),
            Some((first, is_there)) => {
                let before = if is_there { Some(first) } else { first.checked_sub(1) };
                domain.slots(before, false)
            }
        };
        let values = Values::of_sets(current, past, after.as_deref(), is_descending);
        let leaves_changed_out = is_updated && !with_past;
        let mut stamped = Stamped {
            table,
            ordered,
            values,
            next_ordered: None,
            next_key: None,
            is_descending,
            leaves_changed_out,
        };
        stamped.turn_ordered();
        stamped.next_key = stamped.values.next_key();
        stamped
    }

    fn turn_ordered(&mut self) {
        let stamps = &self.table.stamps;
        let leaves_out = |slot| self.leaves_changed_out && stamps.is_changed(slot);
        let next = self.ordered.find(|slot| stamps.is_in_order(*slot) && !leaves_out(*slot));
        self.next_ordered =
            next.and_then(|slot| Some(stamp_key(self.table.row(slot)?.created().micros, slot)));
    }

    pub(super) fn next(&mut self) -> Option<Candidate<'g>> {
        let takes_key = match (&self.next_ordered, self.next_key) {
            (None, None) => return None,
            (Some(_), None) => false,
            (None, Some(_)) => true,
            // A version may stand in both when a correction of the past was made at its time: then once.
            (Some(ordered), Some(key)) if ordered[..] == *key => {
                self.next_key = self.values.next_key();
                false
            }
            (Some(ordered), Some(key)) => (*key < ordered[..]) != self.is_descending,
        };
        let key = if takes_key {
            let key = self.next_key?;
            self.next_key = self.values.next_key();
            Cow::Borrowed(key)
        } else {
            let key = self.next_ordered.take()?;
            self.turn_ordered();
            Cow::Owned(key)
        };
        Some(Candidate { slot: slot_of_key(&key), key: Place::Key(key) })
    }
}

/// The first slot among those in order that does not stand before `after`, and whether it stands just there.
fn ordered_place(table: &Table, after: &[u8]) -> (u32, bool) {
    let count = u32::try_from(table.slots_count()).unwrap_or(u32::MAX);
    let key_from = |slot: u32, end: u32| {
        let known = (slot..end).filter(|slot| table.stamps.is_in_order(*slot));
        known.filter_map(|slot| Some(stamp_key(table.row(slot)?.created().micros, slot))).next()
    };
    let (mut low, mut high) = (0, count);
    while low < high {
        let middle = low + (high - low) / 2;
        match key_from(middle, high) {
            Some(key) if key[..] < *after => low = slot_of_key(&key) + 1,
            _ => high = middle,
        }
    }
    let is_there = key_from(low, count).is_some_and(|key| key == after);
    // The slot itself may be one that is not in order: the next that is decides.
    let first = key_from(low, count).map_or(count, |key| slot_of_key(&key));
    (first, is_there)
}
