//! Fills a page while it walks an index in the order of a search.

use super::access::Places;
use super::by_plan::Leg;
use super::by_plan::{Asked, Search, Steps};
use super::explain;
use super::gather::{Candidates, Found};
use super::many_at_once::{Checks, Pace};
use super::plan::Walk;
use super::walk::{Walker, has_value, sort_key};
use crate::Result;
use crate::graph::index::key::slot_of_key;
use crate::read::operators::page::{Filling, Hits};
use crate::read::operators::sort::absent_key;
use crate::read::past::held::Held;
use crate::structures::key_set::Key;

/// Cost of finding that a candidate has another place in the order. Units: steps over a key of values.
const ELSEWHERE_COST: usize = 20;

impl<'s> Search<'s, '_> {
    fn checks(&self, walk: &Walk<'s>, places: &Places<'s>) -> Checks<'s> {
        let is_exact = self.reach.is_exact();
        let place = match walk {
            Walk::Values(values) => !is_exact || places.table.is_multi_valued(values.property),
            Walk::Stamps { .. } => !is_exact,
            Walk::Slots { .. } | Walk::Ids { .. } | Walk::Run(_) => false,
        };
        let domain = match walk {
            Walk::Slots { .. } => None,
            // The present values are those of live instances.
            Walk::Values(_) | Walk::Run(_) if is_exact => self.domain.beside_live(),
            _ => Some(self.domain.clone()),
        };
        let absence = matches!(walk, Walk::Values(_) | Walk::Stamps { .. });
        let is_told = !self.is_by_age(walk) && !places.touched.is_empty();
        Checks { domain, place, absence, is_told }
    }

    /// Walks; `None` if this exceeds the budget before the page is full.
    pub(super) fn walk<T>(
        &self,
        walk: &Walk<'s>,
        places: &Places<'s>,
        Leg { after, budget }: Leg<'_>,
        steps: &mut Steps,
        make: impl Fn(u32, Held) -> T + Copy,
    ) -> Result<Option<Hits<T>>> {
        steps.tell(|| explain::of_walk(walk, places));
        // All instances of a run have the same value.
        let answered = if let Walk::Run(run) = walk { run.answered } else { None };
        let asked = self.asked(places, answered.as_slice());
        // And nearly all of a walk within bounds are between its edges. The past is checked in any case.
        let between = match walk {
            Walk::Values(values) if self.reach.is_exact() && !values.answered.is_empty() => {
                Some((values, self.asked(places, &values.answered)))
            }
            _ => None,
        };
        let checks = self.checks(walk, places);
        let mut late = self.late(walk, places, after, steps)?.into_iter().peekable();
        let mut page = Filling::new(self.snapshot, self.kind, self.size());
        let mut walker = Walker::start(walk, places, &self.domain, after);
        let (mut known, is_of_times) = (<[Vec<u8>; 2]>::default(), matches!(walk, Walk::Stamps { .. }));
        let mut pace = Pace::new(budget, places.verified_cost(), walker.is_along_values());
        let are_taken_together =
            Self::are_taken_together(&checks, between.as_ref().map_or(&asked, |(_, between)| between));
        let mut is_tried = are_taken_together;
        loop {
            if is_tried {
                self.take_together(walk, &mut walker, &checks, (&mut page, &mut pace), steps, make)?;
            }
            let Some(key) = walker.next() else { break };
            self.bound.visit(self.snapshot)?;
            steps.candidates += 1;
            if pace.is_too_much() {
                return Ok(None);
            }
            let is_between =
                has_value(key) && between.as_ref().is_none_or(|(values, _)| values.is_between_edges(key));
            is_tried = are_taken_together && is_between;
            let slot = slot_of_key(key);
            let is_outside = checks.domain.as_ref().is_some_and(|domain| !domain.contains(slot));
            if is_outside || checks.is_told && !places.is_told(slot) {
                pace.cost += pace.step_cost;
                continue;
            }
            if checks.place && is_of_times && self.is_known_elsewhere(places, key, &mut known) {
                pace.cost += ELSEWHERE_COST;
                continue;
            }
            pace.cost += pace.verified_cost;
            let asked = match &between {
                Some((_, between)) if is_between => between,
                _ => &asked,
            };
            let Some(held) = self.verified(slot, asked, steps)? else { continue };
            let checks_place = checks.place || checks.absence && !has_value(key);
            if checks_place && !self.stands_at(key, &held) {
                continue;
            }
            if late.peek().is_some() {
                let place = self.place_of(walk, key, &held);
                while let Some(before) = late.next_if(|late| late.key < place) {
                    if self.add_found(before, &mut page, make)? {
                        return Ok(Some(page.finish()));
                    }
                }
            }
            if page.add(slot, held, |held| self.place_of(walk, key, held), make) {
                return Ok(Some(page.finish()));
            }
        }
        for late in late {
            if self.add_found(late, &mut page, make)? {
                break;
            }
        }
        Ok(Some(page.finish()))
    }

    /// The version of a candidate of the domain, if it is a hit.
    #[inline]
    fn verified(&self, slot: u32, asked: &Asked<'_, 's>, steps: &mut Steps) -> Result<Option<Held>> {
        if asked.are_all_hits { Ok(Some(Held::InForce)) } else { self.verify(slot, asked, steps) }
    }

    /// Hits among the instances touched since the position of the indexes, in the order of the search. Indexes do not
    /// have their present state, so these hits are merged into those of the walk.
    fn late(
        &self,
        walk: &Walk<'s>,
        places: &Places<'s>,
        after: Option<&[u8]>,
        steps: &mut Steps,
    ) -> Result<Vec<Found>> {
        if places.touched.is_empty() || self.is_by_age(walk) {
            return Ok(Vec::new());
        }
        let touched = places.touched.iter().copied();
        let slots: Vec<u32> = touched.filter(|slot| self.domain.contains(*slot)).collect();
        steps.candidates += slots.len();
        let candidates = Candidates { slots, places, asked: self.asked(places, &[]), after };
        let count = self.find.limit.saturating_add(self.find.offset).saturating_add(1);
        Ok(self.first(&candidates, None, count, steps)?.found)
    }

    /// True if a walk goes by slots because the search has no other order: the graph itself has the slots.
    fn is_by_age(&self, walk: &Walk<'s>) -> bool {
        matches!(walk, Walk::Slots { .. }) && self.sorting.keys.is_empty()
    }

    /// The place in the order of a candidate of a walk.
    pub(super) fn place_of(&self, walk: &Walk, key: Key, held: &Held) -> Vec<u8> {
        let mut place = Vec::with_capacity(key.len() + 1);
        if matches!(walk, Walk::Values(_)) && has_value(key) {
            sort_key(key, self.sorting.is_last_descending(), &mut place);
        } else {
            self.write_key(slot_of_key(key), held, &mut place);
        }
        place
    }

    /// True if the place of the instance in the order is the one where the walk found it.
    fn stands_at(&self, key: Key, held: &Held) -> bool {
        let (mut own, mut expected) = (Vec::new(), Vec::new());
        self.write_key(slot_of_key(key), held, &mut own);
        self.write_expected(key, &mut expected);
        own == expected
    }

    /// Writes the place of an instance with the key, or without the property.
    fn write_expected(&self, key: Key, out: &mut Vec<u8>) {
        let is_descending = self.sorting.is_last_descending();
        match has_value(key) {
            true => sort_key(key, is_descending, out),
            false => absent_key(slot_of_key(key), is_descending, out),
        }
    }

    /// True if a walk by times found the instance at another place than its own, as far as that is known before its
    /// version is read.
    fn is_known_elsewhere(&self, places: &Places<'s>, key: Key, [own, expected]: &mut [Vec<u8>; 2]) -> bool {
        self.write_expected(key, expected);
        self.write_known_key(places, slot_of_key(key), own) && own != expected
    }
}

