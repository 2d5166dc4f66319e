//! Walks indexes in the order of a search.

use std::borrow::Cow;
use std::ops::Bound as Edge;

use super::access::Places;
use super::bounds::{ALL_KEYS, Bounds};
use super::domain::{Domain, Slots};
use super::order::{ABSENT, PRESENT, append_slot, slot_of};
use super::plan::{Run, ValueWalk, Walk};
use super::stamped::Stamped;
use crate::graph::index::key::{slot_of_key, without_slot};
use crate::structures::key_set::{KeySet, Range};

/// Candidates in the order of the search.
pub(super) enum Walker<'d, 'g> {
    Slots(Slots<'d, 'g>),
    Values(Box<Values<'d, 'g>>),
    Run(Range<'g>),
    Stamps(Box<Stamped<'d, 'g>>),
    Ids(Directed<'d, 'g>),
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
    pub(super) fn at(key: &'g [u8]) -> Candidate<'g> {
        Candidate { slot: slot_of_key(key), key: Place::Key(Cow::Borrowed(key)) }
    }

    fn absent(slot: u32) -> Candidate<'g> {
        Candidate { slot, key: Place::Absent }
    }
}

/// The keys of a set of the present and of one of the past in one order, each once; then the slots.
pub(super) struct Values<'d, 'g> {
    current: Option<Directed<'d, 'g>>,
    past: Option<Directed<'d, 'g>>,
    is_descending: bool,
    absent: Absent<'d, 'g>,
}

/// The slots behind the keys. They are looked up by who comes there: most pages end before.
enum Absent<'d, 'g> {
    None,
    Behind(&'d Domain<'g>, Option<u32>),
    Here(Box<Slots<'d, 'g>>),
}

/// The keys of a set from one place on, in one direction. Where they end is seen on the way: most pages end before, and
/// nothing has to be looked up there.
pub(super) struct Directed<'d, 'g> {
    range: Range<'g>,
    is_descending: bool,
    // The first key that is not in it; descending, the last that is.
    until: Option<&'d [u8]>,
    peeked: Option<&'g [u8]>,
}

impl<'d, 'g> Directed<'d, 'g> {
    /// Starts behind the key of a cursor, if it lies within the bounds: a foreign one may not.
    pub(super) fn new(
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

    #[inline]
    pub(super) fn next(&mut self) -> Option<&'g [u8]> {
        if self.peeked.is_some() {
            return self.peeked.take();
        }
        let key = if self.is_descending { self.range.next_back() } else { self.range.next() };
        key.filter(|key| is_before(key, self.until, self.is_descending))
    }

    fn peek(&mut self) -> Option<&'g [u8]> {
        self.peeked = self.next();
        self.peeked
    }
}

/// True if a key lies before the end of a walk.
#[inline]
fn is_before(key: &[u8], until: Option<&[u8]>, is_descending: bool) -> bool {
    until.is_none_or(|until| (key < until) != is_descending)
}

impl<'d, 'g> Walker<'d, 'g> {
    /// Starts behind the key of a cursor.
    pub(super) fn start(
        walk: &'d Walk<'g>,
        places: &'d Places<'g>,
        domain: &'d Domain<'g>,
        after: Option<&[u8]>,
    ) -> Walker<'d, 'g> {
        let Places { indexes, with_past, .. } = *places;
        match walk {
            Walk::Slots { is_descending } => {
                let after = after.map(|key| slot_of(key, *is_descending));
                Walker::Slots(domain.slots(after, *is_descending))
            }
            Walk::Run(run) => {
                let set = indexes.values.get(run.property).expect("it was looked into for the plan");
                Walker::Run(keys_after(run, set, after))
            }
            Walk::Stamps { is_updated, is_descending } => {
                Walker::Stamps(Box::new(Stamped::start(places, domain, *is_updated, *is_descending, after)))
            }
            Walk::Ids { is_descending } => {
                let after = after.map(|key| index_key(key, *is_descending));
                Walker::Ids(Directed::new(indexes.ids.keys(), &ALL_KEYS, after.as_deref(), *is_descending))
            }
            Walk::Values(ValueWalk { property, bounds, is_descending, with_absent, .. }) => {
                let is_behind_values = after.is_some_and(|key| key[0] == ABSENT);
                let absent_after = after.filter(|_| is_behind_values).map(|key| slot_of(key, *is_descending));
                let set = |sets: Option<&'g KeySet>| {
                    let set = sets.filter(|_| !is_behind_values)?;
                    let after = after.map(|key| index_key(key, *is_descending));
                    Some(Directed::new(set, bounds, after.as_deref(), *is_descending))
                };
                let past = with_past.then(|| indexes.past_values.get(*property)).flatten();
                let absent = if *with_absent { Absent::Behind(domain, absent_after) } else { Absent::None };
                Walker::Values(Box::new(Values {
                    current: set(indexes.values.get(*property)),
                    past: set(past),
                    is_descending: *is_descending,
                    absent,
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
            Walker::Ids(keys) => keys.next().map(|key| Candidate::absent(slot_of_key(key))),
            Walker::Values(values) => match values.next_key() {
                Some(key) => Some(Candidate::at(key)),
                None => values.next_absent().map(Candidate::absent),
            },
        }
    }

    /// True if what holds one value stands together, by slot.
    #[inline]
    pub(super) fn is_along_values(&self) -> bool {
        matches!(self, Walker::Run(_) | Walker::Values(_))
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
    let mut low = without_slot(first).to_vec();
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
    out.extend_from_slice(without_slot(key));
    if is_descending {
        out[1..].iter_mut().for_each(|byte| *byte = !*byte);
    }
    append_slot(slot_of_key(key), is_descending, out);
}

impl<'d, 'g> Values<'d, 'g> {
    /// The keys of two sets behind that of a cursor.
    pub(super) fn of_sets(
        current: &'g KeySet,
        past: Option<&'g KeySet>,
        after: Option<&[u8]>,
        is_descending: bool,
    ) -> Values<'d, 'g> {
        let directed = |set| Directed::new(set, &ALL_KEYS, after, is_descending);
        let (current, past) = (Some(directed(current)), past.map(directed));
        Values { current, past, is_descending, absent: Absent::None }
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
