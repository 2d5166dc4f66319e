//! The ways to find a page, and which one is taken.

use super::access::{Access, Places};
use super::bounds::Bounds;
use super::domain::Domain;
use super::order::{Shape, Sorting};
use super::test::Test;
use crate::graph::symbols::Symbol;
use crate::search::Operator;

/// So many candidates are gathered rather than walked to, whatever a page needs.
const GATHERED_FEW: usize = 64;

/// A way to find a page. Every one gives the same instances in the same order.
pub(super) enum Plan<'t> {
    /// Walks an index in the order of the search, and ends when the page is full.
    Walk(Walk),
    /// Gathers all candidates, and sorts what fulfils the conditions.
    Gather(Access<'t>),
}

/// An index in the order of the search.
#[derive(Clone, Debug)]
pub(super) enum Walk {
    /// The slots of the domain.
    Slots { is_descending: bool },
    /// The values of a property within bounds; then, unless a condition asks for the property, what lacks it.
    Values { property: Symbol, bounds: Bounds, is_descending: bool, with_absent: bool },
    /// What was created, or changed, in the order of these times.
    Stamps { is_updated: bool, is_descending: bool },
    /// All ids.
    Ids { is_descending: bool },
    /// The slots that hold one value, by age.
    Run { property: Symbol, bounds: Bounds },
}

/// All plans of a search.
pub(super) struct Plans<'t> {
    pub(super) walks: Vec<Walk>,
    /// The last one is the domain, which always serves.
    pub(super) accesses: Vec<Access<'t>>,
}

impl<'t> Plans<'t> {
    pub(super) fn of(places: &Places, domain: &Domain, sorting: &Sorting, test: &'t Test) -> Plans<'t> {
        let shape = sorting.shape(places.snapshot, places.table);
        let parts = match test {
            Test::All(parts) => &parts[..],
            one => std::slice::from_ref(one),
        };
        let mut walks = Vec::new();
        match shape {
            // Proxies are in no index in another order.
            shape if places.proxies.is_some() && !matches!(shape, Shape::Slots { .. }) => {}
            Shape::Slots { is_descending } => {
                if !is_descending && !places.with_past && places.proxies.is_none() {
                    walks.extend(run(places, parts));
                }
                walks.push(Walk::Slots { is_descending });
            }
            Shape::Values { property, is_descending } => {
                walks.push(values(places, parts, property, is_descending));
            }
            Shape::Stamps { is_updated, is_descending } => {
                walks.push(Walk::Stamps { is_updated, is_descending });
            }
            Shape::Ids { is_descending } => walks.push(Walk::Ids { is_descending }),
            Shape::Mixed => {}
        }
        let mut accesses = Access::all(places, test);
        let proxies = places.proxies.map_or(0, |slots| slots.len());
        accesses.iter_mut().for_each(|access| access.len += proxies);
        accesses.push(Access::domain(domain));
        Plans { walks, accesses }
    }

    pub(super) fn len(&self) -> usize {
        self.walks.len() + self.accesses.len()
    }

    /// The plan with a number below [`Plans::len`].
    pub(super) fn plan(&self, number: usize) -> Plan<'t> {
        match self.walks.get(number) {
            Some(walk) => Plan::Walk(walk.clone()),
            None => Plan::Gather(self.accesses[number - self.walks.len()].clone()),
        }
    }

    /// The way with the fewest candidates to gather everything.
    pub(super) fn fewest(&self) -> &Access<'t> {
        self.accesses.iter().min_by_key(|access| access.len).expect("the domain is always there")
    }

    /// The plan to begin with, and after how many candidates to go over to gathering. A walk that does not come upon
    /// enough in time is given up: what is searched for may stand at its end.
    pub(super) fn choose(&self, needed: usize) -> (Plan<'t>, Option<usize>) {
        let fewest = self.fewest();
        let Some(walk) = self.walks.first() else { return (Plan::Gather(fewest.clone()), None) };
        if let Walk::Run { .. } = walk {
            return (Plan::Walk(walk.clone()), None);
        }
        let is_slots = matches!(walk, Walk::Slots { .. } | Walk::Stamps { .. });
        if is_slots && self.accesses.len() == 1 {
            return (Plan::Walk(walk.clone()), None);
        }
        let few = if is_slots { GATHERED_FEW + 4 * needed } else { GATHERED_FEW };
        if fewest.len <= few {
            return (Plan::Gather(fewest.clone()), None);
        }
        (Plan::Walk(walk.clone()), Some((fewest.len / 2).max(2 * needed)))
    }
}

// A value that all who hold it hold in the same form stands in one stretch of the index, by age.
fn run(places: &Places, parts: &[Test]) -> Option<Walk> {
    parts.iter().find_map(|part| {
        let Test::Property(Some(property), test) = part else { return None };
        let is_usable = test.operator == Operator::Equal
            && !places.snapshot.graph().types.unindexed.contains(property)
            && !places.table.is_multi_valued(*property);
        let bounds = Bounds::of(test).filter(|_| is_usable)?.pop()?;
        let set = places.table.values.get(property.index())?;
        let mut keys = bounds.range(set);
        let first = keys.next()?;
        let last = keys.next_back().unwrap_or(first);
        let value = |key: &'_ [u8]| key.len().checked_sub(4).map(|end| key[..end].to_vec());
        (value(first) == value(last)).then_some(Walk::Run { property: *property, bounds })
    })
}

fn values(places: &Places, parts: &[Test], property: Symbol, is_descending: bool) -> Walk {
    let mut bounds = Bounds::default();
    let mut with_absent = true;
    for part in parts {
        let Test::Property(Some(name), test) = part else { continue };
        if *name != property {
            continue;
        }
        let stretches = Bounds::of(test);
        // Lists and maps are not in the index, but fulfil such conditions.
        let is_of_index = stretches.is_some() || test.is_of_text();
        with_absent &= !is_of_index;
        if let Some([own]) = stretches.as_deref()
            && !places.table.is_multi_valued(property)
        {
            bounds.intersect(own);
        }
    }
    Walk::Values { property, bounds, is_descending, with_absent }
}