#[cfg(test)]
mod tests {
    use crate::model::{Id, InstanceId, NewEntity, Patch, TypeKind};
    use crate::{AsOf, ErrorKind, Find, Repository, Result, Snapshot};

    const OF_TYPE: usize = 700;

    // Three types, one after the other, with common values; then every third instance gets other values.
    fn repository() -> Result<Repository> {
        let repository = Repository::in_memory();
        let mut ids = Vec::new();
        for type_name in ["first", "second", "third"] {
            repository.transact(|t| {
                (0..OF_TYPE).try_for_each(|number| {
                    let entity = NewEntity::new(type_name).property("flag", number % 2 == 0);
                    t.create_entity(entity.property("text", "the same")).map(|id| ids.push(id))
                })
            })?;
        }
        repository.transact(|t| {
            ids.iter().step_by(3).try_for_each(|id| {
                let patch = Patch::new().set("flag", true).set("text", "another");
                t.update(&InstanceId::Entity(id.clone()), patch)
            })
        })?;
        Ok(repository)
    }

    /// All pages by one plan; `None` if there is no such plan.
    fn by_plan(snapshot: &Snapshot, find: &Find, plan: usize) -> Result<Option<Vec<Id>>> {
        let mut find = find.clone();
        let mut found = Vec::new();
        loop {
            let Some(page) = snapshot.find_ids_by_plan(TypeKind::Entity, &find, plan)? else {
                return Ok(None);
            };
            found.extend(page.items);
            if page.next.is_none() {
                return Ok(Some(found));
            }
            find.after = page.next;
        }
    }

