//! The steps a walk may take from an entity, with all names of its [`Reach`] resolved.

use super::reach::Reach;
use crate::graph::structures::symbols::Symbol;
use crate::model::{Direction, Id, TypeKind};
use crate::read::link_types::LinkTypes;
use crate::read::nearest;
use crate::read::operators::expand::Expand;
use crate::read::snapshot::Snapshot;
use crate::read::status::Statuses;
use crate::{Error, ErrorKind, Result};

/// Most names of one kind in a [`Reach`].
const NAMES_MAX: usize = 1_024;

/// The steps of one walk over one snapshot.
pub(super) struct Steps<'s> {
    pub(super) snapshot: &'s Snapshot,
    pub(super) directions: Vec<Direction>,
    /// Along which relationships.
    pub(super) expand: Expand<'s>,
    /// Ascending; `None` for any.
    entity_types: Option<Vec<Symbol>>,
    /// Ascending; `None` for any or none.
    classifications: Option<Vec<Symbol>>,
    statuses: Statuses,
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
        Ok(Steps {
            snapshot,
            directions,
            expand: Expand::with_statuses(snapshot, types, statuses.clone()),
            entity_types: snapshot.known_types(TypeKind::Entity, &reach.entity_types)?,
            classifications: snapshot.known_types(TypeKind::Classification, &reach.classifications)?,
            statuses,
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
        match slot.filter(|slot| self.snapshot.sees_status(TypeKind::Entity, *slot, &self.statuses)) {
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

    /// True if every entity that a link leads to is admitted, so that none needs a look.
    pub(super) fn admits_all(&self) -> bool {
        self.entity_types.is_none() && self.classifications.is_none() && self.statuses.is_live()
    }

    /// True if the walk may come to the entity at `slot`, to which a step leads.
    ///
    /// Errors: those of reading history, for classifications as of an earlier time.
    pub(super) fn admits(&self, slot: u32) -> Result<bool> {
        let table = &self.snapshot.graph().entities;
        if !self.statuses.is_live() && !self.snapshot.sees_status(TypeKind::Entity, slot, &self.statuses) {
            return Ok(false);
        }
        if let Some(types) = &self.entity_types {
            let is_there = table.row(slot).is_some();
            let is_of =
                is_there && types.binary_search(&self.snapshot.type_seen(TypeKind::Entity, slot)).is_ok();
            if !is_of {
                return Ok(false);
            }
        }
        let Some(names) = &self.classifications else { return Ok(true) };
        if self.snapshot.view().is_none() && self.statuses.is_live() {
            return Ok(names.iter().any(|name| table.lists.classified.present.contains(*name, slot)));
        }
        // Who carries none of them now, and never did, needs no look at the log.
        let may_be = |name: &Symbol| table.lists.classified.ever(*name, slot);
        let is_deleted = !table.is_live(slot);
        if !is_deleted && !names.iter().any(may_be) {
            return Ok(false);
        }
        let Some(held) = self.snapshot.seen(TypeKind::Entity, slot, true)? else { return Ok(false) };
        let row = self.snapshot.row(TypeKind::Entity, slot, &held);
        Ok(row.classifications().any(|known| names.binary_search(&known.name()).is_ok()))
    }
}

impl Snapshot {
    /// Symbols of the named types with their subtypes, ascending; `None` if no name is given.
    ///
    /// Errors: `NotFound` for a name that is not declared and that no instance has or had; `InvalidArgument` for more
    /// than 1,024 names.
    pub(crate) fn known_types(&self, kind: TypeKind, names: &[String]) -> Result<Option<Vec<Symbol>>> {
        if names.is_empty() {
            return Ok(None);
        }
        if names.len() > NAMES_MAX {
            let text = format!("{} types: expected at most {NAMES_MAX}, found {}", kind.name(), names.len());
            return Err(invalid(text));
        }
        let mut symbols = Vec::new();
        for name in names {
            self.check_type_known(kind, name)?;
            symbols.extend(self.types_named(kind, name));
        }
        symbols.sort_unstable();
        symbols.dedup();
        Ok(Some(symbols))
    }

    /// Errors: `NotFound` for a name that is not declared and that no instance has or had.
    pub(crate) fn check_type_known(&self, kind: TypeKind, name: &str) -> Result<()> {
        let graph = self.graph();
        if graph.names.find(name).is_some_and(|symbol| graph.is_type_known(kind, symbol)) {
            return Ok(());
        }
        let what = if kind == TypeKind::Classification { "" } else { " type" };
        let hint = self.type_hint(kind, name);
        let text = format!("{}{what} {name}: nothing is of it, and it is not declared{hint}", kind.name());
        Err(Error::new(ErrorKind::NotFound, text))
    }

    /// What to do about a type that is not known.
    pub(crate) fn type_hint(&self, kind: TypeKind, name: &str) -> String {
        let graph = self.graph();
        let known = (0..)
            .map(Symbol)
            .zip(graph.names.iter())
            .filter(|(symbol, _)| graph.is_type_known(kind, *symbol));
        nearest::hint(name, known.map(|(_, known)| &**known), "see the declared types")
    }
}

fn invalid(text: String) -> Error {
    Error::new(ErrorKind::InvalidArgument, text)
}
