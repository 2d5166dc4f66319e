//! Skips what is not of the domain in a long stretch of one value.
//!
//! In an index, what holds one value stands by slot. Instances of one type were often made one after the other, so that
//! those of the domain are a short part of a stretch that many types share: the walk goes there at once.

use super::domain::Domain;
use super::walk::{Candidate, Place, Walker};
use crate::graph::index::key::without_slot;

/// So many in a row that are not of the domain are walked over before anything is looked up.
const MISSES_FEW: u32 = 32;
/// The same, when looking up gained little some times.
const MISSES_MAX: u32 = 4_096;
/// A nearer slot is walked to.
const GAP_FEW: u32 = 256;

/// Counts candidates that were not of the domain.
pub(super) struct Skip<'g> {
    misses: u32,
    patience: u32,
    // The key of the first of them.
    first: Option<&'g [u8]>,
}

impl<'g> Skip<'g> {
    pub(super) fn new() -> Skip<'g> {
        Skip { misses: 0, patience: MISSES_FEW, first: None }
    }

    /// Notes a candidate that is of the domain.
    #[inline]
    pub(super) fn hit(&mut self) {
        self.misses = 0;
    }

    /// Notes one that is not, and moves the walk on if many were not and it is along values.
    #[inline]
    pub(super) fn miss(
        &mut self,
        candidate: &Candidate<'g>,
        walker: &mut Walker<'_, 'g>,
        domain: &Domain<'g>,
    ) {
        let Some(key) = candidate.index_key().filter(|_| walker.is_along_values()) else { return };
        if self.misses == 0 {
            self.first = Some(key);
        }
        self.misses += 1;
        if self.misses > self.patience {
            self.move_on(key, candidate.slot, walker, domain);
        }
    }

    #[cold]
    fn move_on(&mut self, key: &'g [u8], slot: u32, walker: &mut Walker<'_, 'g>, domain: &Domain<'g>) {
        self.misses = 0;
        let value = without_slot(key);
        let is_one_value = self.first.is_some_and(|first| without_slot(first) == value);
        if !is_one_value {
            return;
        }
        let is_descending = walker.is_descending();
        let next = domain.slots(Some(slot), is_descending).next();
        if next.is_some_and(|next| next.abs_diff(slot) < GAP_FEW) {
            self.patience = (2 * self.patience).min(MISSES_MAX);
            return;
        }
        // None: on to the next value.
        let next = next.unwrap_or(if is_descending { 0 } else { u32::MAX });
        let mut place = value.to_vec();
        place.extend_from_slice(&next.to_be_bytes());
        walker.move_to(&place);
    }
}

impl<'g> Candidate<'g> {
    /// The key that the index has, if the walk is along one.
    fn index_key(&self) -> Option<&'g [u8]> {
        match &self.key {
            Place::Key(std::borrow::Cow::Borrowed(key)) => Some(key),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::model::{Id, InstanceId, NewEntity, Patch, TypeKind};
    use crate::{AsOf, Find, Repository, Result, Snapshot};

    const OF_TYPE: usize = 700;

    // Three types, one after the other, that share values; then every third instance gets others.
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
    fn a_walk_goes_to_the_domain_at_once_and_leaves_nothing_out() -> Result<()> {
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
        for snapshot in [&now, &then] {
            let find = Find::parse("third where text = \"the same\" order by text limit 7")?;
            let told = snapshot.explain_entities(&find)?;
            assert!(told.plans.len() == 1 && told.candidates < OF_TYPE, "{told:?}");
        }
        Ok(())
    }

    #[test]
    fn what_never_was_so_is_not_read() -> Result<()> {
        let repository = repository()?;
        let then =
            repository.snapshot().as_of(AsOf { position: Some(crate::Position(3)), ..AsOf::default() })?;
        let told = then.explain_entities(&Find::parse("third where @text ~= \"her\"")?)?;
        assert_eq!((told.found, told.verified), (0, 233), "{told:?}");
        let told = then.explain_entities(&Find::parse("third where @text ~= \"nothing\"")?)?;
        assert_eq!((told.found, told.verified), (0, 0), "{told:?}");
        Ok(())
    }
}
