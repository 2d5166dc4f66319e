//! The ways to find a page, and which one is taken.

use std::cell::OnceCell;

use smallvec::SmallVec;

use super::access::{Access, Places};
use super::bounds::Bounds;
use super::domain::Domain;
use super::order::{Shape, Sorting};
use super::test::Test;
use crate::graph::structures::symbols::Symbol;
use crate::model::{Value, decode_key, has_own_key};
use crate::search::{Operator, Pattern};
use crate::structures::key_set::Range;

/// So many candidates are gathered rather than walked to, whatever a page needs.
const GATHERED_FEW: usize = 64;

/// What it costs at most to gather a candidate: of many, places in the order are known, or that they never were what is
/// searched for, and their versions are not read. Units: steps over a key of values.
const GATHERED_COST_MAX: usize = 60;

/// A way to find a page. Every one gives the same instances in the same order.
pub(super) enum Plan<'p, 's, 't> {
    /// Walks an index in the order of the search, and ends when the page is full.
    Walk(&'p Walk<'s>),
    /// Gathers all candidates, and sorts what fulfils the conditions.
    Gather(&'p Access<'t>),
}

/// An index in the order of the search.
pub(super) enum Walk<'s> {
    /// The slots of the domain.
    Slots { is_descending: bool },
    /// The values of a property.
    Values(ValueWalk),
    /// What was created, or changed, in the order of these times.
    Stamps { is_updated: bool, is_descending: bool },
    /// All ids.
    Ids { is_descending: bool },
    /// The slots that hold one value, by age.
    Run(Box<Run<'s>>),
}

/// The values of a property within bounds; then, unless a condition asks for the property, what lacks it.
pub(super) struct ValueWalk {
    pub(super) property: Symbol,
    pub(super) bounds: Bounds,
    pub(super) is_descending: bool,
    pub(super) with_absent: bool,
    /// Conditions of which keys that hold their whole value tell.
    pub(super) decided: SmallVec<[usize; 2]>,
    /// True if all these keys fulfil them; otherwise those that begin as an edge may not.
    pub(super) is_sure_at_edges: bool,
}

/// One stretch of an index in which all keys hold one value.
pub(super) struct Run<'s> {
    pub(super) property: Symbol,
    pub(super) bounds: Bounds,
    pub(super) keys: Range<'s>,
    /// The condition that everything in it fulfils.
    pub(super) decided: Option<usize>,
}

/// All plans of a search.
pub(super) struct Plans<'p, 's, 't> {
    places: &'p Places<'s>,
    domain: &'p Domain<'s>,
    test: &'t Test,
    pub(super) walks: SmallVec<[Walk<'s>; 2]>,
    // Made when somebody asks: many searches need none.
    accesses: OnceCell<Vec<Access<'t>>>,
}

impl<'p, 's, 't> Plans<'p, 's, 't> {
    pub(super) fn of(
        places: &'p Places<'s>,
        domain: &'p Domain<'s>,
        sorting: &Sorting,
        test: &'t Test,
    ) -> Plans<'p, 's, 't> {
        let shape = sorting.shape(places);
        let parts = test.parts();
        let mut walks = SmallVec::new();
        match shape {
            // Proxies are in no index in another order.
            shape if places.proxies.is_some() && !matches!(shape, Shape::Slots { .. }) => {}
            Shape::Slots { is_descending } => {
                if !is_descending && !places.with_past && places.proxies.is_none() {
                    walks.extend(run(places, parts).map(|run| Walk::Run(Box::new(run))));
                }
                walks.push(Walk::Slots { is_descending });
            }
            Shape::Values { property, is_descending } => {
                walks.push(Walk::Values(values(places, parts, property, is_descending)));
            }
            Shape::Stamps { is_updated, is_descending } => {
                walks.push(Walk::Stamps { is_updated, is_descending });
            }
            Shape::Ids { is_descending } => walks.push(Walk::Ids { is_descending }),
            Shape::Mixed => {}
        }
        Plans { places, domain, test, walks, accesses: OnceCell::new() }
    }

    /// The last one is the domain, which always serves.
    pub(super) fn accesses(&self) -> &[Access<'t>] {
        self.accesses.get_or_init(|| {
            let mut accesses = Access::all(self.places, self.test);
            let proxies = self.places.proxies.map_or(0, |slots| slots.len());
            accesses.iter_mut().for_each(|access| access.len += proxies);
            accesses.push(Access::domain(self.domain));
            accesses
        })
    }

    /// The plan with this number; `None` if there are fewer.
    pub(super) fn plan(&self, number: usize) -> Option<Plan<'_, 's, 't>> {
        match self.walks.get(number) {
            Some(walk) => Some(Plan::Walk(walk)),
            None => self.accesses().get(number - self.walks.len()).map(Plan::Gather),
        }
    }

    /// The way with the fewest candidates to gather everything.
    pub(super) fn fewest(&self) -> &Access<'t> {
        self.accesses().iter().min_by_key(|access| access.len).expect("the domain is always there")
    }

    /// The plan to begin with, and the cost at which to go over to gathering. A walk that does not come upon
    /// enough in time is given up: what is searched for may stand at its end.
    pub(super) fn choose(&self, needed: usize) -> (Plan<'_, 's, 't>, Option<usize>) {
        let Some(walk) = self.walks.first() else { return (Plan::Gather(self.fewest()), None) };
        if self.has_hits_only(walk) {
            return (Plan::Walk(walk), None);
        }
        let is_slots = matches!(walk, Walk::Slots { .. } | Walk::Stamps { .. });
        if is_slots && self.accesses().len() == 1 {
            return (Plan::Walk(walk), None);
        }
        let few = if is_slots { GATHERED_FEW + 4 * needed } else { GATHERED_FEW };
        let fewest = self.fewest();
        if fewest.len <= few {
            return (Plan::Gather(fewest), None);
        }
        let verified_cost = self.places.verified_cost();
        let gathered_cost = verified_cost.min(GATHERED_COST_MAX);
        let gathering = (fewest.len / 2).saturating_mul(gathered_cost);
        (Plan::Walk(walk), Some(gathering.max(needed.saturating_mul(2 * verified_cost))))
    }

    /// True if a walk comes upon nothing, or hardly anything, that is not searched for.
    fn has_hits_only(&self, walk: &Walk) -> bool {
        match walk {
            Walk::Run(_) => true,
            Walk::Values(values) => {
                !self.places.with_past
                    && values.decided.len() == self.test.parts().len()
                    && self.domain.is_everything_live()
            }
            _ => false,
        }
    }
}

