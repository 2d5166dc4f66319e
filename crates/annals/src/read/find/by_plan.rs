//! Runs a search by a plan.

use smallvec::SmallVec;

use super::access::Places;
use super::ever::Ever;
use super::plan::{Plan, Plans};
use crate::Result;
use crate::graph::instance::headers::PLAIN;
use crate::graph::instance::row::Row;
use crate::model::{Status, TypeKind};
use crate::read::cursor;
use crate::read::operators::filter::properties::check_search;
use crate::read::operators::filter::resolve;
use crate::read::operators::filter::subject::Subject;
use crate::read::operators::filter::test::{Bound, Test};
use crate::read::operators::page::{Hits, Size};
use crate::read::operators::scan::domain::{Domain, Reach};
use crate::read::operators::sort::{Key, Sorting};
use crate::read::past::held::Held;
use crate::read::snapshot::Snapshot;
use crate::search::{Deleted, Find, Header};

/// The conditions on candidates.
pub(super) struct Asked<'a, 's> {
    tests: SmallVec<[&'a Test; 4]>,
    /// Conditions on all their versions, for searches of more than the present.
    ever: Ever<'a>,
    places: &'a Places<'s>,
    /// True if all candidates of the domain are hits, and their versions in memory.
    pub(super) are_all_hits: bool,
}

/// A record of the steps to a page.
#[derive(Default)]
pub(super) struct Steps {
    /// True if the caller wants the list of plans.
    pub(super) is_told: bool,
    pub(super) plans: Vec<String>,
    pub(super) candidates: usize,
    pub(super) verified: usize,
    pub(super) found: usize,
}

impl Steps {
    pub(super) fn tell(&mut self, plan: impl FnOnce() -> String) {
        if self.is_told {
            self.plans.push(plan());
        }
    }
}

/// A search with all names looked up.
pub(super) struct Search<'s, 'f> {
    pub(super) snapshot: &'s Snapshot,
    pub(super) kind: TypeKind,
    pub(super) find: &'f Find,
    deleted: Deleted,
    /// The remaining conditions on candidates: a list, all of which must hold.
    pub(super) test: Test,
    /// The source of candidates.
    pub(super) domain: Domain<'s>,
    pub(super) sorting: Sorting,
    pub(super) reach: Reach,
    pub(super) bound: Bound,
    /// See [`OFFSET_KEPT_MAX`].
    pub(super) offset_kept_max: usize,
}

impl<'s, 'f> Search<'s, 'f> {
    pub(super) fn new(snapshot: &'s Snapshot, kind: TypeKind, find: &'f Find) -> Result<Search<'s, 'f>> {
        find.check()?;
        let types = resolve::types(snapshot, kind, find)?;
        let mut test = resolve::test(snapshot, kind, &find.filter)?;
        let deleted = resolve::deleted(snapshot, find)?;
        let is_present = snapshot.view().is_none();
        let reach = Reach {
            live: !is_present || deleted != Deleted::Only,
            other: !is_present || deleted != Deleted::Without,
            proxies: find.with_proxies && kind == TypeKind::Entity && snapshot.has_proxies(),
        };
        if let Some(of_statuses) = resolve::statuses(find)? {
            test = of_statuses.and(test);
        }
        if !reach.is_exact()
            && let Some(types) = &types
        {
            // The lists of types hold more than this view sees.
            test = Test::Type(types.to_vec()).and(test);
        }
        let sorting = Sorting::of(snapshot, find, &test);
        let bound = Bound::new(find.visited_max);
        let mut domain = Domain::of(snapshot.graph().table(kind), types.as_deref(), reach);
        let mut tests = match test {
            Test::All(tests) => tests,
            one => vec![one],
        };
        // Restricts the domain by tests that an index answers, and removes these tests.
        tests.retain(|test| match test {
            Test::Type(types) => {
                domain.of_types(types, reach);
                !reach.is_exact()
            }
            Test::Header(Header::Home, test) => {
                if let Some(home) = test.equal_text() {
                    domain.of_home(snapshot.graph().names.find(home), reach);
                }
                true
            }
            Test::Classified(names, matching) if kind == TypeKind::Entity => {
                domain.of_classified(names, reach);
                !reach.is_exact() || matching.is_some()
            }
            _ => true,
        });
        if let Some(in_sight) = snapshot.slots_in_sight(kind) {
            domain.of_slots(in_sight);
        }
        let test = Test::All(tests);
        let search = Search {
            snapshot,
            kind,
            find,
            deleted,
            test,
            domain,
            sorting,
            reach,
            bound,
            offset_kept_max: OFFSET_KEPT_MAX,
        };
        check_search(snapshot, kind, types.as_deref(), reach.is_exact(), find)?;
        Ok(search)
    }

