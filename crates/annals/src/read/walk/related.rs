//! All entities related to one by any path, page by page, without a new walk for each page.

use std::sync::Arc;
use std::time::Instant;

use super::element::Reached;
use super::kept::{Kept, Question, WALKS_BYTES_MAX};
use super::reach::Reach;
use super::steps::Steps;
use super::walked::Breadth;
use crate::model::{Id, TypeKind};
use crate::read::operators::filter::properties::check_order;
use crate::read::snapshot::Snapshot;
use crate::search::OrderBy;
use crate::structures::number::narrow;
use crate::{Error, ErrorKind, Result};

/// Most entities on one page.
const LIMIT_MAX: usize = 100_000;
/// Number of sorted entities between two checks for cancellation.
const SORTED_UNCHECKED: usize = 1_024;

/// A page of the entities related to one.
#[derive(Clone, Debug)]
pub struct Related {
    /// The walk that finds them.
    pub reach: Reach,
    /// The order, as in a search, the most important key first. If empty, nearest first; then the walk goes no farther
    /// than the page needs.
    pub order: Vec<OrderBy>,
    /// How many to skip. Units: entities.
    pub skip: usize,
    /// Page size. Units: entities.
    pub limit: usize,
    /// True to count all of them, for which the whole walk is needed.
    pub is_counted: bool,
}

/// A page of related entities.
#[derive(Debug)]
pub struct RelatedPage<'s> {
    /// The entities, in order.
    pub items: Vec<Reached<'s>>,
    /// True if there are more.
    pub has_more: bool,
    /// The count of all pages, if it was requested.
    pub count: Option<usize>,
}

impl Related {
    /// The first hundred of a walk, nearest first.
    pub fn by(reach: Reach) -> Related {
        Related { reach, order: Vec::new(), skip: 0, limit: 100, is_counted: false }
    }
}

