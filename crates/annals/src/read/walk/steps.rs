//! The possible steps of a walk from an entity, with all names of its [`Reach`] resolved.

use super::reach::Reach;
use super::walked_type::Along;
use crate::graph::structures::link::Link;
use crate::graph::structures::symbols::Symbol;
use crate::model::{Direction, Id, TypeKind};
use crate::read::operators::expand::Expand;
use crate::read::operators::filter::condition::Filter;
use crate::read::operators::filter::entities::EntityFilter;
use crate::read::operators::filter::status::Statuses;
use crate::read::operators::link_types::LinkTypes;
use crate::read::snapshot::Snapshot;
use crate::{Error, ErrorKind, Result};

/// The steps of one walk over one snapshot.
pub(super) struct Steps<'s> {
    pub(super) snapshot: &'s Snapshot,
    onward: Way<'s>,
    /// The same relationships, for walking from the end of a path.
    backward: Way<'s>,
    both_ways: BothWays,
    /// The entities that it may enter.
    filter: EntityFilter<'s>,
    /// The condition on relationships; `None` if it crosses all of their types and statuses.
    crossing: Option<Filter>,
    /// True if there may be proxies: they are walked through and not listed.
    pub(super) has_proxies: bool,
}

/// The end from which a walk begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// Onward, from the start.
    Onward,
    /// Backward, from the end.
    Backward,
}

/// The relationships to follow, and their directions.
struct Way<'s> {
    directions: Vec<Direction>,
    expand: Expand<'s>,
}

/// The relationships that are followed in both directions, so that a walk may reach them from either end.
enum BothWays {
    All,
    None,
    /// Those of these types, ascending.
    Of(Vec<Symbol>),
}

/// The direction of a step when a path is walked from its end.
pub(super) fn reversed(direction: Direction) -> Direction {
    match direction {
        Direction::Out => Direction::In,
        Direction::In => Direction::Out,
    }
}

impl<'s> Steps<'s> {
    /// Errors: `NotFound` for a name that no type or classification has, or a property that no instance has;
    /// `InvalidArgument` for too many names, no direction or an unknown one, or a depth range without depths; for
    /// conditions, those of a search.
    pub(super) fn new(snapshot: &'s Snapshot, reach: &Reach) -> Result<Steps<'s>> {
        if reach.depth_max.is_some_and(|depth_max| depth_max < reach.depth_min) {
            let text = format!(
                "depth: expected a least depth of at most {}, found {}",
                reach.depth_max.unwrap_or_default(),
                reach.depth_min
            );
            return Err(invalid(text));
        }
        let types = Followed::new(snapshot, reach)?;
        let statuses = Statuses::new(snapshot, &reach.statuses)?;
        let entity_types = snapshot.known_types(TypeKind::Entity, &reach.entity_types)?;
        let classifications = snapshot.known_types(TypeKind::Classification, &reach.classifications)?;
        let condition =
            Filter::of_some(snapshot, TypeKind::Entity, entity_types.as_deref(), &reach.entity_where)?;
        let crossing = {
            let types = types.all();
            Filter::of_some(snapshot, TypeKind::Relationship, types.as_deref(), &reach.relationship_where)?
        };
        let (onward, backward, both_ways) = types.into_ways(snapshot, &statuses);
        Ok(Steps {
            snapshot,
            onward,
            backward,
            both_ways,
            filter: EntityFilter { snapshot, types: entity_types, classifications, statuses, condition },
            crossing,
            has_proxies: snapshot.has_proxies(),
        })
    }

    /// Calls `take` with every link that the walk may follow from the entities at `frontier`, entity by entity, each
    /// with its direction.
    ///
    /// Errors: `Cancelled`; those of a condition on relationships; those of `take`.
    #[inline]
    pub(super) fn each(
        &self,
        turn: Turn,
        frontier: &[u32],
        take: impl FnMut(u32, Direction, Link) -> Result<()>,
    ) -> Result<()> {
        let way = match turn {
            Turn::Onward => &self.onward,
            Turn::Backward => &self.backward,
        };
        self.each_of(way, &way.directions, frontier, take)
    }

    /// The same onward, but a relationship that is followed in both directions comes only from its start: each comes
    /// once, if every entity does.
    #[inline]
    pub(super) fn each_once(
        &self,
        frontier: &[u32],
        mut take: impl FnMut(u32, Link) -> Result<()>,
    ) -> Result<()> {
        let directions = if self.is_both() { &[Direction::Out][..] } else { &self.onward.directions };
        self.each_of(&self.onward, directions, frontier, |from, direction, link| {
            let is_again = direction == Direction::In && self.is_both_ways(link);
            if is_again { Ok(()) } else { take(from, link) }
        })
    }

    #[inline]
    fn each_of(
        &self,
        way: &Way<'s>,
        directions: &[Direction],
        frontier: &[u32],
        mut take: impl FnMut(u32, Direction, Link) -> Result<()>,
    ) -> Result<()> {
        let Some(crossing) = &self.crossing else {
            return way.expand.each(frontier, |slot| *slot, directions, take);
        };
        way.expand.each(
            frontier,
            |slot| *slot,
            directions,
            |from, direction, link| {
                if crossing.holds_at(self.snapshot, link.relationship)? {
                    take(from, direction, link)
                } else {
                    Ok(())
                }
            },
        )
    }

    /// True if every relationship is followed in both directions.
    pub(super) fn is_both(&self) -> bool {
        matches!(self.both_ways, BothWays::All)
    }

    /// True if this one is followed in both directions.
    #[inline]
    pub(super) fn is_both_ways(&self, link: Link) -> bool {
        match &self.both_ways {
            BothWays::All => true,
            BothWays::None => false,
            BothWays::Of(types) => types.binary_search(&link.type_name).is_ok(),
        }
    }

    /// Slot of an entity where a walk may start or end.
    ///
    /// Errors: `NotFound` if the snapshot does not see it, live or with a status that the walk enters.
    pub(super) fn slot(&self, id: &Id) -> Result<u32> {
        let slot = self.snapshot.slot_of(TypeKind::Entity, id);
        match slot.filter(|slot| self.snapshot.sees_status(TypeKind::Entity, *slot, &self.filter.statuses)) {
            Some(slot) => Ok(slot),
            None => self.snapshot.live_slot(id),
        }
    }

    /// True if the repository holds only a proxy of the entity at `slot`.
    #[inline]
    pub(super) fn is_proxy(&self, slot: u32) -> bool {
        self.has_proxies && self.snapshot.is_proxy(TypeKind::Entity, slot)
    }

    pub(super) fn slots_count(&self) -> usize {
        self.snapshot.graph().entities.slots_count()
    }

    /// True if every entity at the end of a step may be entered, so that none needs a check.
    pub(super) fn may_enter_all(&self) -> bool {
        self.filter.holds_for_all()
    }

    /// True if the walk may enter the entity at `slot`, which is at the end of a step.
    ///
    /// Errors: those of reading history, for classifications as of an earlier time and for conditions; those of a
    /// condition.
    pub(super) fn may_enter(&self, slot: u32) -> Result<bool> {
        self.filter.holds_at(slot)
    }
}

/// Types to follow, ascending; `None` for all.
type Types = Option<Vec<Symbol>>;

/// The types followed from their starts, and the types followed from their ends.
enum Followed {
    Same(Vec<Direction>, Types),
    Each { out: Vec<Symbol>, into: Vec<Symbol> },
}

impl Followed {
    fn new(snapshot: &Snapshot, reach: &Reach) -> Result<Followed> {
        let of_walk = &reach.directions;
        if of_walk.is_empty() {
            return Err(invalid("directions: expected out, in or both, found none".into()));
        }
        let has = |direction: Direction| {
            move |along: &&Along| {
                let own = if along.directions.is_empty() { of_walk } else { &along.directions };
                own.contains(&direction)
            }
        };
        let names =
            |direction| reach.types.iter().filter(has(direction)).map(|along| along.type_name.clone());
        let (out, into): (Vec<String>, Vec<String>) =
            (names(Direction::Out).collect(), names(Direction::In).collect());
        let followed = |names: &[String]| {
            snapshot
                .known_types(TypeKind::Relationship, names)
                .map_err(|error| unknown_direction(snapshot, names).unwrap_or(error))
        };
        if reach.types.is_empty() {
            let both = [Direction::Out, Direction::In];
            let directions = both.into_iter().filter(|direction| of_walk.contains(direction));
            return Ok(Followed::Same(directions.collect(), None));
        }
        if into.is_empty() || out == into {
            let directions =
                if into.is_empty() { vec![Direction::Out] } else { vec![Direction::Out, Direction::In] };
            return Ok(Followed::Same(directions, followed(&out)?));
        }
        if out.is_empty() {
            return Ok(Followed::Same(vec![Direction::In], followed(&into)?));
        }
        let (out, into) = (followed(&out)?.unwrap_or_default(), followed(&into)?.unwrap_or_default());
        if out == into {
            return Ok(Followed::Same(vec![Direction::Out, Direction::In], Some(out)));
        }
        Ok(Followed::Each { out, into })
    }

