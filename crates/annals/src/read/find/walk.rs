//! Walks indexes in the order of a search.

use super::access::Places;
use super::in_place::{InPlace, SlotOrder};
use super::plan::{EqualKeys, ValueWalk, Walk};
use crate::graph::index::key::{slot_of_key, without_slot};
use crate::read::operators::scan::bounds::{ALL_KEYS, Bounds};
use crate::read::operators::scan::domain::{Domain, Slots};
use crate::read::operators::scan::keys::Directed;
use crate::read::operators::sort::{ABSENT, PRESENT, append_slot, slot_of};
use crate::structures::key_set::{Key, KeySet, Piece, Range};

/// Candidates in the order of the search.
pub(super) struct Walker<'d, 'g> {
    source: Source<'d, 'g>,
    // The last slot, as a key.
    slot: [u8; SLOT_BYTES],
}

enum Source<'d, 'g> {
    Slots(Slots<'g, &'d Domain<'g>>),
    Values(Box<Values<'d, 'g>>),
    Run(Directed<'d, 'g>),
    Stamps(Box<InPlace<'d, 'g>>),
    Ids(Box<InPlace<'d, 'g>>),
}

/// Units: bytes at the end of a key.
const SLOT_BYTES: usize = 4;

/// True if a walk found the instance by the key of a value. Otherwise the walk goes by slot or id, or is after all
/// values, where instances must lack the property.
#[inline]
pub(super) fn has_value(key: Key) -> bool {
    key.len() > SLOT_BYTES
}

/// The keys of a set of the present and of one of the past, merged, each once; then the slots.
pub(super) struct Values<'d, 'g> {
    current: Option<Directed<'d, 'g>>,
    past: Option<Directed<'d, 'g>>,
    is_descending: bool,
    // The beginnings of keys that are checked one by one.
    edges: &'d [Vec<u8>],
    absent: Absent<'d, 'g>,
}

/// The slots after the keys. They are looked up on demand: most pages end before.
enum Absent<'d, 'g> {
    None,
    Behind(&'d Domain<'g>, Option<u32>),
    Here(Box<Slots<'g, &'d Domain<'g>>>),
}

impl<'d, 'g> Walker<'d, 'g> {
    /// Starts after the key of a cursor.
    pub(super) fn start(
        walk: &'d Walk<'g>,
        places: &'d Places<'g>,
        domain: &'d Domain<'g>,
        after: Option<&[u8]>,
    ) -> Walker<'d, 'g> {
        let Places { indexes, with_past, .. } = *places;
        let source = match walk {
            Walk::Slots { is_descending } => {
                let after = after.map(|key| slot_of(key, *is_descending));
                Source::Slots(domain.slots(after, *is_descending))
            }
            Walk::Run(run) => {
                let set = indexes.values.get(run.property).expect("it was looked into for the plan");
                Source::Run(Directed::of_range(keys_after(run, set, after)))
            }
            Walk::Stamps { is_updated, is_descending } => {
                let order = if *is_updated { SlotOrder::Updated } else { SlotOrder::Created };
                Source::Stamps(Box::new(InPlace::start(places, domain, order, *is_descending, after)))
            }
            Walk::Ids { is_descending } => {
                Source::Ids(Box::new(InPlace::start(places, domain, SlotOrder::Id, *is_descending, after)))
            }
            Walk::Values(ValueWalk { property, bounds, is_descending, with_absent, edges, .. }) => {
                let is_behind_values = after.is_some_and(|key| key[0] == ABSENT);
                let absent_after = after.filter(|_| is_behind_values).map(|key| slot_of(key, *is_descending));
                let set = |sets: Option<&'g KeySet>| {
                    let set = sets.filter(|_| !is_behind_values)?;
                    let after = after.map(|key| index_key(key, *is_descending));
                    Some(Directed::new(set, bounds, after.as_deref(), *is_descending))
                };
                let past = with_past.then(|| indexes.past_values.get(*property)).flatten();
                let absent = if *with_absent { Absent::Behind(domain, absent_after) } else { Absent::None };
                Source::Values(Box::new(Values {
                    current: set(indexes.values.get(*property)),
                    past: set(past),
                    is_descending: *is_descending,
                    edges,
                    absent,
                }))
            }
        };
        Walker { source, slot: [0; SLOT_BYTES] }
    }

    /// The key of the next candidate, which ends with its slot; only the slot if it was not found by a value.
    #[inline]
    pub(super) fn next(&mut self) -> Option<Key<'_>> {
        let slot = match &mut self.source {
            Source::Run(keys) => return keys.next(),
            Source::Stamps(stamps) => return stamps.next(),
            Source::Values(values) => match values.next_key() {
                Some(key) => return Some(key),
                None => values.next_absent()?,
            },
            Source::Slots(slots) => slots.next()?,
            Source::Ids(ids) => slot_of_key(ids.next()?),
        };
        self.slot = slot.to_be_bytes();
        Some(Key::from(&self.slot[..]))
    }