impl Snapshot {
    /// One page of the entities related to `start`: those of [`Snapshot::reachable`], in any order.
    ///
    /// The repository keeps a bounded number of walks for later pages, each with the graph of its first page. Request
    /// the next page as of the position of the first: then the walk continues where it stopped, so that all pages
    /// together cost one walk. A dropped walk is repeated with the same result, except that instances purged in between
    /// are left out. Within one program you can use [`Snapshot::walk`] instead, which needs no kept walks.
    ///
    /// ```
    /// use annals::{NewEntity, NewRelationship, Reach, OrderBy, Related, Repository};
    /// let repository = Repository::in_memory();
    /// let (hub, _) = repository.transact(|t| {
    ///     let hub = t.create_entity(NewEntity::new("hub"))?;
    ///     for size in [5, 1, 3] {
    ///         let leaf = t.create_entity(NewEntity::new("leaf").property("size", size))?;
    ///         t.create_relationship(NewRelationship::new("link", leaf, hub.clone()))?;
    ///     }
    ///     Ok(hub)
    /// })?;
    /// let snapshot = repository.snapshot();
    /// let mut related = Related::by(Reach::both());
    /// related.order = vec![OrderBy::descending("size")];
    /// related.limit = 2;
    /// let page = snapshot.related(&hub, &related)?;
    /// let sizes = page.items.iter().map(|one| Ok(one.entity()?.property("size").unwrap()));
    /// assert_eq!(sizes.collect::<annals::Result<Vec<_>>>()?, [5.into(), 3.into()]);
    /// assert!(page.has_more);
    /// # Ok::<(), annals::Error>(())
    /// ```
    ///
    /// Errors: as [`Snapshot::neighborhood`]; `InvalidPage` for a limit of 0 or over 100,000.
    pub fn related(&self, start: &Id, related: &Related) -> Result<RelatedPage<'_>> {
        if related.limit == 0 || related.limit > LIMIT_MAX {
            let text = format!("limit: expected 1 to {LIMIT_MAX}, found {}", related.limit);
            return Err(Error::new(ErrorKind::InvalidPage, text));
        }
        let sorting = self.sorting(&related.order)?;
        let types = self.known_types(TypeKind::Entity, &related.reach.entity_types)?;
        check_order(self, TypeKind::Entity, types.as_deref(), &related.order)?;
        let question = Question {
            generation: self.graph().generation,
            position: self.position().0,
            valid: self.view().map_or(i64::MAX, |view| view.valid),
            sight: self.sight_number(),
            start: start.clone(),
            reach: related.reach.clone(),
            order: related.order.clone(),
        };
        // The state of an uncommitted transaction must not be kept for other readers.
        let walks = self.pending().is_none().then(|| &self.source().walks);
        let kept = walks.and_then(|walks| walks.take(&question));
        let mut kept = match kept {
            // It may have been purged meanwhile.
            Some(kept) => {
                self.seen_start(start, &related.reach)?;
                kept
            }
            None => self.begin(question)?,
        };
        let page = self.page_of(&mut kept, related, sorting.is_some())?;
        if let Some(walks) = walks.filter(|_| page.has_more) {
            walks.put(kept, self.source().memory().share(WALKS_BYTES_MAX));
        }
        Ok(page)
    }

    fn seen_start(&self, start: &Id, reach: &Reach) -> Result<u32> {
        Steps::new(self, reach)?.slot(start)
    }

    fn begin(&self, question: Question) -> Result<Kept> {
        let steps = Steps::new(self, &question.reach)?;
        let breadth = Breadth::new(&steps, steps.slot(&question.start)?, &question.reach)?;
        let (graph, view) = (Arc::clone(self.shared_graph()), self.view());
        Ok(Kept { question, graph, view, breadth, sorted: None, used: Instant::now() })
    }

    fn page_of(&self, kept: &mut Kept, related: &Related, is_sorted: bool) -> Result<RelatedPage<'_>> {
        let then = self.over(Arc::clone(&kept.graph), kept.view);
        let steps = Steps::new(&then, &related.reach)?;
        let depth_min = related.reach.depth_min.max(1);
        let is_whole = related.is_counted || is_sorted;
        let end = related.skip.saturating_add(related.limit);
        let breadth = &mut kept.breadth;
        // One more than the page needs shows whether there are more.
        while !breadth.is_done() && (is_whole || breadth.listed_count(depth_min) <= end) {
            breadth.advance(&steps, None)?;
        }
        let count = breadth.listed_count(depth_min);
        if is_sorted && kept.sorted.is_none() {
            kept.sorted = Some(then.places_sorted(breadth, depth_min, &related.order)?);
        }
        let place = |at: usize| match &kept.sorted {
            Some(sorted) => sorted[at] as usize,
            None => kept.breadth.listed_place(depth_min, at),
        };
        // Both graphs have the same slots; those of entities that were purged since are empty.
        let is_there = |slot: u32| self.graph().entities.row(slot).is_some();
        let slot = |at: usize| kept.breadth.order[at];
        let reached = (related.skip..count.min(end)).map(place).filter(|at| is_there(slot(*at)));
        let reached =
            reached.map(|at| Reached { snapshot: self, slot: slot(at), distance: kept.breadth.distance(at) });
        let has_more = count > end;
        let is_complete = kept.graph.graph.purges.last == self.graph().purges.last;
        let counted = is_whole.then(|| match is_complete {
            true => count,
            false => (0..count).map(place).filter(|at| is_there(slot(*at))).count(),
        });
        Ok(RelatedPage { items: reached.collect(), has_more, count: counted })
    }

    /// The indexes of the listed entities of a walk, in order.
    fn places_sorted(&self, breadth: &Breadth, depth_min: usize, order: &[OrderBy]) -> Result<Vec<u32>> {
        let Some(sorting) = self.sorting(order)? else { return Ok(Vec::new()) };
        let count = breadth.listed_count(depth_min);
        let mut keys: Vec<(Vec<u8>, u32)> = Vec::with_capacity(count);
        for at in 0..count {
            if at.is_multiple_of(SORTED_UNCHECKED) {
                self.check_cancelled()?;
            }
            let place = breadth.listed_place(depth_min, at);
            keys.push((self.sort_key(TypeKind::Entity, breadth.order[place], &sorting)?, narrow(place)));
        }
        keys.sort_unstable();
        Ok(keys.into_iter().map(|(_, place)| place).collect())
    }
}
