//! The ways to find a page, and the choice of one.

use std::cell::OnceCell;

use smallvec::SmallVec;

use super::access::{CandidateSet, Places};
use crate::graph::index::key::without_slot;
use crate::graph::structures::symbols::Symbol;
use crate::model::{Value, decode_key};
use crate::read::operators::filter::test::Test;
use crate::read::operators::filter::value_test::{ValueTest, key_of};
use crate::read::operators::scan::bounds::Bounds;
use crate::read::operators::scan::domain::Domain;
use crate::read::operators::sort::{self, Sorting};
use crate::search::{Header, Operator};
use crate::structures::key_set::{Key, Range};

/// At most this many candidates are always gathered, not walked to.
const GATHERED_FEW: usize = 64;

/// Greatest cost of gathering a candidate. For many candidates it is less, because their versions need not be read:
/// their place in the order is known, or that they never matched. Units: steps over a key of values.
const GATHERED_COST_MAX: usize = 60;

/// A way to find a page. All ways give the same instances in the same order.
pub(super) enum Plan<'p, 's, 't> {
    /// Walks an index in the order of the search, and ends when the page is full.
    Walk(&'p Walk<'s>),
    /// Gathers all candidates, and sorts those that fulfil the conditions.
    Gather(&'p CandidateSet<'t>),
}

/// An index in the order of the search.
pub(super) enum Walk<'s> {
    /// The slots of the domain.
    Slots { is_descending: bool },
    /// The values of a property.
    Values(ValueWalk),
    /// Instances in the order of their creation or of their last change.
    Stamps { is_updated: bool, is_descending: bool },
    /// All ids.
    Ids { is_descending: bool },
    /// The slots with one value, by age.
    Run(Box<EqualKeys<'s>>),
}

/// The values of a property within bounds; then the instances without the property, unless a condition needs it.
pub(super) struct ValueWalk {
    pub(super) property: Symbol,
    pub(super) bounds: Bounds,
    pub(super) is_descending: bool,
    pub(super) with_absent: bool,
    /// The number of conditions that the bounds cover: nearly everything within fulfils them.
    pub(super) narrowed: usize,
    /// The conditions of which only keys at the edges can fail, and the beginnings of the keys at the edges.
    pub(super) answered: SmallVec<[usize; 2]>,
    pub(super) edges: SmallVec<[Vec<u8>; 2]>,
}

impl ValueWalk {
    /// True if a value within the bounds is between their edges, so that it fulfils the answered conditions.
    #[inline]
    pub(super) fn is_between_edges(&self, key: Key<'_>) -> bool {
        !self.edges.iter().any(|edge| key.starts_with(edge))
    }
}

/// A range of an index in which all keys have one value.
pub(super) struct EqualKeys<'s> {
    pub(super) property: Symbol,
    pub(super) bounds: Bounds,
    pub(super) keys: Range<'s>,
    /// The condition that all its instances fulfil.
    pub(super) answered: Option<usize>,
}

/// All plans of a search.
pub(super) struct Plans<'p, 's, 't> {
    places: &'p Places<'s>,
    domain: &'p Domain<'s>,
    test: &'t Test,
    pub(super) walks: SmallVec<[Walk<'s>; 2]>,
    // Made on demand: many searches need none.
    accesses: OnceCell<Vec<CandidateSet<'t>>>,
}

