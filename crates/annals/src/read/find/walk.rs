//! Walks indexes in the order of a search.

use std::borrow::Cow;
use std::ops::Bound as Edge;

use super::bounds::{Bounds, Sure};
use super::domain::{Domain, Slots};
use super::ids::Ids;
use super::order::{ABSENT, PRESENT, append_slot, slot_of};
use super::plan::{Run, ValueWalk, Walk};
use super::stamped::Stamped;
use crate::graph::key_set::{KeySet, Range};
use crate::graph::table::{Table, slot_of_key};

/// Candidates in the order of the search.
pub(super) enum Walker<'d, 'g> {
    Slots(Slots<'d, 'g>),
    Values(Box<Values<'d, 'g>>),
    Run { keys: Range<'g>, set: &'g KeySet, bounds: Bounds },
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
    current: Option<Directed<'g>>,
    past: Option<Directed<'g>>,
    is_descending: bool,
    bounds: Bounds,
    absent: Option<Slots<'d, 'g>>,
}

struct Directed<'g> {
    set: &'g KeySet,
    range: Range<'g>,
    is_descending: bool,
    peeked: Option<&'g [u8]>,
}

impl<'g> Directed<'g> {
    fn new(set: &'g KeySet, range: Range<'g>, is_descending: bool) -> Directed<'g> {
        Directed { set, range, is_descending, peeked: None }
    }

    #[inline]
    fn next(&mut self) -> Option<&'g [u8]> {
        if self.peeked.is_some() {
            return self.peeked.take();
        }
        if self.is_descending { self.range.next_back() } else { self.range.next() }
    }

    fn peek(&mut self) -> Option<&'g [u8]> {
        self.peeked = self.next();
        self.peeked
    }
}

impl<'d, 'g> Walker<'d, 'g> {
    /// Starts behind the key of a cursor.
    pub(super) fn start(
        walk: &Walk<'g>,
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
            Walk::Run(run) => {
                let set = table.values.get(run.property.index()).expect("it was looked into for the plan");
                Walker::Run { keys: keys_after(run, set, after), set, bounds: run.bounds.clone() }
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
            Walk::Values(ValueWalk { property, bounds, is_descending, with_absent, .. }) => {
                let is_behind_values = after.is_some_and(|key| key[0] == ABSENT);
                let absent_after = after.filter(|_| is_behind_values).map(|key| slot_of(key, *is_descending));
                let set = |sets: Option<&'g KeySet>| {
                    let set = sets.filter(|_| !is_behind_values)?;
                    let after = after.map(|key| index_key(key, *is_descending));
                    let range = range(set, bounds, after.as_deref(), *is_descending);
                    Some(Directed::new(set, range, *is_descending))
                };
                let past = table.past_values.get(property.index()).filter(|_| with_past);
                Walker::Values(Box::new(Values {
                    current: set(table.values.get(property.index())),
                    past: set(past),
                    is_descending: *is_descending,
                    bounds: bounds.clone(),
                    absent: with_absent.then(|| domain.slots(absent_after, *is_descending)),
                }))
            }
        }
    }

    #[inline]
    pub(super) fn next(&mut self) -> Option<Candidate<'g>> {
        match self {
            Walker::Slots(slots) => slots.next().map(Candidate::absent),
            Walker::Run { keys, .. } => keys.next().map(Candidate::at),
            Walker::Stamps(stamped) => stamped.next(),
            Walker::Ids(ids) => ids.next().map(Candidate::absent),
            Walker::Values(values) => match values.next_key() {
                Some(key) => Some(Candidate::at(key)),
                None => values.absent.as_mut()?.next().map(Candidate::absent),
            },
        }
    }

    /// Gives the slots of the next keys to `take`, as long as they are keys of the present that decide, and `count` at most:
    /// `sure` says which do, all without it. Tells how many there were.
    #[inline]
    pub(super) fn take_sure(
        &mut self,
        sure: Option<&Sure>,
        count: usize,
        mut take: impl FnMut(u32),
    ) -> usize {
        let mut take_any = |key: &[u8]| {
            take(slot_of_key(key));
            true
        };
        let keys = match self {
            // A run has keys of one value only.
            Walker::Run { keys, .. } => return keys.take_front(count, take_any),
            Walker::Values(values) if values.past.is_none() => values.current.as_mut(),
            _ => None,
        };
        let Some(keys) = keys.filter(|keys| keys.peeked.is_none()) else { return 0 };
        match (sure, keys.is_descending) {
            (None, false) => keys.range.take_front(count, take_any),
            (None, true) => keys.range.take_back(count, take_any),
            (Some(sure), false) => keys.range.take_front(count, |key| sure.holds(key) && take_any(key)),
            (Some(sure), true) => keys.range.take_back(count, |key| sure.holds(key) && take_any(key)),
        }
    }

    /// True if what holds one value stands together, by slot.
    #[inline]
    pub(super) fn is_along_values(&self) -> bool {
        matches!(self, Walker::Run { .. } | Walker::Values(_))
    }

    /// True if greater keys, or younger instances, come first.
    pub(super) fn is_descending(&self) -> bool {
        matches!(self, Walker::Values(values) if values.is_descending)
    }

    /// Goes on at a key of the index that lies before it and within its bounds, or at what follows that. Only walks
    /// along values do.
    pub(super) fn move_to(&mut self, key: &[u8]) {
        match self {
            Walker::Run { keys, set, bounds } => {
                let high = bounds.high.as_deref().map_or(Edge::Unbounded, Edge::Excluded);
                *keys = set.range(Edge::Included(key), high);
            }
            Walker::Values(values) => values.move_to(key),
            _ => {}
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

fn keys_after<'g>(run: &Run<'g>, set: &'g KeySet, after: Option<&[u8]>) -> Range<'g> {
    let (Some(after), Some(first)) = (after, run.keys.clone().next()) else { return run.keys.clone() };
    let mut low = first[..first.len() - 4].to_vec();
    low.extend_from_slice(&slot_of(after, false).saturating_add(1).to_be_bytes());
    Bounds { low, high: run.bounds.high.clone() }.range(set)
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
    out.reserve(key.len() + 1);
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
        let directed = |set| Directed::new(set, range(set, &all, after, is_descending), is_descending);
        let (current, past) = (Some(directed(current)), past.map(directed));
        Values { current, past, is_descending, bounds: all, absent: None }
    }

    fn move_to(&mut self, key: &[u8]) {
        let is_descending = self.is_descending;
        let (low, high) = match is_descending {
            true => (Edge::Included(&self.bounds.low[..]), Edge::Included(key)),
            false => {
                (Edge::Included(key), self.bounds.high.as_deref().map_or(Edge::Unbounded, Edge::Excluded))
            }
        };
        for keys in [&mut self.current, &mut self.past].into_iter().flatten() {
            // What was peeked at lies behind the key as well, or is left out.
            *keys = Directed::new(keys.set, keys.set.range(low, high), is_descending);
        }
    }

    #[inline]
    pub(super) fn next_key(&mut self) -> Option<&'g [u8]> {
        match (&mut self.current, &self.past) {
            (Some(current), None) => current.next(),
            _ => self.next_of_both(),
        }
    }

    fn next_of_both(&mut self) -> Option<&'g [u8]> {
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
