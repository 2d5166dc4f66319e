//! Which index a search walks, and from where to where. Whatever is walked, every hit is verified.

use std::borrow::Cow;
use std::iter::Peekable;
use std::ops::Bound;

use super::find::{Candidate, Condition, Filter, Find, Operator, Order};
use super::snapshot::Snapshot;
use crate::graph::key_set::{KeySet, Range};
use crate::graph::slot_set::Extents;
use crate::graph::symbols::Symbol;
use crate::graph::table::{for_each_indexed, slot_of_key};
use crate::model::{Value, append_index_key, append_numeric_prefix, append_text_prefix};
use crate::{Error, ErrorKind, Result};

/// A way to find candidates.
pub(super) enum Plan {
    /// The values of one property within bounds, in either direction.
    Values { property: Symbol, low: Vec<u8>, high: Option<Vec<u8>>, order: Order },
    /// The entities that carry one of these classifications.
    Classified(Vec<Symbol>),
    /// The instances of these types.
    Extents(Vec<Symbol>),
    /// All instances, in the order of their slots.
    All,
    /// A name that nothing has: there is nothing to find.
    Nothing,
}

impl Plan {
    pub(super) fn choose(snapshot: &Snapshot, filter: &Filter, find: &Find) -> Result<Plan> {
        let graph = snapshot.graph();
        let is_usable = |name: &Symbol| !graph.types.unindexed.contains(name);
        if let Some((name, order)) = &find.order {
            let Some(property) = graph.names.find(name) else { return Ok(Plan::Nothing) };
            if !is_usable(&property) {
                return Err(Error::new(
                    ErrorKind::InvalidArgument,
                    format!(
                        "order by {name}: a type keeps it out of the index; order by an indexed property"
                    ),
                ));
            }
            let bounds = filter.conditions.iter().filter(|(known, _)| *known == Some(property));
            let bound = bounds.map(|(_, condition)| bounds_of(condition)).find(|bounds| bounds.is_narrow());
            let Bounds { low, high } = bound.unwrap_or_default();
            return Ok(Plan::Values { property, low, high, order: *order });
        }
        let mut best: Option<(u8, Plan)> = None;
        for (property, condition) in &filter.conditions {
            let Some(property) = property else {
                if condition.operator == Operator::Missing {
                    continue;
                }
                return Ok(Plan::Nothing);
            };
            let rank = match condition.operator {
                Operator::Equal => 0,
                Operator::Prefix => 1,
                Operator::Less | Operator::LessOrEqual | Operator::Greater | Operator::GreaterOrEqual => 2,
                _ => continue,
            };
            let Bounds { low, high } = bounds_of(condition);
            let is_better = best.as_ref().is_none_or(|(known, _)| rank < *known);
            if is_better && is_usable(property) && condition.value.is_scalar() {
                let plan = Plan::Values { property: *property, low, high, order: Order::Ascending };
                best = Some((rank, plan));
            }
        }
        Ok(match (best, &filter.classifications, &filter.types) {
            (Some((_, plan)), _, _) => plan,
            (None, Some(names), _) => Plan::Classified(names.clone()),
            (None, None, Some(types)) => Plan::Extents(types.clone()),
            (None, None, None) => Plan::All,
        })
    }

    /// Tells cursors of different kinds of plans apart.
    pub(super) fn number(&self) -> u8 {
        match self {
            Plan::Values { order: Order::Ascending, .. } => 1,
            Plan::Values { order: Order::Descending, .. } => 2,
            Plan::Classified(_) => 3,
            Plan::Extents(_) => 4,
            Plan::All | Plan::Nothing => 5,
        }
    }

