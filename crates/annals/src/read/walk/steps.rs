//! The steps a walk may take from an entity, with all names of its [`Reach`] resolved.

use super::reach::Reach;
use crate::model::{Direction, Id, TypeKind};
use crate::read::operators::expand::Expand;
use crate::read::operators::filter::entities::EntityFilter;
use crate::read::operators::filter::status::Statuses;
use crate::read::operators::link_types::LinkTypes;
use crate::read::snapshot::Snapshot;
use crate::{Error, ErrorKind, Result};

/// The steps of one walk over one snapshot.
pub(super) struct Steps<'s> {
    pub(super) snapshot: &'s Snapshot,
    pub(super) directions: Vec<Direction>,
    /// Along which relationships.
    pub(super) expand: Expand<'s>,
    /// Which entities it comes to.
    filter: EntityFilter<'s>,
    /// True if there may be proxies: they are walked through and not listed.
    pub(super) has_proxies: bool,
}

/// Which way round a direction is when a path is walked from its end.
pub(super) fn reversed(direction: Direction) -> Direction {
    match direction {
        Direction::Out => Direction::In,
        Direction::In => Direction::Out,
    }
}

impl<'s> Steps<'s> {
    /// Errors: `NotFound` for a name that no type or classification has; `InvalidArgument` for too many names, no
    /// direction, or a depth range without depths.
    pub(super) fn new(snapshot: &'s Snapshot, reach: &Reach) -> Result<Steps<'s>> {
        let is_both = reach.directions.contains(&Direction::Out) && reach.directions.contains(&Direction::In);
        let directions = match (is_both, reach.directions.first()) {
            (true, _) => vec![Direction::Out, Direction::In],
            (false, Some(direction)) => vec![*direction],
            (false, None) => return Err(invalid("directions: expected out, in or both, found none".into())),
        };
        if reach.depth_max.is_some_and(|depth_max| depth_max < reach.depth_min) {
            let text = format!(
                "depth: expected a least depth of at most {}, found {}",
                reach.depth_max.unwrap_or_default(),
                reach.depth_min
            );
            return Err(invalid(text));
        }
        let types = LinkTypes::of(snapshot.known_types(TypeKind::Relationship, &reach.types)?);
        let statuses = Statuses::new(snapshot, &reach.statuses)?;
        let filter = EntityFilter {
            snapshot,
            types: snapshot.known_types(TypeKind::Entity, &reach.entity_types)?,
            classifications: snapshot.known_types(TypeKind::Classification, &reach.classifications)?,
            statuses: statuses.clone(),
        };
        Ok(Steps {
            snapshot,
            directions,
            expand: Expand::with_statuses(snapshot, types, statuses),
            filter,
            has_proxies: snapshot.has_proxies(),
        })
    }

    /// The same steps, from their ends.
    pub(super) fn reversed(&self) -> Vec<Direction> {
        self.directions.iter().rev().map(|direction| reversed(*direction)).collect()
    }

    /// Slot of an entity where a walk may start or end.
    ///
    /// Errors: `NotFound` if the snapshot does not see it, live or with a status asked for.
    pub(super) fn slot(&self, id: &Id) -> Result<u32> {
        let slot = self.snapshot.slot_of(TypeKind::Entity, id);
        match slot.filter(|slot| self.snapshot.sees_status(TypeKind::Entity, *slot, &self.filter.statuses)) {
            Some(slot) => Ok(slot),
            None => self.snapshot.live_slot(id),
        }
    }

    /// True if only a proxy of the entity at `slot` is here.
    #[inline]
    pub(super) fn is_proxy(&self, slot: u32) -> bool {
        self.has_proxies && self.snapshot.is_proxy(TypeKind::Entity, slot)
    }

    pub(super) fn slots_count(&self) -> usize {
        self.snapshot.graph().entities.slots_count()
    }

    /// True if every entity that a step leads to is admitted, so that none needs a look.
    pub(super) fn admits_all(&self) -> bool {
        self.filter.admits_all()
    }

    /// True if the walk may come to the entity at `slot`, to which a step leads.
    ///
    /// Errors: those of reading history, for classifications as of an earlier time.
    pub(super) fn admits(&self, slot: u32) -> Result<bool> {
        self.filter.admits(slot)
    }
}

fn invalid(text: String) -> Error {
    Error::new(ErrorKind::InvalidArgument, text)
}
