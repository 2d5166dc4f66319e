//! Lists a page while it walks an index in the order of a search.

use super::access::Places;
use super::bounds::Sure;
use super::explain;
use super::order::absent_key;
use super::plan::Walk;
use super::run::Leg;
use super::run::{Asked, Hits, Search, Steps};
use super::skip::Skip;
use super::test::Test;
use super::walk::{Candidate, Place, Walker, sort_key};
use crate::Result;
use crate::read::held::Held;
use crate::read::stored::Weighing;

/// Pages of more instances make room as they find them.
pub(super) const ITEMS_RESERVED_MAX: usize = 1_000;
/// What a step along times or ids costs. Units: steps over a key of values.
const STEP_COST: usize = 10;
/// What it costs to see that a candidate stands elsewhere in the order. Units: the same.
const ELSEWHERE_COST: usize = 20;

/// What a walk does not tell of the candidates that it comes upon.
struct Checks<'a> {
    /// That they are of the domain.
    domain: bool,
    /// That they stand where it found them: the index holds more than what this view sees, or one instance at several
    /// places.
    place: bool,
    /// That they lack what it found them to lack.
    absence: bool,
    /// Nothing: what it comes upon is listed.
    nothing: bool,
    /// Keys that answer some of what is asked, and what is left to ask then.
    sure: Option<Sure<'a>>,
    undecided: Vec<&'a Test>,
}