    pub(super) fn candidates<'s>(
        &'s self,
        snapshot: &'s Snapshot,
        filter: &Filter,
        after: Option<&[u8]>,
    ) -> Candidates<'s> {
        let graph = snapshot.graph();
        let table = graph.table(filter.kind);
        let is_past = snapshot.view().is_some();
        let mut ranges = Vec::new();
        let mut is_descending = false;
        match self {
            Plan::Nothing => {}
            Plan::All => {
                let first = after.map_or(0, |key| slot_of_key(key) as usize + 1);
                return Candidates::Slots { next: first, end: table.slots_count() };
            }
            Plan::Values { property, low, high, order } => {
                is_descending = *order == Order::Descending;
                let current = table.values.get(property.index());
                let past = table.past_values.get(property.index()).filter(|_| is_past);
                ranges.push(Merged::new(current, past, low, high.as_deref(), after, is_descending));
            }
            Plan::Extents(types) => {
                let past = is_past.then_some(&table.past_extents);
                return Candidates::extents(&table.extents, past, types, after);
            }
            Plan::Classified(names) => {
                // A deleted entity leaves the current list, so both lists together hold every candidate.
                let past = is_past.then_some(&table.past_classified);
                return Candidates::extents(&table.classified, past, names, after);
            }
        }
        ranges.reverse();
        Candidates::Keys { ranges, is_descending }
    }

    /// False if the walk comes upon the instance again by a later key, or by a value it does not hold in this view.
    pub(super) fn is_first_key(&self, candidate: Candidate, slot: u32, key: &[u8], is_present: bool) -> bool {
        match self {
            Plan::Values { property, low, high, order } => match candidate.property(*property) {
                None => false,
                // A single value has one key, and of the present the index holds no other.
                Some(value) if is_present && value.is_scalar() => true,
                Some(value) => first_key(&value, slot, low, high.as_deref(), *order).as_deref() == Some(key),
            },
            Plan::Classified(names) => {
                let first = names.iter().find(|name| candidate.is_classified(**name));
                first.is_some_and(|name| name.0.to_be_bytes() == key[..4])
            }
            Plan::Extents(_) | Plan::All | Plan::Nothing => true,
        }
    }
}

/// The first key within bounds of the scalars of `value`, in this order.
fn first_key(value: &Value, slot: u32, low: &[u8], high: Option<&[u8]>, order: Order) -> Option<Vec<u8>> {
    let mut first: Option<Vec<u8>> = None;
    for_each_indexed(value, |scalar| {
        let mut own = Vec::with_capacity(32);
        append_index_key(scalar, &mut own);
        own.extend_from_slice(&slot.to_be_bytes());
        let is_within = &own[..] >= low && high.is_none_or(|high| &own[..] < high);
        let is_earlier = first.as_ref().is_none_or(|first| match order {
            Order::Ascending => own < *first,
            Order::Descending => own > *first,
        });
        if is_within && is_earlier {
            first = Some(own);
        }
    });
    first
}

/// From the first key that counts to the first that does not.
#[derive(Default)]
struct Bounds {
    low: Vec<u8>,
    high: Option<Vec<u8>>,
}

impl Bounds {
    fn is_narrow(&self) -> bool {
        !self.low.is_empty() || self.high.is_some()
    }
}

/// The keys that can fulfil a condition; more may lie within, none outside.
fn bounds_of(condition: &Condition) -> Bounds {
    let mut key = Vec::new();
    match condition.operator {
        Operator::Prefix => append_text_prefix(&condition.value, &mut key),
        // Numbers of different kinds share only the beginning of their keys.
        _ if append_numeric_prefix(&condition.value, &mut key) => {}
        _ => append_index_key(&condition.value, &mut key),
    }
    let Some(&tag) = key.first() else { return Bounds::default() };
    let after_key = successor(&key);
    match condition.operator {
        Operator::Prefix | Operator::Equal => Bounds { low: key, high: after_key },
        Operator::Less | Operator::LessOrEqual => Bounds { low: vec![tag], high: after_key },
        Operator::Greater | Operator::GreaterOrEqual => Bounds { low: key, high: successor(&[tag]) },
        _ => Bounds::default(),
    }
}

/// The smallest key that is greater than all keys beginning with `key`; `None` if there is none.
fn successor(key: &[u8]) -> Option<Vec<u8>> {
    let last = key.iter().rposition(|&byte| byte != 0xFF)?;
    let mut next = key[..=last].to_vec();
    next[last] += 1;
    Some(next)
}

/// The keys of a set of the present and of one of the past, in one order, each once.
pub(super) struct Merged<'s> {
    current: Option<Peekable<Directed<'s>>>,
    past: Option<Peekable<Directed<'s>>>,
}

struct Directed<'s> {
    range: Range<'s>,
    is_descending: bool,
}

impl<'s> Iterator for Directed<'s> {
    type Item = &'s [u8];

    #[inline]
    fn next(&mut self) -> Option<&'s [u8]> {
        if self.is_descending { self.range.next_back() } else { self.range.next() }
    }
}

