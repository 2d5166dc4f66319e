//! Runs a search by a plan.

use std::collections::BinaryHeap;

use super::access::{Access, Places};
use super::domain::{Domain, Reach};
use super::order::Sorting;
use super::plan::{Plan, Plans, Walk};
use super::resolve;
use super::subject::Subject;
use super::test::{Bound, Test};
use super::walk::{Place, Walker, sort_key};
use super::{cursor, explain};
use crate::Result;
use crate::model::{Status, TypeKind};
use crate::read::instance::{Entity, Held, Relationship};
use crate::read::snapshot::Snapshot;
use crate::search::{Deleted, Find, Header};

/// Pages of more instances make room as they find them.
const ITEMS_RESERVED_MAX: usize = 1_000;

/// A page of what was found.
#[derive(Debug)]
pub struct Page<T> {
    /// The found, in order.
    pub items: Vec<T>,
    /// Where the next page starts; `None` on the last page.
    pub next: Option<String>,
}

/// An instance that was found, and its place in the order.
struct Found {
    key: Vec<u8>,
    slot: u32,
    held: Held,
}

/// What happened on the way to a page.
#[derive(Default)]
pub(super) struct Steps {
    pub(super) plans: Vec<String>,
    pub(super) candidates: usize,
    pub(super) verified: usize,
    pub(super) found: usize,
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
    fn split(mut self) -> (Domain<'s>, Search<'s, 'f>) {
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

    /// The version of a candidate that the snapshot sees, if it is one of those searched for.
    #[inline]
    fn admit(&self, slot: u32, steps: &mut Steps) -> Result<Option<Held>> {
        steps.verified += 1;
        let with_deleted = self.find.deleted != Deleted::Without;
        let Some(held) = self.snapshot.seen(self.kind, slot, with_deleted)? else { return Ok(None) };
        if self.reach.other && !self.reach.proxies && self.snapshot.is_proxy(self.kind, slot) {
            return Ok(None);
        }
        let subject = self.subject(slot, &held);
        if self.find.deleted == Deleted::Only && self.is_live(slot, &held) {
            return Ok(None);
        }
        Ok(self.test.holds(self.snapshot, &self.bound, subject)?.then_some(held))
    }

    fn is_live(&self, slot: u32, held: &Held) -> bool {
        match held {
            Held::InForce => self.snapshot.graph().table(self.kind).is_live(slot),
            Held::Read(instance) => instance.status != Status::Deleted,
        }
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

    /// The instances of a page and one more, if there is one, by the plan with this number, or by the best.
    ///
    /// Shape: `None` if there is no such plan.
    fn run(
        &self,
        domain: &Domain<'s>,
        forced: Option<usize>,
        steps: &mut Steps,
    ) -> Result<Option<Vec<Found>>> {
        let places = self.places();
        let after =
            self.find.after.as_deref().map(|text| cursor::decode(self.sorting.number, text)).transpose()?;
        let after = after.as_deref();
        let needed = self.find.limit.saturating_add(self.find.offset).saturating_add(1);
        let plans = Plans::of(&places, domain, &self.sorting, &self.test);
        let (plan, budget) = match forced {
            Some(number) if number >= plans.len() => return Ok(None),
            Some(number) => (plans.plan(number), None),
            None => plans.choose(needed),
        };
        match plan {
            Plan::Gather(access) => self.gather(&access, &places, domain, after, steps).map(Some),
            Plan::Walk(walk) => {
                if let Some(found) = self.walk(&walk, &places, domain, after, budget, steps)? {
                    return Ok(Some(found));
                }
                self.gather(plans.fewest(), &places, domain, after, steps).map(Some)
            }
        }
    }

    /// Walks; `None` if the budget of candidates is used up before the page is full.
    fn walk(
        &self,
        walk: &Walk,
        places: &Places<'s>,
        domain: &Domain<'s>,
        after: Option<&[u8]>,
        budget: Option<usize>,
        steps: &mut Steps,
    ) -> Result<Option<Vec<Found>>> {
        steps.plans.push(explain::of_walk(walk, places));
        let mut found = Vec::with_capacity(self.find.limit.min(ITEMS_RESERVED_MAX));
        let mut offset = self.find.offset;
        let mut walker = Walker::start(walk, places.table, domain, places.with_past, after);
        if self.test.is_everything() && self.reach.is_exact() {
            offset -= walker.skip_slots(offset);
        }
        let (checks_key, checks_domain, is_descending) = match walk {
            Walk::Slots { .. } => (false, false, false),
            Walk::Ids { .. } => (false, true, false),
            Walk::Stamps { is_descending, .. } => (self.reach.other, true, *is_descending),
            Walk::Run { .. } => (false, true, false),
            Walk::Values { property, is_descending, .. } => {
                (self.reach.other || places.table.is_multi_valued(*property), true, *is_descending)
            }
        };
        let is_of_values = matches!(walk, Walk::Values { .. } | Walk::Stamps { .. });
        let (mut key, mut expected) = (Vec::new(), Vec::new());
        let mut candidates = 0;
        while let Some(candidate) = walker.next() {
            self.bound.visit(self.snapshot)?;
            steps.candidates += 1;
            candidates += 1;
            if budget.is_some_and(|budget| candidates > budget) {
                return Ok(None);
            }
            let slot = candidate.slot;
            if checks_domain && !domain.contains(slot) {
                continue;
            }
            let Some(held) = self.admit(slot, steps)? else { continue };
            if is_of_values && (checks_key || matches!(candidate.key, Place::Absent)) {
                // The index holds more than what this view sees, and one instance at several places.
                self.write_key(slot, &held, &mut key);
                match &candidate.key {
                    Place::Key(index_key) => sort_key(index_key, is_descending, &mut expected),
                    Place::Absent => super::order::absent_key(slot, is_descending, &mut expected),
                }
                if key != expected {
                    continue;
                }
            }
            if offset > 0 {
                offset -= 1;
                continue;
            }
            let is_last = found.len() == self.find.limit;
            found.push(Found { key: Vec::new(), slot, held });
            if is_last {
                break;
            }
        }
        if found.len() > self.find.limit {
            // Only one key is asked for: that of the last on the page.
            let last = &mut found[self.find.limit - 1];
            let mut key = Vec::new();
            self.write_key(last.slot, &last.held, &mut key);
            last.key = key;
        }
        Ok(Some(found))
    }

    fn gather(
        &self,
        access: &Access,
        places: &Places<'s>,
        domain: &Domain<'s>,
        after: Option<&[u8]>,
        steps: &mut Steps,
    ) -> Result<Vec<Found>> {
        steps.plans.push(format!("gather {}", access.describe(places)));
        let slots = access.gather(places, domain, &self.bound)?;
        steps.candidates += slots.len();
        let needed = self.find.limit.saturating_add(self.find.offset).saturating_add(1);
        let mut first: BinaryHeap<Found> = BinaryHeap::new();
        let mut key = Vec::new();
        let is_by_age = self.sorting.keys.is_empty();
        let is_present = self.snapshot.view().is_none();
        for slot in slots {
            if is_present && !places.table.has_spilled(slot) {
                // The place in the order is known before anything is asked.
                self.write_key(slot, &Held::InForce, &mut key);
                if !self.is_wanted(&key, after, &first, needed) {
                    continue;
                }
            }
            let Some(held) = self.admit(slot, steps)? else { continue };
            self.write_key(slot, &held, &mut key);
            if !self.is_wanted(&key, after, &first, needed) {
                continue;
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
        Ok(found)
    }

    // True if a place lies behind the page before, and not behind what is known to fill the page.
    fn is_wanted(&self, key: &[u8], after: Option<&[u8]>, first: &BinaryHeap<Found>, needed: usize) -> bool {
        after.is_none_or(|after| key > after)
            && (first.len() < needed || first.peek().is_none_or(|last| *key < last.key[..]))
    }

    fn count(&self, domain: &Domain<'s>, steps: &mut Steps) -> Result<u64> {
        if self.test.is_everything() && self.reach.is_exact() {
            return Ok(domain.count() as u64);
        }
        let places = self.places();
        let plans = Plans::of(&places, domain, &self.sorting, &self.test);
        let slots = plans.fewest().gather(&places, domain, &self.bound)?;
        steps.candidates += slots.len();
        let mut count = 0;
        for slot in slots {
            count += u64::from(self.admit(slot, steps)?.is_some());
        }
        Ok(count)
    }
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

impl Snapshot {
    /// One page of the entities that a search finds.
    ///
    /// ```
    /// use annals::{Find, NewEntity, Repository};
    /// let repository = Repository::in_memory();
    /// repository.transact(|t| {
    ///     (1..=5).try_for_each(|size| t.create_entity(NewEntity::new("package").property("size", size)).map(drop))
    /// })?;
    /// let snapshot = repository.snapshot();
    /// let mut find = Find::parse("package where size > 1 order by size desc limit 3")?;
    /// let first = snapshot.find_entities(&find)?;
    /// find.after = first.next;
    /// let second = snapshot.find_entities(&find)?;
    /// assert_eq!((first.items.len(), second.items.len(), second.next), (3, 1, None));
    /// # Ok::<(), annals::Error>(())
    /// ```
    ///
    /// Errors: `InvalidPage` for a foreign cursor or a limit of 0 or over 100,000; `InvalidExpression` for what cannot be
    /// compared; `NotFound` for a type that is neither declared, where types are, nor used; `TooLarge` over a bound.
    pub fn find_entities(&self, find: &Find) -> Result<Page<Entity<'_>>> {
        self.find(TypeKind::Entity, find, |slot, held| Entity { snapshot: self, slot, held })
    }

    /// One page of the relationships that a search finds. Errors: as [`Snapshot::find_entities`].
    pub fn find_relationships(&self, find: &Find) -> Result<Page<Relationship<'_>>> {
        self.find(TypeKind::Relationship, find, |slot, held| Relationship { snapshot: self, slot, held })
    }

    fn find<T>(&self, kind: TypeKind, find: &Find, make: impl Fn(u32, Held) -> T) -> Result<Page<T>> {
        let page = self.find_by_plan(kind, find, None, make)?;
        Ok(page.expect("the best plan is always there"))
    }

    /// The same by the plan with this number: for tests, which compare all plans. `None` if there is no such plan.
    #[doc(hidden)]
    pub fn find_ids_by_plan(
        &self,
        kind: TypeKind,
        find: &Find,
        plan: usize,
    ) -> Result<Option<Page<crate::model::Id>>> {
        self.find_by_plan(kind, find, Some(plan), |slot, held| match held {
            Held::InForce => self.graph().table(kind).id(slot).clone(),
            Held::Read(instance) => self.graph().id_in(kind, slot, instance.header).clone(),
        })
    }

    fn find_by_plan<T>(
        &self,
        kind: TypeKind,
        find: &Find,
        plan: Option<usize>,
        make: impl Fn(u32, Held) -> T,
    ) -> Result<Option<Page<T>>> {
        let (domain, search) = Search::new(self, kind, find)?.split();
        let Some(mut found) = search.run(&domain, plan, &mut Steps::default())? else { return Ok(None) };
        let has_more = found.len() > find.limit;
        found.truncate(find.limit);
        let last = found.last().filter(|_| has_more);
        let next = last.map(|last| cursor::encode(search.sorting.number, &last.key));
        Ok(Some(Page { items: found.into_iter().map(|found| make(found.slot, found.held)).collect(), next }))
    }

    /// How many entities a search finds, whatever its page.
    ///
    /// ```
    /// use annals::{Find, NewEntity, Operator, Repository};
    /// let repository = Repository::in_memory();
    /// repository.transact(|t| t.create_entity(NewEntity::new("package").property("size", 3)))?;
    /// let small = Find::of("package").matching("size", Operator::Less, 5);
    /// assert_eq!(repository.snapshot().count_entities(&small)?, 1);
    /// # Ok::<(), annals::Error>(())
    /// ```
    ///
    /// Units: entities. Errors: as [`Snapshot::find_entities`].
    pub fn count_entities(&self, find: &Find) -> Result<u64> {
        self.count_found(TypeKind::Entity, find)
    }

    /// How many relationships a search finds. Errors: as [`Snapshot::find_entities`].
    pub fn count_relationships(&self, find: &Find) -> Result<u64> {
        self.count_found(TypeKind::Relationship, find)
    }

    fn count_found(&self, kind: TypeKind, find: &Find) -> Result<u64> {
        let (domain, search) = Search::new(self, kind, find)?.split();
        search.count(&domain, &mut Steps::default())
    }

    /// Finds a page of entities and tells how.
    ///
    /// ```
    /// use annals::{Find, NewEntity, Repository};
    /// let repository = Repository::in_memory();
    /// repository.transact(|t| t.create_entity(NewEntity::new("package").property("size", 3)))?;
    /// let told = repository.snapshot().explain_entities(&Find::parse("package where size < 5")?)?;
    /// assert_eq!((told.found, told.order.as_str()), (1, "size, then age"));
    /// # Ok::<(), annals::Error>(())
    /// ```
    ///
    /// Errors: as [`Snapshot::find_entities`].
    pub fn explain_entities(&self, find: &Find) -> Result<explain::Explanation> {
        self.explain(TypeKind::Entity, find)
    }

    /// Finds a page of relationships and tells how. Errors: as [`Snapshot::find_entities`].
    pub fn explain_relationships(&self, find: &Find) -> Result<explain::Explanation> {
        self.explain(TypeKind::Relationship, find)
    }

    fn explain(&self, kind: TypeKind, find: &Find) -> Result<explain::Explanation> {
        let (domain, search) = Search::new(self, kind, find)?.split();
        let mut steps = Steps::default();
        let found = search.run(&domain, None, &mut steps)?.unwrap_or_default();
        steps.found = found.len().min(find.limit);
        Ok(explain::Explanation::new(&search, &domain, steps))
    }
}