    /// The slots of the next candidates, as many as `slots` has room for, if nothing but the domain must be checked of
    /// them; and the key of the last one, as [`Walker::next`] gives it. `None` if the next candidate comes alone.
    pub(super) fn next_together(&mut self, slots: &mut [u32]) -> Option<(usize, Key<'_>)> {
        let (piece, is_descending) = match &mut self.source {
            Source::Run(keys) => (keys.next_piece(slots.len(), &[])?, false),
            Source::Values(values) => (values.next_piece(slots.len())?, values.is_descending),
            Source::Slots(all) => {
                let mut count = 0;
                for (place, slot) in slots.iter_mut().zip(all) {
                    *place = slot;
                    count += 1;
                }
                self.slot = slots[..count].last()?.to_be_bytes();
                return Some((count, Key::from(&self.slot[..])));
            }
            Source::Stamps(_) | Source::Ids(_) => return None,
        };
        let (found, places) = (piece.keys().map(slot_of_key), slots.iter_mut());
        match is_descending {
            true => places.zip(found.rev()).for_each(|(place, slot)| *place = slot),
            false => places.zip(found).for_each(|(place, slot)| *place = slot),
        }
        let mut keys = piece.keys();
        let last = if is_descending { keys.next() } else { keys.next_back() };
        Some((piece.len(), last?))
    }

    /// True if instances with one value are consecutive, by slot.
    #[inline]
    pub(super) fn is_along_values(&self) -> bool {
        matches!(self.source, Source::Run(_) | Source::Values(_))
    }
}

fn keys_after<'g>(run: &EqualKeys<'g>, set: &'g KeySet, after: Option<&[u8]>) -> Range<'g> {
    let (Some(after), Some(first)) = (after, run.keys.clone().next()) else { return run.keys.clone() };
    let mut low = without_slot(first).to_vec();
    low.extend_from_slice(&slot_of(after, false).saturating_add(1).to_be_bytes());
    Bounds { low, high: run.bounds.high.clone() }.range(set)
}

/// The index key for a key of the order: its value, then the slot.
pub(super) fn index_key(key: &[u8], is_descending: bool) -> Vec<u8> {
    let mut own = key[1..].to_vec();
    if is_descending {
        own.iter_mut().for_each(|byte| *byte = !*byte);
    }
    own
}

/// The key of the order for a key of the index.
pub(super) fn sort_key(key: Key, is_descending: bool, out: &mut Vec<u8>) {
    out.clear();
    out.reserve(key.len() + 1);
    out.push(PRESENT);
    without_slot(key).append_to(out);
    if is_descending {
        out[1..].iter_mut().for_each(|byte| *byte = !*byte);
    }
    append_slot(slot_of_key(key), is_descending, out);
}

impl<'d, 'g> Values<'d, 'g> {
    /// The keys of two sets after that of a cursor.
    pub(super) fn of_sets(
        current: &'g KeySet,
        past: Option<&'g KeySet>,
        after: Option<&[u8]>,
        is_descending: bool,
    ) -> Values<'d, 'g> {
        let directed = |set| Directed::new(set, &ALL_KEYS, after, is_descending);
        let (current, past) = (Some(directed(current)), past.map(directed));
        Values { current, past, is_descending, edges: &[], absent: Absent::None }
    }

    fn next_absent(&mut self) -> Option<u32> {
        if let Absent::Behind(domain, after) = self.absent {
            self.absent = Absent::Here(Box::new(domain.slots(after, self.is_descending)));
        }
        match &mut self.absent {
            Absent::Here(slots) => slots.next(),
            _ => None,
        }
    }

    fn next_piece(&mut self, count: usize) -> Option<Piece<'g>> {
        match (&mut self.current, &self.past) {
            (Some(current), None) => current.next_piece(count, self.edges),
            _ => None,
        }
    }

    #[inline(always)] // A key is four words, and moving it takes as long as finding it.
    pub(super) fn next_key(&mut self) -> Option<Key<'g>> {
        match (&mut self.current, &self.past) {
            (Some(current), None) => current.next(),
            _ => self.next_of_both(),
        }
    }

    fn next_of_both(&mut self) -> Option<Key<'g>> {
        let current = self.current.as_mut().and_then(Directed::peek);
        let past = self.past.as_mut().and_then(Directed::peek);
        let (takes_current, takes_past) = match (current, past) {
            (None, None) => return None,
            (Some(_), None) => (true, false),
            (None, Some(_)) => (false, true),
            (Some(current), Some(past)) if current == past => (true, true),
            (Some(current), Some(past)) => {
                ((current < past) != self.is_descending, (past < current) != self.is_descending)
            }
        };
        let from_past = if takes_past { self.past.as_mut().and_then(Directed::next) } else { None };
        let from_current = if takes_current { self.current.as_mut().and_then(Directed::next) } else { None };
        from_current.or(from_past)
    }
}
