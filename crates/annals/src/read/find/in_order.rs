//! Pages of all live instances, or of all of one type, in the order of one property: what people scroll through. There is
//! nothing to plan.

use super::bounds::ALL_KEYS;
use super::cursor;
use super::listing::ITEMS_RESERVED_MAX;
use super::order::{ABSENT, Shape, Sorting};
use super::page::Page;
use super::test::Bound;
use super::walk::{Directed, index_key, sort_key};
use crate::Result;
use crate::graph::table::Table;
use crate::model::TypeKind;
use crate::read::held::Held;
use crate::read::snapshot::Snapshot;
use crate::read::stored::Weighing;
use crate::search::{Deleted, Expression, Find};

impl Snapshot {
    /// A page that the keys of one index are; `None` leaves it to a search with plans, which finds the same.
    pub(super) fn page_in_order<T>(
        &self,
        kind: TypeKind,
        find: &Find,
        make: impl Fn(u32, Held) -> T + Copy,
    ) -> Result<Option<Page<T>>> {
        let table = self.graph().table(kind);
        let is_unrestricted = matches!(&find.filter, Expression::All(parts) if parts.is_empty())
            && find.deleted == Deleted::Without
            && find.subtypes.is_empty()
            && find.statuses.is_empty()
            && !find.with_proxies
            && find.offset == 0;
        let is_read_off = is_unrestricted
            && find.order.len() == 1
            && self.view().is_none()
            && !table.spill.is_used()
            && self.is_all_there_is(kind, table, find);
        if !is_read_off {
            return Ok(None);
        }
        find.check()?;
        table.check_indexes()?;
        let sorting = Sorting::by(self, &find.order);
        let Shape::Values { property, is_descending } = sorting.shape(self, table) else { return Ok(None) };
        if table.is_multi_valued(property) {
            return Ok(None);
        }
        let set = table.values.get(property.index());
        let Some(set) = set.filter(|set| set.len() > find.limit) else { return Ok(None) };
        let after = find
            .after
            .as_deref()
            .map(|text| cursor::decode(self.graph(), sorting.number, text))
            .transpose()?;
        if after.as_ref().is_some_and(|after| after[0] == ABSENT) {
            return Ok(None);
        }
        let after = after.map(|after| index_key(&after, is_descending));
        let mut keys = Directed::new(set, &ALL_KEYS, after.as_deref(), is_descending);
        if Weighing::new(self, kind, find.limit, find.bytes_max).is_needed() {
            return Ok(None);
        }
        let mut items = Vec::with_capacity(find.limit.min(ITEMS_RESERVED_MAX));
        let (listed, last) =
            keys.list_sure(None, find.limit, &mut items, move |slot| make(slot, Held::InForce));
        // Behind all values stands what has none.
        let (Some(last), true) = (last, listed == find.limit && keys.next().is_some()) else {
            return Ok(None);
        };
        Bound::new(find.visited_max).visit_all(listed + 1, self)?;
        let mut place = Vec::with_capacity(last.len() + 1);
        sort_key(last, is_descending, &mut place);
        Ok(Some(Page { items, next: Some(cursor::encode(self.graph(), sorting.number, &place)) }))
    }

    /// True if a search names no types, or one that all live instances are of.
    fn is_all_there_is(&self, kind: TypeKind, table: &Table, find: &Find) -> bool {
        match &find.types[..] {
            [] => true,
            [name] => match self.types_named(kind, name)[..] {
                [symbol] => table.extents.of(symbol).is_some_and(|own| own.len() == table.live_slots().len()),
                _ => false,
            },
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::model::{InstanceId, NewEntity, TypeKind};
    use crate::{ErrorKind, Find, Id, Repository, Result, Snapshot};

    // What pages of this size hold, one after the other, and how many of them needed no plan.
    fn pages(snapshot: &Snapshot, find: &Find) -> Result<(Vec<Id>, usize)> {
        let (mut find, mut ids, mut unplanned) = (find.clone(), Vec::new(), 0);
        loop {
            let without_plan = snapshot.page_in_order(TypeKind::Entity, &find, |slot, _| slot)?;
            unplanned += usize::from(without_plan.is_some());
            let page = snapshot.find_entities(&find)?;
            let ids_here: Vec<Id> = page.items.iter().map(|found| found.id().clone()).collect();
            for plan in 0..2 {
                let planned = snapshot.find_ids_by_plan(TypeKind::Entity, &find, plan)?.unwrap();
                assert_eq!((&planned.items, &planned.next), (&ids_here, &page.next), "{find} by plan {plan}");
            }
            ids.extend(ids_here);
            find.after = page.next;
            if find.after.is_none() {
                return Ok((ids, unplanned));
            }
        }
    }

    #[test]
    fn pages_without_a_plan_are_those_that_every_plan_finds() -> Result<()> {
        let repository = Repository::in_memory();
        let (ids, _) = repository.transact(|t| {
            (0..60)
                .map(|number| {
                    let entity = NewEntity::new("t");
                    t.create_entity(match number % 4 {
                        0 => entity,
                        _ => entity.property("a", number / 9).property("b", number),
                    })
                })
                .collect::<Result<Vec<Id>>>()
        })?;
        repository.transact(|t| {
            ids.iter().step_by(7).try_for_each(|id| t.delete(&InstanceId::Entity(id.clone())))
        })?;
        let of_one_type = repository.snapshot();
        repository.transact(|t| t.create_entity(NewEntity::new("u").property("a", 3)))?;
        let of_two_types = repository.snapshot();
        let live = ids.len() - ids.iter().step_by(7).count();
        for limit in [1, 5, 13, 60] {
            for find in [Find::all(), Find::of("t")] {
                for find in
                    [find.clone().order_by("a"), find.order_by_descending("a")].map(|find| find.limit(limit))
                {
                    let (found, unplanned) = pages(&of_one_type, &find)?;
                    assert_eq!((found.len(), unplanned > 0), (live, limit < 39), "{find}");
                    let (found, unplanned) = pages(&of_two_types, &find)?;
                    let is_all = find.types.is_empty();
                    let expected = (live + usize::from(is_all), is_all && limit < 39);
                    assert_eq!((found.len(), unplanned > 0), expected, "{find}");
                }
            }
        }
        Ok(())
    }

    #[test]
    fn what_a_plan_refuses_is_refused_without_one() -> Result<()> {
        let repository = Repository::in_memory();
        repository.transact(|t| {
            (0..9).try_for_each(|number| {
                t.create_entity(NewEntity::new("t").property("a", number).property("b", number)).map(drop)
            })
        })?;
        let snapshot = repository.snapshot();
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