impl<'s> Merged<'s> {
    fn new(
        current: Option<&'s KeySet>,
        past: Option<&'s KeySet>,
        low: &[u8],
        high: Option<&[u8]>,
        after: Option<&[u8]>,
        is_descending: bool,
    ) -> Merged<'s> {
        let mut from = Bound::Included(low);
        let mut to = high.map_or(Bound::Unbounded, Bound::Excluded);
        if let Some(after) = after {
            if is_descending {
                to = Bound::Excluded(after);
            } else {
                from = Bound::Excluded(after);
            }
        }
        let directed = |keys: &'s KeySet| Directed { range: keys.range(from, to), is_descending }.peekable();
        Merged { current: current.map(directed), past: past.map(directed) }
    }

    #[inline]
    fn next(&mut self, is_descending: bool) -> Option<&'s [u8]> {
        match (&mut self.current, &self.past) {
            (Some(current), None) => current.next(),
            _ => self.next_of_both(is_descending),
        }
    }

    fn next_of_both(&mut self, is_descending: bool) -> Option<&'s [u8]> {
        let current = self.current.as_mut().and_then(|keys| keys.peek().copied());
        let past = self.past.as_mut().and_then(|keys| keys.peek().copied());
        let (takes_current, takes_past) = match (current, past) {
            (None, None) => return None,
            (Some(_), None) => (true, false),
            (None, Some(_)) => (false, true),
            (Some(current), Some(past)) if current == past => (true, true),
            (Some(current), Some(past)) => {
                ((current < past) != is_descending, (past < current) != is_descending)
            }
        };
        let from_past = if takes_past { self.past.as_mut().and_then(Iterator::next) } else { None };
        let from_current = if takes_current { self.current.as_mut().and_then(Iterator::next) } else { None };
        from_current.or(from_past)
    }
}

/// Candidates with their keys, in the order of the plan.
pub(super) enum Candidates<'s> {
    // Ranges still to be walked, last first.
    Keys { ranges: Vec<Merged<'s>>, is_descending: bool },
    // Slots by name, in the lists of the present and of the past; names still to be walked, last first.
    Extents { lists: [Option<&'s Extents>; 2], names: Vec<Symbol>, next: u32 },
    Slots { next: usize, end: usize },
}

impl<'s> Candidates<'s> {
    fn extents(
        current: &'s Extents,
        past: Option<&'s Extents>,
        names: &[Symbol],
        after: Option<&[u8]>,
    ) -> Candidates<'s> {
        let after = after.map(name_and_slot);
        let mut names = names.to_vec();
        names.retain(|name| after.is_none_or(|(after, _)| *name >= after));
        let next = match (after, names.first()) {
            (Some((name, slot)), Some(first)) if *first == name => slot.saturating_add(1),
            _ => 0,
        };
        names.reverse();
        Candidates::Extents { lists: [Some(current), past], names, next }
    }

    pub(super) fn next(&mut self) -> Option<(Cow<'s, [u8]>, u32)> {
        match self {
            Candidates::Slots { next, end } => {
                let slot = (*next < *end).then(|| u32::try_from(*next).expect("slots fit 32 bits"))?;
                *next += 1;
                Some((Cow::Owned(slot.to_be_bytes().to_vec()), slot))
            }
            Candidates::Extents { lists, names, next } => loop {
                let name = *names.last()?;
                let slots = lists.iter().flatten().filter_map(|list| list.of(name)?.next_from(*next));
                let Some(slot) = slots.min() else {
                    names.pop();
                    *next = 0;
                    continue;
                };
                *next = slot + 1;
                let key = [name.0.to_be_bytes(), slot.to_be_bytes()].concat();
                return Some((Cow::Owned(key), slot));
            },
            Candidates::Keys { ranges, is_descending } => loop {
                let range = ranges.last_mut()?;
                match range.next(*is_descending) {
                    Some(key) => return Some((Cow::Borrowed(key), slot_of_key(key))),
                    None => ranges.pop(),
                };
            },
        }
    }
}

// The parts of a key of an extent. A foreign cursor may be of any length.
fn name_and_slot(key: &[u8]) -> (Symbol, u32) {
    let word =
        |at: usize| key.get(at..at + 4).and_then(|word| word.try_into().ok()).map_or(0, u32::from_be_bytes);
    (Symbol(word(0)), word(4))
}