    /// All of them, in any direction.
    fn all(&self) -> Types {
        match self {
            Followed::Same(_, types) => types.clone(),
            Followed::Each { out, into } => {
                let mut types = [out.clone(), into.clone()].concat();
                types.sort_unstable();
                types.dedup();
                Some(types)
            }
        }
    }

    /// The way onward, the way back, and the types followed in both directions.
    fn into_ways<'s>(self, snapshot: &'s Snapshot, statuses: &Statuses) -> (Way<'s>, Way<'s>, BothWays) {
        let expand = |types: Types| Expand::with_statuses(snapshot, LinkTypes::of(types), statuses.clone());
        match self {
            Followed::Same(directions, types) => {
                let both_ways = if directions.len() == 2 { BothWays::All } else { BothWays::None };
                let back = directions.iter().rev().map(|direction| reversed(*direction)).collect();
                let backward = Way { directions: back, expand: expand(types.clone()) };
                (Way { directions, expand: expand(types) }, backward, both_ways)
            }
            Followed::Each { out, into } => {
                let both = out.iter().filter(|name| into.binary_search(name).is_ok()).copied().collect();
                let way = |out: Vec<Symbol>, into: Vec<Symbol>| Way {
                    directions: vec![Direction::Out, Direction::In],
                    expand: expand(Some(out)).with_types_into(LinkTypes::of(Some(into))),
                };
                (way(out.clone(), into.clone()), way(into, out), BothWays::Of(both))
            }
        }
    }
}

/// The error for an unknown name with a word after its last colon.
fn unknown_direction(snapshot: &Snapshot, names: &[String]) -> Option<Error> {
    names.iter().find_map(|name| {
        snapshot.check_type_known(TypeKind::Relationship, name).err()?;
        let (known, word) = name.rsplit_once(':')?;
        snapshot.check_type_known(TypeKind::Relationship, known).ok()?;
        let text = match word {
            "in" | "out" | "both" => format!(
                "type {name}: expected the name of a type, found one with a direction; parse the text as an Along"
            ),
            _ => format!("type {name}: expected in, out or both behind {known}:, found {word:?}"),
        };
        Some(invalid(text))
    })
}

fn invalid(text: String) -> Error {
    Error::new(ErrorKind::InvalidArgument, text)
}