impl<'p, 's, 't> Plans<'p, 's, 't> {
    pub(super) fn of(
        places: &'p Places<'s>,
        domain: &'p Domain<'s>,
        sorting: &Sorting,
        test: &'t Test,
    ) -> Plans<'p, 's, 't> {
        let walks = walks(places, sorting, test.parts());
        Plans { places, domain, test, walks, accesses: OnceCell::new() }
    }

    /// The last one is the domain, which always works.
    pub(super) fn accesses(&self) -> &[CandidateSet<'t>] {
        self.accesses.get_or_init(|| {
            let mut accesses = CandidateSet::all(self.places, self.test);
            let proxies = self.places.proxies.map_or(0, |slots| slots.len());
            accesses.iter_mut().for_each(|access| access.len += proxies);
            accesses.push(CandidateSet::domain(self.domain));
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
    pub(super) fn fewest(&self) -> &CandidateSet<'t> {
        self.accesses().iter().min_by_key(|access| access.len).expect("the domain is always there")
    }

    /// The plan to begin with, and the cost at which to switch to gathering. A walk that does not find enough hits
    /// within this cost is given up, because all hits may be at its end.
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

    /// True if all, or nearly all, candidates of a walk are hits.
    fn has_hits_only(&self, walk: &Walk) -> bool {
        match walk {
            Walk::Run(_) => true,
            Walk::Values(values) => {
                !self.places.with_past
                    && values.narrowed == self.test.parts().len()
                    && self.domain.is_everything_live()
            }
            _ => false,
        }
    }
}

/// The walks along indexes in the order of a search, the best one first.
fn walks<'s>(places: &Places<'s>, sorting: &Sorting, parts: &[Test]) -> SmallVec<[Walk<'s>; 2]> {
    let mut walks = SmallVec::new();
    let (snapshot, is_present) = (places.snapshot, places.snapshot.view().is_none());
    let (key, is_descending) = match sorting.keys[..] {
        [] => {
            if !places.with_past && places.proxies.is_none() {
                walks.extend(run(places, parts).map(|run| Walk::Run(Box::new(run))));
            }
            walks.push(Walk::Slots { is_descending: false });
            return walks;
        }
        [only] => only,
        _ => return walks,
    };
    let times = &places.indexes.times;
    let walk = match key {
        // A touched instance may have another place, and a page that ends with it continues by time, not by slot.
        sort::Key::Header(Header::CreatedAt)
            if (is_present || !snapshot.graph().headers.has_creation())
                && times.is_all_in_order()
                && places.touched.is_empty() =>
        {
            Walk::Slots { is_descending }
        }
        // Proxies are in no index with another order.
        _ if places.proxies.is_some() => return walks,
        sort::Key::Property(Some(property)) if places.is_indexed(property) => {
            Walk::Values(values(places, parts, property, is_descending))
        }
        // The places are those of the creations in the versions in force.
        sort::Key::Header(Header::CreatedAt) if is_present || !snapshot.graph().headers.has_creation() => {
            Walk::Stamps { is_updated: false, is_descending }
        }
        sort::Key::Header(Header::UpdatedAt) => Walk::Stamps { is_updated: true, is_descending },
        // As of an earlier time, instances may have had other ids.
        sort::Key::Header(Header::Id) if is_present || places.table.former_ids.is_empty() => {
            Walk::Ids { is_descending }
        }
        _ => return walks,
    };
    walks.push(walk);
    walks
}

// If all instances with a value have it in the same form, they are in one range of the index, by age.
fn run<'s>(places: &Places<'s>, parts: &[Test]) -> Option<EqualKeys<'s>> {
    parts.iter().enumerate().find_map(|(number, part)| {
        let Test::Property(Some(property), test) = part else { return None };
        let is_usable = test.operator == Operator::Equal
            && places.is_indexed(*property)
            && !places.table.is_multi_valued(*property);
        let bounds = Bounds::of(test).filter(|_| is_usable)?.pop()?;
        let keys = bounds.range(places.indexes.values.get(*property)?);
        let mut ends = keys.clone();
        let first = ends.next()?;
        let last = ends.next_back().unwrap_or(first);
        if without_slot(first) != without_slot(last) {
            return None;
        }
        // The index has only the beginning of a long value.
        let is_answered =
            decode_key(&without_slot(first).to_vec()).is_some_and(|value| test.holds(Some(&value)));
        Some(EqualKeys { property: *property, bounds, keys, answered: is_answered.then_some(number) })
    })
}

/// True if keys are in the order of this condition's values, so that only a key that begins like one of theirs can fail.
fn is_answered_between_edges(test: &ValueTest) -> bool {
    use Operator::{Between, Greater, GreaterOrEqual, Less, LessOrEqual};
    matches!(test.operator, Less | LessOrEqual | Greater | GreaterOrEqual | Between)
        && !test.is_of_text()
        // Literals of one key space do not all compare with each other.
        && !test.values.iter().any(|value| matches!(value, Value::Literal(_)))
}

fn values(places: &Places, parts: &[Test], property: Symbol, is_descending: bool) -> ValueWalk {
    let bounds = Bounds::default();
    let mut walk = ValueWalk {
        property,
        bounds,
        is_descending,
        with_absent: true,
        narrowed: 0,
        answered: SmallVec::new(),
        edges: SmallVec::new(),
    };
    let is_single = !places.table.is_multi_valued(property);
    for (number, part) in parts.iter().enumerate() {
        let Test::Property(Some(name), test) = part else { continue };
        if *name != property {
            continue;
        }
        let stretches = places.stretches(property, test);
        // Lists and maps are not in the index, but fulfil such conditions.
        walk.with_absent &= stretches.is_none() && !test.is_of_text();
        let stretch = match stretches {
            Some(mut stretches) if stretches.len() == 1 => stretches.pop(),
            Some(_) => None,
            None => {
                let pattern = test.pattern.as_ref().filter(|_| test.is_of_text());
                let all = pattern.and_then(Bounds::of_pattern);
                all.map(|[strings, ..]| strings).filter(|_| !places.has_other_texts(property))
            }
        };
        if let Some(own) = stretch.filter(|_| is_single) {
            walk.bounds.intersect(own);
            walk.narrowed += 1;
            if is_answered_between_edges(test) {
                walk.answered.push(number);
                walk.edges.extend(test.values.iter().map(key_of));
            }
        }
    }
    walk
}
