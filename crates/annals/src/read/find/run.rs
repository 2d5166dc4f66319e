//! Runs a search by a plan.

use std::collections::BinaryHeap;

use super::access::{Access, Places};
use super::bounds::Sure;
use super::domain::{Domain, Reach};
use super::ever::Ever;
use super::order::Sorting;
use super::plan::{Plan, Plans, Walk};
use super::resolve;
use super::skip::Skip;
use super::subject::Subject;
use super::test::{Bound, Test};
use super::walk::{Place, Walker, sort_key};
use super::{cursor, explain};
use crate::Result;
use crate::graph::row::Row;
use crate::graph::table::slot_of_key;
use crate::model::{Status, TypeKind};
use crate::read::instance::Held;
use crate::read::snapshot::Snapshot;
use crate::search::{Deleted, Find, Header};

/// Pages of more instances make room as they find them.
const ITEMS_RESERVED_MAX: usize = 1_000;

/// An instance that was found, and its place in the order.
struct Found {
    key: Vec<u8>,
    slot: u32,
    held: Held,
}

/// The instances of a page.
pub(super) struct Hits {
    pub(super) items: Vec<(u32, Held)>,
    /// The place of the last one, if there are more.
    pub(super) last: Option<Vec<u8>>,
}

/// What is asked of candidates.
struct Asked<'a, 's> {
    all: Vec<&'a Test>,
    /// The same of everything they ever were, for searches that look at more than the present.
    ever: Ever<'a>,
    places: &'a Places<'s>,
}

/// What happened on the way to a page.
#[derive(Default)]
pub(super) struct Steps {
    /// True if somebody asks which plans there were.
    pub(super) is_told: bool,
    pub(super) plans: Vec<String>,
    pub(super) candidates: usize,
    pub(super) verified: usize,
    pub(super) found: usize,
}

impl Steps {
    fn tell(&mut self, plan: impl FnOnce() -> String) {
        if self.is_told {
            self.plans.push(plan());
        }
    }
}

/// A search with everything looked up.
pub(super) struct Search<'s, 'f> {
    pub(super) snapshot: &'s Snapshot,
    pub(super) kind: TypeKind,
    pub(super) find: &'f Find,
    test: Test,
    types: Option<Vec<crate::graph::symbols::Symbol>>,
    pub(super) sorting: Sorting,
    reach: Reach,
    pub(super) bound: Bound,
}

impl<'s, 'f> Search<'s, 'f> {
    pub(super) fn new(snapshot: &'s Snapshot, kind: TypeKind, find: &'f Find) -> Result<Search<'s, 'f>> {
        find.check()?;
        let types = resolve::types(snapshot, kind, find)?;
        let mut test = resolve::test(snapshot, kind, &find.filter)?;
        let is_present = snapshot.view().is_none();
        let reach = Reach {
            live: !is_present || find.deleted != Deleted::Only,
            other: !is_present || find.deleted != Deleted::Without,
            proxies: find.with_proxies && kind == TypeKind::Entity && snapshot.has_proxies(),
        };
        if !reach.is_exact()
            && let Some(types) = &types
        {
            // The lists of types hold more than what this view sees.
            let of_types = Test::Type(types.clone());
            test = match test {
                Test::All(mut parts) => {
                    parts.insert(0, of_types);
                    Test::All(parts)
                }
                other => Test::All(vec![of_types, other]),
            };
        }
        let sorting = Sorting::of(snapshot, find, &test);
        let bound = Bound::new(find.visited_max);
        Ok(Search { snapshot, kind, find, test, types, sorting, reach, bound })
    }

    /// Where candidates come from, and what is still to be asked of them.
    pub(super) fn split(mut self) -> (Domain<'s>, Search<'s, 'f>) {
        let table = self.snapshot.graph().table(self.kind);
        let mut domain = Domain::all(table, self.reach);
        if let Some(types) = &self.types {
            domain.of_types(types, self.reach);
        }
        let is_exact = self.reach.is_exact();
        let mut parts = match self.test {
            Test::All(parts) => parts,
            one => vec![one],
        };
        parts.retain(|part| match part {
            Test::Type(types) => {
                domain.of_types(types, self.reach);
                !is_exact
            }
            Test::Header(Header::Home, test) => {
                if let Some(home) = test.equal_text() {
                    domain.of_home(self.snapshot.graph().names.find(home), self.reach);
                }
                true
            }
            Test::Classified(names, matching) if self.kind == TypeKind::Entity => {
                domain.of_classified(names, self.reach);
                !is_exact || matching.is_some()
            }
            _ => true,
        });
        self.test = Test::All(parts);
        (domain, self)
    }