// A value that all who hold it hold in the same form stands in one stretch of the index, by age.
fn run<'s>(places: &Places<'s>, parts: &[Test]) -> Option<Run<'s>> {
    let table = places.table;
    parts.iter().enumerate().find_map(|(number, part)| {
        let Test::Property(Some(property), test) = part else { return None };
        let is_usable = test.operator == Operator::Equal
            && !places.snapshot.graph().types.unindexed.contains(property)
            && !table.is_multi_valued(*property);
        let bounds = Bounds::of(test).filter(|_| is_usable)?.pop()?;
        let keys = bounds.range(places.indexes.values.get(*property)?);
        let mut ends = keys.clone();
        let first = ends.next()?;
        let last = ends.next_back().unwrap_or(first);
        let value = |key: &'s [u8]| key.len().checked_sub(4).map(|end| &key[..end]);
        if value(first) != value(last) {
            return None;
        }
        // What one has, all have, unless only the beginning is known.
        let value = value(first).and_then(decode_key);
        let is_decided = value.is_some_and(|value| test.holds(Some(&value)));
        Some(Run { property: *property, bounds, keys, decided: is_decided.then_some(number) })
    })
}

fn values(places: &Places, parts: &[Test], property: Symbol, is_descending: bool) -> ValueWalk {
    let mut walk = ValueWalk {
        property,
        bounds: Bounds::default(),
        is_descending,
        with_absent: true,
        decided: SmallVec::new(),
        is_sure_at_edges: true,
    };
    let is_single = !places.table.is_multi_valued(property);
    for (number, part) in parts.iter().enumerate() {
        let Test::Property(Some(name), test) = part else { continue };
        if *name != property {
            continue;
        }
        let stretches = Bounds::of(test);
        // Lists and maps are not in the index, but fulfil such conditions.
        let is_of_index = stretches.is_some() || test.is_of_text();
        walk.with_absent &= !is_of_index;
        if !is_single {
            continue;
        }
        let Some(mut stretches) = stretches else {
            if let Some(pattern) = test.pattern.as_ref().filter(|_| test.is_of_text())
                && let Some([strings, _]) = Bounds::of_pattern(pattern)
                && !places.has_iris(property)
            {
                walk.bounds.intersect(strings);
                if let Pattern::Equal(text) | Pattern::Prefix(text) = pattern
                    && has_own_key(&Value::from(&**text))
                {
                    walk.decided.push(number);
                }
            }
            continue;
        };
        if stretches.len() == 1
            && let Some(own) = stretches.pop()
        {
            walk.bounds.intersect(own);
            if let Some(at_edges) = Bounds::tell(test) {
                walk.is_sure_at_edges &= at_edges;
                walk.decided.push(number);
            }
        }
    }
    walk
}

impl ValueWalk {
    /// The conditions that every key which holds its whole value fulfils.
    pub(super) fn answered(&self) -> &[usize] {
        if self.is_sure_at_edges { &self.decided } else { &[] }
    }
}