    /// The bounds of the page.
    pub(super) fn size(&self) -> Size {
        let Find { offset, limit, bytes_max, .. } = *self.find;
        Size { offset, limit, bytes_max }
    }

    /// Errors: the indexes of a checkpoint are damaged.
    fn places(&self) -> Result<Places<'s>> {
        let table = self.snapshot.graph().table(self.kind);
        Ok(Places {
            snapshot: self.snapshot,
            kind: self.kind,
            table,
            indexes: self.snapshot.indexed().indexes(self.kind)?,
            touched: self.snapshot.indexed().touched(self.kind),
            with_past: self.reach.other,
            proxies: self.reach.proxies.then_some(&table.lists.proxies.present),
        })
    }

    /// The conditions on candidates, without those that an index has answered.
    pub(super) fn asked<'a>(&'a self, places: &'a Places<'s>, answered: &[usize]) -> Asked<'a, 's> {
        let ever = if self.reach.is_exact() { Ever::Unknown } else { Ever::of(places, &self.test) };
        let tests = self.test.parts().iter().enumerate();
        let tests = tests.filter(|(number, _)| !answered.contains(number)).map(|(_, test)| test);
        let tests: SmallVec<[&Test; 4]> = tests.collect();
        let are_all_hits = tests.is_empty() && self.reach.is_exact() && !places.table.spill.is_used();
        Asked { tests, ever, places, are_all_hits }
    }

    /// The version of a candidate of the domain that the snapshot sees, if it fulfils the conditions in `asked`.
    #[inline]
    pub(super) fn verify(&self, slot: u32, asked: &Asked<'_, 's>, steps: &mut Steps) -> Result<Option<Held>> {
        if !self.reach.is_exact() {
            return self.verify_of_any_time(slot, asked, steps);
        }
        // The domain has only live instances.
        let held = self.snapshot.in_force(self.kind, slot)?;
        let is_hit = asked.tests.is_empty() || self.holds(slot, &held, asked, steps)?;
        Ok(is_hit.then_some(held))
    }

    fn holds(&self, slot: u32, held: &Held, asked: &Asked<'_, 's>, steps: &mut Steps) -> Result<bool> {
        steps.verified += 1;
        let subject = self.subject(slot, held);
        for test in &asked.tests {
            if !test.holds(self.snapshot, &self.bound, subject)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn verify_of_any_time(
        &self,
        slot: u32,
        asked: &Asked<'_, 's>,
        steps: &mut Steps,
    ) -> Result<Option<Held>> {
        let table = asked.places.table;
        let Some(in_force) = table.row(slot).map(Row::in_force) else { return Ok(None) };
        let view = self.snapshot.view();
        let seen = view.map_or(Some(in_force), |view| table.version_in(slot, view));
        let Some(version) = seen else { return Ok(None) };
        let is_deleted = version.status == Status::Deleted;
        let is_wanted = match self.deleted {
            Deleted::Without => !is_deleted,
            Deleted::With => true,
            Deleted::Only => is_deleted,
        };
        if !is_wanted {
            return Ok(None);
        }
        let is_proxy = match view {
            None => table.lists.proxies.present.contains(slot),
            Some(_) => self.snapshot.graph().headers.get(version.header).is_proxy,
        };
        if is_proxy && !self.reach.proxies {
            return Ok(None);
        }
        // Reading a version costs more than checking all past values.
        if version.version != in_force.version && !asked.ever.may_hold(asked.places, slot, version) {
            return Ok(None);
        }
        let held = self.snapshot.content(self.kind, slot, version)?;
        Ok(self.holds(slot, &held, asked, steps)?.then_some(held))
    }

    fn subject<'h>(&'h self, slot: u32, held: &'h Held) -> Subject<'h> {
        match held {
            Held::InForce => Subject::InForce(self.kind, slot),
            Held::Read(version) => Subject::Read(self.kind, slot, version.row()),
        }
    }

    pub(super) fn write_key(&self, slot: u32, held: &Held, key: &mut Vec<u8>) {
        self.sorting.write_key(self.snapshot, self.kind, slot, self.subject(slot, held), key);
    }

    /// The instances of a page, by the plan with this number, or by the best plan; each is made when it is found.
    ///
    /// Shape: `None` if there is no such plan.
    pub(super) fn run<T>(
        &self,
        forced: Option<usize>,
        steps: &mut Steps,
        make: impl Fn(u32, Held) -> T + Copy,
    ) -> Result<Option<Hits<T>>> {
        let hits = self.run_unchecked(forced, steps, make)?;
        self.test.check()?;
        Ok(hits)
    }

    fn run_unchecked<T>(
        &self,
        forced: Option<usize>,
        steps: &mut Steps,
        make: impl Fn(u32, Held) -> T + Copy,
    ) -> Result<Option<Hits<T>>> {
        let places = self.places()?;
        let after = self
            .find
            .after
            .as_deref()
            .map(|text| cursor::decode(self.snapshot.graph(), self.sorting.number, text))
            .transpose()?;
        let after = after.as_deref();
        let needed = self.find.limit.saturating_add(self.find.offset).saturating_add(1);
        let plans = Plans::of(&places, &self.domain, &self.sorting, &self.test);
        let (plan, budget) = match forced.map(|number| plans.plan(number)) {
            Some(None) => return Ok(None),
            Some(Some(plan)) => (plan, None),
            None => plans.choose(needed),
        };
        match plan {
            Plan::Gather(access) => self.gather(access, &places, after, steps, make).map(Some),
            Plan::Walk(walk) => {
                let leg = Leg { after, budget };
                if let Some(hits) = self.walk(walk, &places, leg, steps, make)? {
                    return Ok(Some(hits));
                }
                self.gather(plans.fewest(), &places, after, steps, make).map(Some)
            }
        }
    }

    /// Writes the place of an instance in the order, if that is known without reading a version; otherwise returns
    /// false.
    pub(super) fn write_known_key(&self, places: &Places<'s>, slot: u32, key: &mut Vec<u8>) -> bool {
        let (graph, table) = (self.snapshot.graph(), places.table);
        let Some(view) = self.snapshot.view() else {
            if table.has_spilled(slot) {
                return false;
            }
            self.write_key(slot, &Held::InForce, key);
            return true;
        };
        let header = match self.sorting.keys[..] {
            [] => {
                self.write_key(slot, &Held::InForce, key);
                return true;
            }
            [(Key::Header(header), _)] => header,
            _ => return false,
        };
        let (Some(row), Some(version)) = (table.row(slot), table.version_in(slot, view)) else {
            return false;
        };
        if header == Header::Id {
            self.sorting.write_id_key(graph.id_in(self.kind, slot, version.header), slot, key);
            return true;
        }
        let is_in_force = row.version() == version.version;
        let micros = match header {
            Header::CreatedAt if is_in_force || version.header == PLAIN => Some(row.created().micros),
            Header::UpdatedAt if is_in_force => Some(row.updated().micros),
            // An instance that is not a copy was changed when its record was written.
            Header::UpdatedAt if version.header == PLAIN => {
                let index =
                    version.place.position.checked_sub(1).and_then(|index| usize::try_from(index).ok());
                index.and_then(|index| graph.instants.get(index)).copied()
            }
            _ => None,
        };
        let Some(micros) = micros else { return false };
        self.sorting.write_time_key(micros, slot, key);
        true
    }

    pub(super) fn count(&self, steps: &mut Steps) -> Result<u64> {
        let places = self.places()?;
        let asked = self.asked(&places, &[]);
        if asked.tests.is_empty() && self.reach.is_exact() {
            return Ok(self.domain.count() as u64);
        }
        let mut count = 0;
        self.each(steps, &mut |_, _| {
            count += 1;
            Ok(())
        })?;
        Ok(count)
    }

    /// Takes every hit on all pages, by age.
    pub(super) fn each(
        &self,
        steps: &mut Steps,
        take: &mut dyn FnMut(u32, Held) -> Result<()>,
    ) -> Result<()> {
        let places = self.places()?;
        let asked = self.asked(&places, &[]);
        let plans = Plans::of(&places, &self.domain, &self.sorting, &self.test);
        let slots = plans.fewest().gather(&places, &self.domain, &self.bound)?;
        steps.candidates += slots.len();
        for (number, slot) in slots.into_iter().enumerate() {
            if number.is_multiple_of(CANDIDATES_UNCHECKED) {
                self.snapshot.check_cancelled()?;
            }
            if let Some(held) = self.verify(slot, &asked, steps)? {
                take(slot, held)?;
            }
        }
        self.test.check()
    }
}

/// A part of a walk: from the end of the page before, as far as the budget allows.
pub(crate) struct Leg<'a> {
    pub(crate) after: Option<&'a [u8]>,
    pub(crate) budget: Option<usize>,
}

/// Most places before a page that are kept at once: for more, the candidates are visited again. Units: instances.
pub(crate) const OFFSET_KEPT_MAX: usize = 20_000;

/// Number of candidates between two checks for cancellation.
pub(crate) const CANDIDATES_UNCHECKED: usize = 256;