impl<'s> Search<'s, '_> {
    fn checks<'a>(&self, walk: &'a Walk<'s>, places: &Places<'s>, asked: &Asked<'a, 's>) -> Checks<'a> {
        let is_exact = self.reach.is_exact();
        let place = match walk {
            Walk::Values(values) => !is_exact || places.table.is_multi_valued(values.property),
            Walk::Stamps { .. } => !is_exact,
            Walk::Slots { .. } | Walk::Ids { .. } | Walk::Run(_) => false,
        };
        let in_domain = match walk {
            Walk::Slots { .. } => true,
            Walk::Values(_) | Walk::Run(_) => is_exact && self.domain.is_everything_live(),
            Walk::Stamps { .. } | Walk::Ids { .. } => false,
        };
        let (undecided, sure) = match walk {
            Walk::Values(values) if !place => (without(&asked.all, &values.decided), values.sure(&asked.all)),
            Walk::Run(run) => (without(&asked.all, run.decided.as_slice()), Some(Sure::of_all())),
            _ => (asked.all.clone(), None),
        };
        let nothing = matches!(walk, Walk::Values(_) | Walk::Run(_))
            && is_exact
            && in_domain
            && !place
            && undecided.is_empty()
            && !places.table.spill.is_used();
        let absence = matches!(walk, Walk::Values(_) | Walk::Stamps { .. });
        Checks { domain: !in_domain, place, absence, nothing, sure, undecided }
    }

    /// Walks; `None` if it costs more than the budget before the page is full.
    pub(super) fn walk<T>(
        &self,
        walk: &Walk<'s>,
        places: &Places<'s>,
        leg: Leg<'_>,
        steps: &mut Steps,
        make: impl Fn(u32, Held) -> T + Copy,
    ) -> Result<Option<Hits<T>>> {
        let Leg { after, budget } = leg;
        steps.tell(|| explain::of_walk(walk, places));
        let limit = self.find.limit;
        let asked = self.asked(places);
        let checks = self.checks(walk, places, &asked);
        let mut offset = self.find.offset;
        let mut walker = Walker::start(walk, places.table, &self.domain, places.with_past, after);
        if asked.all.is_empty() && self.reach.is_exact() {
            offset -= walker.skip_slots(offset);
        }
        let mut weighing = Weighing::new(self.snapshot, self.kind, limit, self.find.bytes_max);
        let mut is_full = false;
        let mut hits = Hits { items: Vec::with_capacity(limit.min(ITEMS_RESERVED_MAX)), last: None };
        let (mut skip, mut known) = (Skip::new(), <[Vec<u8>; 2]>::default());
        let is_of_times = checks.place && matches!(walk, Walk::Stamps { .. });
        let verified_cost = places.verified_cost();
        let step_cost = if walker.is_along_values() { 1 } else { STEP_COST };
        let (mut cost, mut last) = (0, None);
        loop {
            if checks.nothing && offset == 0 && !weighing.is_needed() {
                let (sure, room) = (checks.sure.as_ref(), limit - hits.items.len());
                let (listed, key) =
                    walker.list_sure(sure, room, &mut hits.items, move |slot| make(slot, Held::InForce));
                self.bound.visit_all(listed, self.snapshot)?;
                steps.candidates += listed;
                if let Some(key) = key.filter(|_| listed == room) {
                    last = Some(self.place_of(walk, &Candidate::at(key), &Held::InForce));
                }
            }
            // Not taken out: what is moved just after it was made is waited for.
            let next = walker.next();
            let Some(candidate) = &next else { break };
            self.bound.visit(self.snapshot)?;
            steps.candidates += 1;
            if budget.is_some_and(|budget| cost > budget) {
                return Ok(None);
            }
            let slot = candidate.slot;
            if checks.domain && !self.domain.contains(slot) {
                cost += step_cost;
                skip.miss(candidate, &mut walker, &self.domain);
                continue;
            }
            skip.hit();
            if is_of_times && self.is_known_elsewhere(places, candidate, &mut known) {
                cost += ELSEWHERE_COST;
                continue;
            }
            cost += verified_cost;
            let tests = match (&candidate.key, &checks.sure) {
                (Place::Key(key), Some(sure)) if sure.holds(key) => &checks.undecided,
                _ => &asked.all,
            };
            let Some(held) = self.admit(slot, &asked, tests, steps)? else { continue };
            let checks_place = checks.place || checks.absence && matches!(candidate.key, Place::Absent);
            if checks_place && !self.stands_at(candidate, &held) {
                continue;
            }
            if offset > 0 {
                offset -= 1;
                continue;
            }
            if is_full || hits.items.len() == limit {
                hits.last = last;
                break;
            }
            is_full = weighing.is_full_with(self.snapshot, self.kind, slot, &held);
            if is_full || hits.items.len() + 1 == limit {
                last = Some(self.place_of(walk, candidate, &held));
            }
            hits.items.push(make(slot, held));
        }
        Ok(Some(hits))
    }

    /// The place in the order of what a walk came upon.
    fn place_of(&self, walk: &Walk, candidate: &Candidate, held: &Held) -> Vec<u8> {
        let (Walk::Values(_), Place::Key(key)) = (walk, &candidate.key) else {
            let mut place = Vec::new();
            self.write_key(candidate.slot, held, &mut place);
            return place;
        };
        let mut place = Vec::with_capacity(key.len() + 1);
        sort_key(key, self.sorting.is_last_descending(), &mut place);
        place
    }

    /// True if a walk came upon the instance at its place in the order.
    fn stands_at(&self, candidate: &Candidate, held: &Held) -> bool {
        let (mut own, mut expected) = (Vec::new(), Vec::new());
        self.write_key(candidate.slot, held, &mut own);
        let is_descending = self.sorting.is_last_descending();
        match &candidate.key {
            Place::Key(key) => sort_key(key, is_descending, &mut expected),
            Place::Absent => absent_key(candidate.slot, is_descending, &mut expected),
        }
        own == expected
    }

    /// True if a walk by times came upon the instance at another place than its own, as far as that is known before its
    /// version is read.
    fn is_known_elsewhere(
        &self,
        places: &Places<'s>,
        candidate: &Candidate,
        [own, expected]: &mut [Vec<u8>; 2],
    ) -> bool {
        let Place::Key(key) = &candidate.key else { return false };
        sort_key(key, self.sorting.is_last_descending(), expected);
        self.write_known_key(places, candidate.slot, own) && own != expected
    }
}

/// All but those at some places.
fn without<'t>(tests: &[&'t Test], places: &[usize]) -> Vec<&'t Test> {
    let kept = tests.iter().enumerate().filter(|(place, _)| !places.contains(place));
    kept.map(|(_, test)| *test).collect()
}