    #[test]
    fn all_plans_find_the_same_where_types_share_values() -> Result<()> {
        let repository = repository()?;
        let now = repository.snapshot();
        let then = now.as_of(AsOf { position: Some(crate::Position(3)), ..AsOf::default() })?;
        for (text, now_count, then_count) in [
            ("third where flag = true", 467, 350),
            ("third where flag = true order by flag", 467, 350),
            ("first where flag = true order by flag desc", 467, 350),
            ("second order by flag", 700, 700),
            ("second order by flag desc", 700, 700),
            ("third where text = \"the same\" order by text desc", 467, 700),
            ("third where text ^= \"the\" order by text", 467, 700),
            ("third where text =~ /the same/ order by text", 467, 700),
            ("third where text =~ /the.*/ order by text desc", 467, 700),
            ("third where text =~ /the.*/ and flag = true order by text", 234, 350),
            ("third where @text = \"another\" order by @id", 233, 0),
        ] {
            for (snapshot, count) in [(&now, now_count), (&then, then_count)] {
                let find = Find { limit: 7, ..Find::parse(text)? };
                let found = by_plan(snapshot, &find, 0)?.expect("there is a plan");
                assert_eq!(found.len(), count, "{text}");
                for plan in 1.. {
                    let Some(other) = by_plan(snapshot, &find, plan)? else { break };
                    assert_eq!(other, found, "{text} by plan {plan}");
                }
            }
        }
        Ok(())
    }

    #[test]
    fn only_values_at_the_edges_of_a_range_are_compared() -> Result<()> {
        let repository = Repository::in_memory();
        repository.transact(|t| {
            let numbers = (0..1_000).map(|number| (number, f64::from(number) / 3.0));
            numbers.into_iter().try_for_each(|(number, weight)| {
                let entity = NewEntity::new("t").property("number", number).property("weight", weight);
                t.create_entity(entity).map(drop)
            })
        })?;
        let snapshot = repository.snapshot().settled();
        for (condition, found, compared) in [
            ("number >= 100 and number < 300", 200, 2),
            ("number > 100 and number <= 300", 200, 2),
            ("number between 100 and 300", 201, 2),
            ("number >= 99.5", 900, 0),
            ("weight >= 10 and weight < 20", 30, 2),
            ("weight >= 10 and weight < 20 and number != 40", 29, 31),
        ] {
            for order in ["", " desc"] {
                let property = condition.split(' ').next().unwrap_or_default();
                let find =
                    Find::parse(&format!("t where {condition} order by {property}{order} limit 1000"))?;
                let told = snapshot.explain_entities(&find)?;
                assert_eq!(told.found, found, "{find}");
                assert!(told.verified <= compared, "{find}: {} compared", told.verified);
            }
        }
        Ok(())
    }

