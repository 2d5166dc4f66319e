//! Walks indexes in the order of a search.

use std::borrow::Cow;
use std::iter::Peekable;
use std::ops::Bound as Edge;

use super::bounds::Bounds;
use super::domain::{Domain, Slots};
use super::ids::Ids;
use super::order::{ABSENT, PRESENT, append_slot, slot_of};
use super::plan::Walk;
use super::stamped::Stamped;
use crate::graph::key_set::{KeySet, Range};
use crate::graph::table::{Table, slot_of_key};

/// Candidates in the order of the search.
pub(super) enum Walker<'d, 'g> {
    Slots(Slots<'d, 'g>),
    Values(Box<Values<'d, 'g>>),
    Run(Range<'g>),
    Stamps(Box<Stamped<'d, 'g>>),
    Ids(Ids<'g>),
}

/// A candidate, and what the walk knows of it.
pub(super) struct Candidate<'g> {
    pub(super) slot: u32,
    pub(super) key: Place<'g>,
}

/// Where a candidate stands in a walk by values.
pub(super) enum Place<'g> {
    /// At this key of the index.
    Key(Cow<'g, [u8]>),
    /// Behind all values: it must lack the property. Walks that are not by values tell the same.
    Absent,
}

impl<'g> Candidate<'g> {
    fn at(key: &'g [u8]) -> Candidate<'g> {
        Candidate { slot: slot_of_key(key), key: Place::Key(Cow::Borrowed(key)) }
    }

    fn absent(slot: u32) -> Candidate<'g> {
        Candidate { slot, key: Place::Absent }
    }
}

/// The keys of a set of the present and of one of the past in one order, each once; then the slots.
pub(super) struct Values<'d, 'g> {
    current: Option<Peekable<Directed<'g>>>,
    past: Option<Peekable<Directed<'g>>>,
    is_descending: bool,
    absent: Option<Slots<'d, 'g>>,
}

struct Directed<'g> {
    range: Range<'g>,
    is_descending: bool,
}

impl<'g> Iterator for Directed<'g> {
    type Item = &'g [u8];

    #[inline]
    fn next(&mut self) -> Option<&'g [u8]> {
        if self.is_descending { self.range.next_back() } else { self.range.next() }
    }
}

impl<'d, 'g> Walker<'d, 'g> {
    /// Starts behind the key of a cursor.
    pub(super) fn start(
        walk: &Walk,
        table: &'g Table,
        domain: &'d Domain<'g>,
        with_past: bool,
        after: Option<&[u8]>,
    ) -> Walker<'d, 'g> {
        match walk {
            Walk::Slots { is_descending } => {
                let after = after.map(|key| slot_of(key, *is_descending));
                Walker::Slots(domain.slots(after, *is_descending))
            }
            Walk::Run { property, bounds } => {
                let set = table.values.get(property.index()).expect("it was looked into for the plan");
                let mut bounds = bounds.clone();
                if let (Some(after), Some(first)) = (after, bounds.range(set).next()) {
                    let mut low = first[..first.len() - 4].to_vec();
                    low.extend_from_slice(&slot_of(after, false).saturating_add(1).to_be_bytes());
                    bounds.low = low;
                }
                Walker::Run(bounds.range(set))
            }
            Walk::Stamps { is_updated, is_descending } => Walker::Stamps(Box::new(Stamped::start(
                table,
                domain,
                with_past,
                *is_updated,
                *is_descending,
                after,
            ))),
            Walk::Ids { is_descending } => Walker::Ids(Ids::start(table, *is_descending, after)),
            Walk::Values { property, bounds, is_descending, with_absent } => {
                let is_behind_values = after.is_some_and(|key| key[0] == ABSENT);
                let absent_after = after.filter(|_| is_behind_values).map(|key| slot_of(key, *is_descending));
                let set = |sets: Option<&'g KeySet>| {
                    let set = sets.filter(|_| !is_behind_values)?;
                    let after = after.map(|key| index_key(key, *is_descending));
                    let range = range(set, bounds, after.as_deref(), *is_descending);
                    Some(Directed { range, is_descending: *is_descending }.peekable())
                };
                let past = table.past_values.get(property.index()).filter(|_| with_past);
                Walker::Values(Box::new(Values {
                    current: set(table.values.get(property.index())),
                    past: set(past),
                    is_descending: *is_descending,
                    absent: with_absent.then(|| domain.slots(absent_after, *is_descending)),
                }))
            }
        }
    }

    #[inline]
    pub(super) fn next(&mut self) -> Option<Candidate<'g>> {
        match self {
            Walker::Slots(slots) => slots.next().map(Candidate::absent),
            Walker::Run(keys) => keys.next().map(Candidate::at),
            Walker::Stamps(stamped) => stamped.next(),
            Walker::Ids(ids) => ids.next().map(Candidate::absent),
            Walker::Values(values) => match values.next_key() {
                Some(key) => Some(Candidate::at(key)),
                None => values.absent.as_mut()?.next().map(Candidate::absent),
            },
        }
    }

    /// Leaves out slots without looking at them, if they are walked; tells how many.
    pub(super) fn skip_slots(&mut self, count: usize) -> usize {
        match self {
            Walker::Slots(slots) => slots.skip_slots(count),
            _ => 0,
        }
    }
}

