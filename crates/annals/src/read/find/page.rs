//! The entry points of searches: pages, counts, and explanations.

use super::by_plan::OFFSET_KEPT_MAX;
use super::by_plan::{Search, Steps};
use super::explain;
use crate::Result;
use crate::model::TypeKind;
use crate::read::instance::{Entity, Relationship};
use crate::read::operators::page::Page;
use crate::read::past::held::Held;
use crate::read::snapshot::Snapshot;
use crate::search::Find;

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
    /// Errors: `InvalidPage` for a foreign cursor or a limit of 0 or over 100,000; `InvalidExpression` for values that
    /// cannot be compared; `NotFound` for an unknown type, if types are declared, and for a property that no instance
    /// has and that no searched type declares, if all are declared; `TooLarge` over a bound.
    pub fn find_entities(&self, find: &Find) -> Result<Page<Entity<'_>>> {
        self.find(TypeKind::Entity, find, move |slot, held| Entity::new(self, slot, held))
    }

    /// One page of the relationships that a search finds. Errors: as [`Snapshot::find_entities`].
    pub fn find_relationships(&self, find: &Find) -> Result<Page<Relationship<'_>>> {
        self.find(TypeKind::Relationship, find, move |slot, held| Relationship::new(self, slot, held))
    }

    fn find<T>(&self, kind: TypeKind, find: &Find, make: impl Fn(u32, Held) -> T + Copy) -> Result<Page<T>> {
        let page = self.page_by_plan(&Search::new(self, kind, find)?, None, make)?;
        Ok(page.expect("the best plan is always there"))
    }

    /// The same by the plan with this number, for tests that compare all plans. `None` if there is no such plan.
    #[doc(hidden)]
    pub fn find_ids_by_plan(
        &self,
        kind: TypeKind,
        find: &Find,
        plan: usize,
    ) -> Result<Option<Page<crate::model::Id>>> {
        self.find_ids_keeping(kind, find, plan, OFFSET_KEPT_MAX)
    }

    /// The same with another bound on the places kept for an offset, for tests.
    #[doc(hidden)]
    pub fn find_ids_keeping(
        &self,
        kind: TypeKind,
        find: &Find,
        plan: usize,
        offset_kept_max: usize,
    ) -> Result<Option<Page<crate::model::Id>>> {
        let mut search = Search::new(self, kind, find)?;
        search.offset_kept_max = offset_kept_max;
        self.page_by_plan(&search, Some(plan), |slot, held| match held {
            Held::InForce => self.graph().table(kind).id(slot).clone(),
            Held::Read(version) => self.graph().id_in(kind, slot, version.row().header()).clone(),
        })
    }

    fn page_by_plan<T>(
        &self,
        search: &Search,
        plan: Option<usize>,
        make: impl Fn(u32, Held) -> T + Copy,
    ) -> Result<Option<Page<T>>> {
        let hits = search.run(plan, &mut Steps::default(), make)?;
        Ok(hits.map(|hits| hits.into_page(self, search.sorting.number)))
    }

    /// The number of entities that a search finds, on all pages.
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

    /// The number of relationships that a search finds. Errors: as [`Snapshot::find_entities`].
    pub fn count_relationships(&self, find: &Find) -> Result<u64> {
        self.count_found(TypeKind::Relationship, find)
    }

    fn count_found(&self, kind: TypeKind, find: &Find) -> Result<u64> {
        let search = Search::new(self, kind, find)?;
        search.count(&mut Steps::default())
    }

    /// Finds a page of entities and explains how.
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

    /// Finds a page of relationships and explains how. Errors: as [`Snapshot::find_entities`].
    pub fn explain_relationships(&self, find: &Find) -> Result<explain::Explanation> {
        self.explain(TypeKind::Relationship, find)
    }

    fn explain(&self, kind: TypeKind, find: &Find) -> Result<explain::Explanation> {
        let search = Search::new(self, kind, find)?;
        let mut steps = Steps { is_told: true, ..Steps::default() };
        let hits = search.run(None, &mut steps, |_, _| ())?;
        steps.found = hits.map_or(0, |hits| hits.items.len());
        let mut explanation = explain::Explanation::new(&search, steps);
        if explanation.found == 0 && find.after.is_none() && find.offset == 0 {
            explanation.hints = self.hints(kind, find)?;
        }
        Ok(explanation)
    }
}