    /// Candidates that need no check are taken many at once, up to the end of the page, of a leaf and of the bound, and up to
    /// values at the edges of a range.
    #[test]
    fn a_page_of_any_size_begins_and_ends_where_it_must() -> Result<()> {
        let repository = Repository::in_memory();
        repository.transact(|t| {
            (0..1_000).try_for_each(|number| {
                let entity = NewEntity::new(if number % 3 == 0 { "a" } else { "b" });
                let entity = entity.property("number", number / 4).property("few", number % 3);
                t.create_entity(entity).map(drop)
            })
        })?;
        let snapshot = repository.snapshot().settled();
        for text in [
            "all order by number",
            "all order by number desc",
            "all where number >= 10 and number < 200 order by number",
            "all where number >= 10 and number <= 200 order by number desc",
            "all where number between 30 and 31 order by number desc",
            "all where few = 1",
            "all",
            "b order by number",
            "a where number > 10 order by number desc",
            "a where few = 0 and number > 5",
            "b order by few desc",
        ] {
            let all = Find::parse(&format!("{text} limit 1000").replace("all", ""))?;
            let found = snapshot.find_ids_by_plan(TypeKind::Entity, &all, 0)?.expect("a plan").items;
            for (limit, offset) in [1, 2, 63, 64, 65, 128, 1_000]
                .iter()
                .flat_map(|limit| [0, 1, 64, 129, 800].map(|offset| (*limit, offset)))
            {
                let find = Find { limit, offset, ..all.clone() };
                let expected: Vec<Id> = found.iter().skip(offset).take(limit).cloned().collect();
                let mut next = None;
                for plan in 0.. {
                    let Some(page) = snapshot.find_ids_by_plan(TypeKind::Entity, &find, plan)? else { break };
                    assert_eq!(page.items, expected, "{find} by plan {plan}");
                    assert_eq!(page.next.is_some(), found.len() > offset + limit, "{find} by plan {plan}");
                    assert_eq!(*next.get_or_insert(page.next.clone()), page.next, "{find} by plan {plan}");
                }
                let told = snapshot.explain_entities(&find)?;
                let is_walk = told.plans.len() == 1 && told.plans[0].starts_with("walk");
                if text.starts_with("all") && is_walk && found.len() > offset + limit {
                    assert_eq!(told.candidates, offset + limit + 1, "{find}");
                    assert_eq!(told.visited, told.candidates, "{find}");
                }
                let bounded = |visited_max| snapshot.explain_entities(&Find { visited_max, ..find.clone() });
                assert_eq!(bounded(told.visited)?.found, expected.len(), "{find}");
                if told.visited > 0 {
                    assert_eq!(bounded(told.visited - 1).unwrap_err().kind(), ErrorKind::TooLarge, "{find}");
                }
            }
        }
        Ok(())
    }

    #[test]
    fn what_never_was_so_is_not_read() -> Result<()> {
        let repository = repository()?;
        let then = repository
            .snapshot()
            .settled()
            .as_of(AsOf { position: Some(crate::Position(3)), ..AsOf::default() })?;
        let told = then.explain_entities(&Find::parse("third where @text ~= \"her\"")?)?;
        assert_eq!((told.found, told.verified), (0, 233), "{told:?}");
        let told = then.explain_entities(&Find::parse("third where @text ~= \"nothing\"")?)?;
        assert_eq!((told.found, told.verified), (0, 0), "{told:?}");
        Ok(())
    }

    #[test]
    fn a_page_that_cannot_be_is_refused() -> Result<()> {
        let repository = Repository::in_memory();
        repository.transact(|t| {
            (0..9).try_for_each(|number| {
                t.create_entity(NewEntity::new("t").property("a", number).property("b", number)).map(drop)
            })
        })?;
        let snapshot = repository.snapshot().settled();
        let find = Find::of("t").order_by("a").limit(3);
        let next = snapshot.find_entities(&find)?.next.unwrap();
        let refused = [
            (Find::of("t").order_by("b").limit(3).after(&*next), ErrorKind::InvalidPage),
            (find.clone().after("none"), ErrorKind::InvalidPage),
            (find.clone().limit(0), ErrorKind::InvalidPage),
            (Find { visited_max: 3, ..find.clone() }, ErrorKind::TooLarge),
        ];
        for (find, kind) in refused {
            assert_eq!(snapshot.find_entities(&find).unwrap_err().kind(), kind, "{find}");
        }
        let exactly = Find { visited_max: 4, ..find };
        assert_eq!(snapshot.find_entities(&exactly)?.items.len(), 3);
        Ok(())
    }
}
