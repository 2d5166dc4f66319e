//! Takes candidates of a walk many at a time, where nothing but the domain must be checked of them.

use super::by_plan::{Asked, Search, Steps};
use super::plan::Walk;
use super::walk::Walker;
use crate::Result;
use crate::read::operators::page::Filling;
use crate::read::operators::scan::domain::Domain;
use crate::read::past::held::Held;

/// Most candidates that are taken at once.
const TOGETHER_MAX: usize = 64;

/// Cost of a step along times or ids. Units: steps over a key of values.
const STEP_COST: usize = 10;

/// Conditions that a walk does not guarantee for its candidates.
pub(super) struct Checks<'s> {
    /// That they belong to this domain.
    pub(super) domain: Option<Domain<'s>>,
    /// That their place is the one where the walk found them: the index holds more than this view sees, or one instance
    /// at several places.
    pub(super) place: bool,
    /// That they lack the property.
    pub(super) absence: bool,
    /// That no event has changed them since the position of the indexes.
    pub(super) is_told: bool,
}

/// The cost of a walk so far, and the bound at which it is given up. Units: steps over a key of values.
pub(super) struct Pace {
    pub(super) cost: usize,
    budget: Option<usize>,
    /// Cost of a candidate of the domain. Not less than that of another.
    pub(super) verified_cost: usize,
    pub(super) step_cost: usize,
}

impl Pace {
    pub(super) fn new(budget: Option<usize>, verified_cost: usize, is_along_values: bool) -> Pace {
        Pace { cost: 0, budget, verified_cost, step_cost: if is_along_values { 1 } else { STEP_COST } }
    }

    /// True if the walk is given up before its next candidate.
    pub(super) fn is_too_much(&self) -> bool {
        self.budget.is_some_and(|budget| self.cost > budget)
    }

    /// A number of candidates before which the walk is certainly not given up.
    fn left(&self) -> usize {
        let Some(budget) = self.budget else { return usize::MAX };
        budget.checked_sub(self.cost).map_or(0, |left| left / self.verified_cost + 1)
    }
}

impl<'s> Search<'s, '_> {
    /// True if the candidates that [`Walker::next_together`] gives are hits, at the places where the walk finds them, if the
    /// domain contains them. `asked` has the conditions on them.
    pub(super) fn are_taken_together(checks: &Checks<'_>, asked: &Asked<'_, 's>) -> bool {
        asked.are_all_hits && !checks.place && !checks.is_told
    }

    /// Takes candidates until the next one must be looked at alone.
    pub(super) fn take_together<T>(
        &self,
        walk: &Walk<'s>,
        walker: &mut Walker<'_, 's>,
        checks: &Checks<'_>,
        (page, pace): (&mut Filling<'_, T>, &mut Pace),
        steps: &mut Steps,
        make: impl Fn(u32, Held) -> T,
    ) -> Result<()> {
        let mut slots = [0; TOGETHER_MAX];
        loop {
            let room = page.room().min(pace.left()).min(self.bound.left());
            let Some(room) = slots.get_mut(..room.min(TOGETHER_MAX)).filter(|room| !room.is_empty()) else {
                return Ok(());
            };
            let Some((count, last)) = walker.next_together(room) else { return Ok(()) };
            self.bound.visit_together(self.snapshot, count)?;
            steps.candidates += count;
            let found =
                checks.domain.as_ref().map_or(count, |domain| keep_in_domain(domain, &mut slots[..count]));
            pace.cost += found * pace.verified_cost + (count - found) * pace.step_cost;
            // If the page is full with them, all were found.
            page.add_together(&slots[..found], || self.place_of(walk, last, &Held::InForce), &make);
        }
    }
}

/// Moves the slots of the domain to the front; returns their number.
fn keep_in_domain(domain: &Domain<'_>, slots: &mut [u32]) -> usize {
    let mut kept = 0;
    for at in 0..slots.len() {
        if domain.contains(slots[at]) {
            slots[kept] = slots[at];
            kept += 1;
        }
    }
    kept
}