/// What a key of the order is in the index: its value, then the slot.
pub(super) fn index_key(key: &[u8], is_descending: bool) -> Vec<u8> {
    let mut own = key[1..].to_vec();
    if is_descending {
        own.iter_mut().for_each(|byte| *byte = !*byte);
    }
    own
}

/// The key of the order that a key of the index stands for.
pub(super) fn sort_key(key: &[u8], is_descending: bool, out: &mut Vec<u8>) {
    out.clear();
    out.push(PRESENT);
    let (value, _) = key.split_at(key.len() - 4);
    out.extend(value.iter().map(|byte| if is_descending { !byte } else { *byte }));
    append_slot(slot_of_key(key), is_descending, out);
}

fn range<'g>(set: &'g KeySet, bounds: &Bounds, after: Option<&[u8]>, is_descending: bool) -> Range<'g> {
    let low = Edge::Included(&bounds.low[..]);
    let high = bounds.high.as_deref().map_or(Edge::Unbounded, Edge::Excluded);
    match after {
        None => set.range(low, high),
        // A foreign cursor may lie outside the bounds.
        Some(after) if is_descending => {
            let is_above = bounds.high.as_deref().is_some_and(|high| after > high);
            set.range(low, if is_above { high } else { Edge::Excluded(after) })
        }
        Some(after) => set.range(if after < &bounds.low[..] { low } else { Edge::Excluded(after) }, high),
    }
}

impl<'d, 'g> Values<'d, 'g> {
    /// The keys of two sets behind that of a cursor.
    pub(super) fn of_sets(
        current: &'g KeySet,
        past: Option<&'g KeySet>,
        after: Option<&[u8]>,
        is_descending: bool,
    ) -> Values<'d, 'g> {
        let all = Bounds::default();
        let directed =
            |set| Directed { range: range(set, &all, after, is_descending), is_descending }.peekable();
        Values { current: Some(directed(current)), past: past.map(directed), is_descending, absent: None }
    }

    #[inline]
    pub(super) fn next_key(&mut self) -> Option<&'g [u8]> {
        match (&mut self.current, &self.past) {
            (Some(current), None) => current.next(),
            _ => self.next_of_both(),
        }
    }

    fn next_of_both(&mut self) -> Option<&'g [u8]> {
        let current = self.current.as_mut().and_then(|keys| keys.peek().copied());
        let past = self.past.as_mut().and_then(|keys| keys.peek().copied());
        let (takes_current, takes_past) = match (current, past) {
            (None, None) => return None,
            (Some(_), None) => (true, false),
            (None, Some(_)) => (false, true),
            (Some(current), Some(past)) if current == past => (true, true),
            (Some(current), Some(past)) => {
                ((current < past) != self.is_descending, (past < current) != self.is_descending)
            }
        };
        let from_past = if takes_past { self.past.as_mut().and_then(Iterator::next) } else { None };
        let from_current = if takes_current { self.current.as_mut().and_then(Iterator::next) } else { None };
        from_current.or(from_past)
    }
}
