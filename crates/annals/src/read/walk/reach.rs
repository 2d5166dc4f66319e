//! The relationships, entities and distance of a walk, as callers give them.

use super::walked_type::Along;
use crate::model::Direction;
use crate::search::Expression;

/// Most entities that one walk visits, by default.
pub const VISITED_MAX: usize = 1_000_000;

/// A walk: its relationships, entities, direction and distance.
///
/// An entity that the walk may not enter is neither listed nor walked through. It always enters its start and
/// the end of a path.
///
/// ```
/// use annals::{Direction, NewEntity, NewRelationship, Reach, Repository};
/// let repository = Repository::in_memory();
/// let (raw, _) = repository.transact(|t| {
///     let raw = t.create_entity(NewEntity::new("table"))?;
///     let job = t.create_entity(NewEntity::new("job"))?;
///     let clean = t.create_entity(NewEntity::new("table").property("owner", "finance"))?;
///     t.create_relationship(NewRelationship::new("reads", job.clone(), raw.clone()))?;
///     t.create_relationship(NewRelationship::new("writes", job, clean))?;
///     Ok(raw)
/// })?;
/// let snapshot = repository.snapshot();
/// // From a table to the jobs that read it, to the tables that these write, and so on.
/// let downstream = Reach::out().over([("reads", Direction::In), ("writes", Direction::Out)]);
/// assert_eq!(snapshot.reachable(&raw, &downstream)?.len(), 2);
/// let downstream = downstream.entity_where("not owner = finance".parse()?);
/// assert_eq!(snapshot.reachable(&raw, &downstream)?.len(), 1);
/// # Ok::<(), annals::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Reach {
    /// Directions to follow; both to ignore direction.
    pub directions: Vec<Direction>,
    /// The relationship types to follow (with subtypes), each in the directions of the walk or in its own; empty means
    /// all. A type that is named several times is followed in all these directions.
    pub types: Vec<Along>,
    /// Names of the entity types to enter (with subtypes); empty means all.
    pub entity_types: Vec<String>,
    /// Names of classifications (with subtypes); an entered entity has at least one of them; empty means all entities.
    pub classifications: Vec<String>,
    /// The condition on entered entities.
    pub entity_where: Expression,
    /// The condition on relationships of the walk.
    pub relationship_where: Expression,
    /// Statuses that entities and relationships may have; empty means all but `deleted`.
    pub statuses: Vec<String>,
    /// List only entities at least this many steps from the start; the walk passes through nearer ones.
    pub depth_min: usize,
    /// Most steps from the start; `None` means any number.
    pub depth_max: Option<usize>,
    /// Most entities to visit, and most relationships to list; one more is an error, so that no walk runs without end.
    pub visited_max: usize,
}

impl Reach {
    /// Along outgoing relationships of any type, to any distance, within [`VISITED_MAX`].
    pub fn out() -> Reach {
        Reach {
            directions: vec![Direction::Out],
            types: Vec::new(),
            entity_types: Vec::new(),
            classifications: Vec::new(),
            entity_where: Expression::everything(),
            relationship_where: Expression::everything(),
            statuses: Vec::new(),
            depth_min: 0,
            depth_max: None,
            visited_max: VISITED_MAX,
        }
    }

    /// Along incoming relationships: the entities from which a path leads to the start.
    pub fn incoming() -> Reach {
        Reach { directions: vec![Direction::In], ..Reach::out() }
    }

    /// In both directions.
    pub fn both() -> Reach {
        Reach { directions: vec![Direction::Out, Direction::In], ..Reach::out() }
    }

    /// The same, only over relationships of these types: each a name, or a name with a direction.
    #[must_use]
    pub fn over(mut self, types: impl IntoIterator<Item = impl Into<Along>>) -> Reach {
        self.types = types.into_iter().map(Into::into).collect();
        self
    }

    /// The same, only through entities of these types.
    #[must_use]
    pub fn through<'n>(mut self, types: impl IntoIterator<Item = &'n str>) -> Reach {
        self.entity_types = names(types);
        self
    }

    /// The same, only through entities with one of these classifications.
    #[must_use]
    pub fn classified<'n>(mut self, classifications: impl IntoIterator<Item = &'n str>) -> Reach {
        self.classifications = names(classifications);
        self
    }

    /// The same, only through entities that fulfil this condition.
    #[must_use]
    pub fn entity_where(mut self, condition: Expression) -> Reach {
        self.entity_where = condition;
        self
    }

    /// The same, only over relationships that fulfil this condition.
    #[must_use]
    pub fn relationship_where(mut self, condition: Expression) -> Reach {
        self.relationship_where = condition;
        self
    }

    /// The same, over relationships and through entities with one of these statuses.
    #[must_use]
    pub fn with_statuses<'n>(mut self, statuses: impl IntoIterator<Item = &'n str>) -> Reach {
        self.statuses = names(statuses);
        self
    }

    /// The same, without listing entities nearer than this many steps.
    #[must_use]
    pub fn depth_min(mut self, depth: usize) -> Reach {
        self.depth_min = depth;
        self
    }

    /// The same, at most this many steps.
    #[must_use]
    pub fn depth_max(mut self, depth: usize) -> Reach {
        self.depth_max = Some(depth);
        self
    }

    /// The same, listing only entities exactly this many steps away (the *k-out* of an entity).
    #[must_use]
    pub fn depth(self, depth: usize) -> Reach {
        self.depth_min(depth).depth_max(depth)
    }

    /// The same, visiting at most this many entities.
    #[must_use]
    pub fn visited_max(mut self, visited: usize) -> Reach {
        self.visited_max = visited;
        self
    }
}

fn names<'n>(names: impl IntoIterator<Item = &'n str>) -> Vec<String> {
    names.into_iter().map(str::to_owned).collect()
}