    fn places(&self) -> Places<'s> {
        let table = self.snapshot.graph().table(self.kind);
        Places {
            snapshot: self.snapshot,
            kind: self.kind,
            table,
            with_past: self.reach.other,
            proxies: self.reach.proxies.then_some(&table.proxies),
        }
    }

    fn asked<'a>(&'a self, places: &'a Places<'s>) -> Asked<'a, 's> {
        let ever = if self.reach.is_exact() { Ever::Unknown } else { Ever::of(places, &self.test) };
        Asked { all: self.test.parts().iter().collect(), ever, places }
    }

    /// The version of a candidate of the domain that the snapshot sees, if it is one of those searched for: if it
    /// fulfils what is `asked`.
    #[inline]
    fn admit(
        &self,
        slot: u32,
        asked: &Asked<'_, 's>,
        tests: &[&Test],
        steps: &mut Steps,
    ) -> Result<Option<Held>> {
        if !self.reach.is_exact() {
            return self.admit_of_any_time(slot, asked, tests, steps);
        }
        // The domain has live ones only.
        let held = self.snapshot.in_force(self.kind, slot)?;
        let is_admitted = tests.is_empty() || self.holds(slot, &held, tests, steps)?;
        Ok(is_admitted.then_some(held))
    }

    fn holds(&self, slot: u32, held: &Held, tests: &[&Test], steps: &mut Steps) -> Result<bool> {
        steps.verified += 1;
        let subject = self.subject(slot, held);
        for test in tests {
            if !test.holds(self.snapshot, &self.bound, subject)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn admit_of_any_time(
        &self,
        slot: u32,
        asked: &Asked<'_, 's>,
        tests: &[&Test],
        steps: &mut Steps,
    ) -> Result<Option<Held>> {
        let table = asked.places.table;
        let Some(in_force) = table.row(slot).map(Row::in_force) else { return Ok(None) };
        let view = self.snapshot.view();
        let seen = view.map_or(Some(in_force), |view| table.version_in(slot, view));
        let Some(version) = seen else { return Ok(None) };
        let is_deleted = version.status == Status::Deleted;
        let is_wanted = match self.find.deleted {
            Deleted::Without => !is_deleted,
            Deleted::With => true,
            Deleted::Only => is_deleted,
        };
        if !is_wanted {
            return Ok(None);
        }
        let is_proxy = match view {
            None => table.proxies.contains(slot),
            Some(_) => self.snapshot.graph().headers.get(version.header).is_proxy,
        };
        if is_proxy && !self.reach.proxies {
            return Ok(None);
        }
        // Reading a version costs more than a look at all values that there ever were.
        if version.version != in_force.version && !asked.ever.may_hold(asked.places, slot, version) {
            return Ok(None);
        }
        let held = self.snapshot.content(self.kind, slot, version)?;
        Ok(self.holds(slot, &held, tests, steps)?.then_some(held))
    }

    fn subject<'h>(&'h self, slot: u32, held: &'h Held) -> Subject<'h> {
        match held {
            Held::InForce => Subject::InForce(self.kind, slot),
            Held::Read(instance) => Subject::Read(self.kind, slot, instance),
        }
    }

    fn write_key(&self, slot: u32, held: &Held, key: &mut Vec<u8>) {
        self.sorting.write_key(self.snapshot, self.kind, slot, self.subject(slot, held), key);
    }

    /// The instances of a page, by the plan with this number, or by the best.
    ///
    /// Shape: `None` if there is no such plan.
    pub(super) fn run(
        &self,
        domain: &Domain<'s>,
        forced: Option<usize>,
        steps: &mut Steps,
    ) -> Result<Option<Hits>> {
        let places = self.places();
        let after =
            self.find.after.as_deref().map(|text| cursor::decode(self.sorting.number, text)).transpose()?;
        let after = after.as_deref();
        let needed = self.find.limit.saturating_add(self.find.offset).saturating_add(1);
        let plans = Plans::of(&places, domain, &self.sorting, &self.test);
        let (plan, budget) = match forced.map(|number| plans.plan(number)) {
            Some(None) => return Ok(None),
            Some(Some(plan)) => (plan, None),
            None => plans.choose(needed),
        };
        match plan {
            Plan::Gather(access) => self.gather(access, &places, domain, after, steps).map(Some),
            Plan::Walk(walk) => {
                if let Some(hits) = self.walk(walk, &places, domain, after, budget, steps)? {
                    return Ok(Some(hits));
                }
                self.gather(plans.fewest(), &places, domain, after, steps).map(Some)
            }
        }
    }

    /// Walks; `None` if it costs more than the budget before the page is full.
    fn walk(
        &self,
        walk: &Walk<'s>,
        places: &Places<'s>,
        domain: &Domain<'s>,
        after: Option<&[u8]>,
        budget: Option<usize>,
        steps: &mut Steps,
    ) -> Result<Option<Hits>> {
        steps.tell(|| explain::of_walk(walk, places));
        let is_exact = self.reach.is_exact();
        let asked = self.asked(places);
        let mut offset = self.find.offset;
        let mut walker = Walker::start(walk, places.table, domain, places.with_past, after);
        if asked.all.is_empty() && is_exact {
            offset -= walker.skip_slots(offset);
        }
        let (values, is_descending) = match walk {
            Walk::Values(values) => (Some(values), values.is_descending),
            Walk::Stamps { is_descending, .. } => (None, *is_descending),
            _ => (None, false),
        };
        // The index may hold more than what this view sees, and one instance at several places.
        let checks_place = match walk {
            Walk::Values(values) => !is_exact || places.table.is_multi_valued(values.property),
            Walk::Stamps { .. } => !is_exact,
            _ => false,
        };
        let is_along_values = matches!(walk, Walk::Values(_) | Walk::Run(_));
        let mut skip = Skip::new();
        let checks_absence = matches!(walk, Walk::Values(_) | Walk::Stamps { .. });
        let checks_domain = match walk {
            Walk::Slots { .. } => false,
            Walk::Values(_) | Walk::Run(_) => !(is_exact && domain.is_everything_live()),
            Walk::Stamps { .. } | Walk::Ids { .. } => true,
        };
        let (undecided, sure) = match walk {
            Walk::Values(values) if !checks_place => {
                (without(&asked.all, &values.decided), values.sure.as_ref().map(Sure::new))
            }
            Walk::Run(run) => (without(&asked.all, run.decided.as_slice()), Some(Sure::new(&run.bounds))),
            _ => (Vec::new(), None),
        };
        let mut hits =
            Hits { items: Vec::with_capacity(self.find.limit.min(ITEMS_RESERVED_MAX)), last: None };
        let mut last_place = None;
        // What only has to be listed is listed without a look at anything. The last one is left for its place.
        let is_listed = is_along_values
            && is_exact
            && !checks_place
            && !checks_domain
            && !places.table.spill.is_used()
            && undecided.is_empty()
            && (sure.is_some() || asked.all.is_empty())
            && offset == 0;
        if is_listed {
            while hits.items.len() + 1 < self.find.limit
                && let Some(key) = walker.next_sure(sure.as_ref())
            {
                self.bound.visit(self.snapshot)?;
                steps.candidates += 1;
                hits.items.push((slot_of_key(key), Held::InForce));
            }
        }
        let verified_cost = places.verified_cost();
        let mut cost = 0;
        while let Some(candidate) = walker.next() {
            self.bound.visit(self.snapshot)?;
            steps.candidates += 1;
            if budget.is_some_and(|budget| cost > budget) {
                return Ok(None);
            }
            let slot = candidate.slot;
            if checks_domain && !domain.contains(slot) {
                cost += 1;
                if is_along_values {
                    skip.miss(&candidate, &mut walker, domain);
                }
                continue;
            }
            skip.hit();
            cost += verified_cost;
            let tests = match (&candidate.key, &sure) {
                (Place::Key(key), Some(sure)) if sure.holds(key) => &undecided,
                _ => &asked.all,
            };
            let Some(held) = self.admit(slot, &asked, tests, steps)? else { continue };
            let is_absent = matches!(candidate.key, Place::Absent);
            if (checks_place || checks_absence && is_absent)
                && !self.stands_at(slot, &held, &candidate.key, is_descending)
            {
                continue;
            }
            if offset > 0 {
                offset -= 1;
                continue;
            }
            if hits.items.len() == self.find.limit {
                hits.last = last_place;
                break;
            }
            hits.items.push((slot, held));
            if hits.items.len() == self.find.limit {
                // The cursor is the place of the last one.
                let mut place = Vec::new();
                match (&candidate.key, values) {
                    (Place::Key(key), Some(_)) => sort_key(key, is_descending, &mut place),
                    _ => {
                        let (slot, held) = &hits.items[self.find.limit - 1];
                        self.write_key(*slot, held, &mut place);
                    }
                }
                last_place = Some(place);
            }
        }
        Ok(Some(hits))
    }

    /// True if a walk came upon the instance at its place in the order.
    fn stands_at(&self, slot: u32, held: &Held, place: &Place, is_descending: bool) -> bool {
        let (mut key, mut expected) = (Vec::new(), Vec::new());
        self.write_key(slot, held, &mut key);
        match place {
            Place::Key(index_key) => sort_key(index_key, is_descending, &mut expected),
            Place::Absent => super::order::absent_key(slot, is_descending, &mut expected),
        }
        key == expected
    }

    fn gather(
        &self,
        access: &Access,
        places: &Places<'s>,
        domain: &Domain<'s>,
        after: Option<&[u8]>,
        steps: &mut Steps,
    ) -> Result<Hits> {
        steps.tell(|| format!("gather {}", access.describe(places)));
        let slots = access.gather(places, domain, &self.bound)?;
        steps.candidates += slots.len();
        let asked = self.asked(places);
        let needed = self.find.limit.saturating_add(self.find.offset).saturating_add(1);
        let mut first: BinaryHeap<Found> = BinaryHeap::new();
        let mut key = Vec::new();
        let is_by_age = self.sorting.keys.is_empty();
        let is_present = self.snapshot.view().is_none();
        // With one header nothing ever had another id.
        let is_by_id = self.sorting.is_by_id() && self.snapshot.graph().headers.len() == 1;
        for slot in slots {
            let is_known = is_by_id || is_present && !places.table.has_spilled(slot);
            if is_by_id {
                self.sorting.write_id_key(places.table.id(slot), slot, &mut key);
            } else if is_known {
                // The place in the order is known before anything is asked.
                self.write_key(slot, &Held::InForce, &mut key);
            }
            if is_known && !self.is_wanted(&key, after, &first, needed) {
                continue;
            }
            let Some(held) = self.admit(slot, &asked, &asked.all, steps)? else { continue };
            if !is_known {
                self.write_key(slot, &held, &mut key);
                if !self.is_wanted(&key, after, &first, needed) {
                    continue;
                }
            }
            first.push(Found { key: key.clone(), slot, held });
            if first.len() > needed {
                first.pop();
            }
            if is_by_age && first.len() == needed {
                // Candidates come by age.
                break;
            }
        }
        let mut found = first.into_sorted_vec();
        found.drain(..self.find.offset.min(found.len()));
        let has_more = found.len() > self.find.limit;
        found.truncate(self.find.limit);
        let last = found.last_mut().filter(|_| has_more).map(|last| std::mem::take(&mut last.key));
        Ok(Hits { items: found.into_iter().map(|found| (found.slot, found.held)).collect(), last })
    }

    // True if a place lies behind the page before, and not behind what is known to fill the page.
    fn is_wanted(&self, key: &[u8], after: Option<&[u8]>, first: &BinaryHeap<Found>, needed: usize) -> bool {
        after.is_none_or(|after| key > after)
            && (first.len() < needed || first.peek().is_none_or(|last| *key < last.key[..]))
    }

    pub(super) fn count(&self, domain: &Domain<'s>, steps: &mut Steps) -> Result<u64> {
        let places = self.places();
        let asked = self.asked(&places);
        if asked.all.is_empty() && self.reach.is_exact() {
            return Ok(domain.count() as u64);
        }
        let plans = Plans::of(&places, domain, &self.sorting, &self.test);
        let slots = plans.fewest().gather(&places, domain, &self.bound)?;
        steps.candidates += slots.len();
        let mut count = 0;
        for slot in slots {
            count += u64::from(self.admit(slot, &asked, &asked.all, steps)?.is_some());
        }
        Ok(count)
    }
}

/// All but those at some places.
fn without<'t>(tests: &[&'t Test], places: &[usize]) -> Vec<&'t Test> {
    let kept = tests.iter().enumerate().filter(|(place, _)| !places.contains(place));
    kept.map(|(_, test)| *test).collect()
}

impl Ord for Found {
    fn cmp(&self, other: &Found) -> std::cmp::Ordering {
        self.key.cmp(&other.key)
    }
}

impl PartialOrd for Found {
    fn partial_cmp(&self, other: &Found) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Found {
    fn eq(&self, other: &Found) -> bool {
        self.key == other.key
    }
}

impl Eq for Found {}
