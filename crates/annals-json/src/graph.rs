//! Answers of graph queries.

use annals::{
    Crossed, Direction, Entity, Group, Groups, Neighbor, Path, PathStep, Reached, Relationship, Result,
    Shared, Subgraph,
};
use smallvec::{SmallVec, smallvec};

use super::form::{Form, JsonText, Members, ObjectOf};
use super::instance::Seen;

/// The name of a direction.
pub fn direction_to_text(direction: Direction) -> &'static str {
    match direction {
        Direction::Out => "out",
        Direction::In => "in",
    }
}

/// `{"length", "start", "steps": [{"direction", "relationship", "entity"}]}`.
impl Form for Path<'_> {
    fn write(&self, to: &mut JsonText) {
        to.object(|members| add_path(members, self));
    }
}

/// Adds the members of a path.
pub fn add_path(members: &mut Members, path: &Path) {
    members.add("length", path.length);
    members.add("start", &path.start);
    members.add("steps", &path.steps);
}

impl Form for PathStep<'_> {
    fn write(&self, to: &mut JsonText) {
        to.object(|members| {
            members.add("direction", direction_to_text(self.direction));
            members.add("entity", &self.entity);
            members.add("relationship", &self.relationship);
        });
    }
}

/// The JSON form of an entity that a walk reaches, `{"distance", "entity"}`, or that walks from two entities reach,
/// `{"distances", "entity"}`.
pub struct ReachedForm<'s> {
    distances: SmallVec<[usize; 2]>,
    entity: Entity<'s>,
}

impl<'s> ReachedForm<'s> {
    /// Errors: those of reading the entity.
    pub fn of(reached: &Reached<'s>) -> Result<ReachedForm<'s>> {
        Ok(ReachedForm { distances: smallvec![reached.distance], entity: reached.entity()? })
    }

    /// Errors: those of reading the entity.
    pub fn of_shared(shared: &Shared<'s>) -> Result<ReachedForm<'s>> {
        Ok(ReachedForm { distances: shared.distances.into(), entity: shared.entity()? })
    }
}

impl Form for ReachedForm<'_> {
    fn write(&self, to: &mut JsonText) {
        to.object(|members| {
            match self.distances[..] {
                [distance] => members.add("distance", distance),
                _ => members.add("distances", &self.distances[..]),
            };
            members.add("entity", &self.entity);
        });
    }
}

/// The JSON form of a neighbour: `{"relationship", "entity"}`, and `direction` if it is given.
pub struct NeighborForm<'s> {
    /// The relationship and the entity at its other end.
    pub neighbor: Neighbor<'s>,
    /// The direction of the relationship.
    pub direction: Option<Direction>,
}

impl Form for NeighborForm<'_> {
    fn write(&self, to: &mut JsonText) {
        to.object(|members| {
            if let Some(direction) = self.direction {
                members.add("direction", direction_to_text(direction));
            }
            members.add("entity", &self.neighbor.entity);
            members.add("relationship", &self.neighbor.relationship);
        });
    }
}

/// The JSON form of a relationship on a walk, as a line: `{"relationship"}`.
pub struct CrossedForm<'s>(Relationship<'s>);

impl<'s> CrossedForm<'s> {
    /// Errors: those of reading the relationship.
    pub fn of(crossed: &Crossed<'s>) -> Result<CrossedForm<'s>> {
        Ok(CrossedForm(crossed.relationship()?))
    }
}

impl Form for CrossedForm<'_> {
    fn write(&self, to: &mut JsonText) {
        to.object(|members| {
            members.add("relationship", &self.0);
        });
    }
}

/// The JSON form of a group: `{"value", "count"}`; the value is null for entities without one.
impl Form for Group {
    fn write(&self, to: &mut JsonText) {
        to.object(|members| {
            members.add("value", &self.value);
            members.add("count", self.count);
        });
    }
}

/// The largest groups, and the count of the rest: `{"count", "groups", "rest": {"groups", "count"}}`.
pub struct GroupsForm<'g> {
    groups: &'g Groups,
    limit: usize,
}

impl<'g> GroupsForm<'g> {
    /// With at most this many groups.
    pub fn of(groups: &'g Groups, limit: usize) -> GroupsForm<'g> {
        GroupsForm { groups, limit }
    }

    /// The shown groups.
    pub fn shown(&self) -> &'g [Group] {
        &self.groups.groups[..self.limit.min(self.groups.groups.len())]
    }

    /// The number of groups that are not shown, and the sum of their counts.
    pub fn rest(&self) -> (usize, usize) {
        let rest = &self.groups.groups[self.shown().len()..];
        (rest.len(), rest.iter().map(|group| group.count).sum())
    }

    /// Adds `count` and `rest`.
    pub fn add_totals(&self, members: &mut Members) {
        let (groups, count) = self.rest();
        members.add("count", self.groups.count);
        members.add(
            "rest",
            ObjectOf(|members: &mut Members| {
                members.add("groups", groups);
                members.add("count", count);
            }),
        );
    }
}

impl Form for GroupsForm<'_> {
    fn write(&self, to: &mut JsonText) {
        to.object(|members| {
            members.add("groups", self.shown());
            self.add_totals(members);
        });
    }
}

/// Accepts items while a page has room for their stored bytes; at least one.
pub struct Room {
    /// Units: bytes.
    left: usize,
}

/// An item that takes room on a page.
pub trait Stored {
    /// Its stored bytes. Units: bytes.
    fn stored_bytes(&self) -> usize;
}

impl Room {
    /// Room for this many bytes.
    pub fn of(bytes: usize) -> Room {
        Room { left: bytes.max(1) }
    }

    /// True if no room is left.
    pub fn is_full(&self) -> bool {
        self.left == 0
    }

    /// The next items, up to the one that fills the page.
    pub fn take<T: Stored>(&mut self, items: impl Iterator<Item = Result<T>>) -> Result<Vec<T>> {
        let mut taken = Vec::new();
        for item in items {
            let item = item?;
            self.left = self.left.saturating_sub(item.stored_bytes());
            taken.push(item);
            if self.left == 0 {
                break;
            }
        }
        Ok(taken)
    }
}

impl Stored for ReachedForm<'_> {
    fn stored_bytes(&self) -> usize {
        self.entity.stored_bytes()
    }
}

impl Stored for NeighborForm<'_> {
    fn stored_bytes(&self) -> usize {
        self.neighbor.entity.stored_bytes() + self.neighbor.relationship.stored_bytes()
    }
}

impl Stored for Path<'_> {
    fn stored_bytes(&self) -> usize {
        let step = |step: &PathStep| step.entity.stored_bytes() + step.relationship.stored_bytes();
        self.start.stored_bytes() + self.steps.iter().map(step).sum::<usize>()
    }
}

impl Stored for Seen<'_> {
    fn stored_bytes(&self) -> usize {
        match self {
            Seen::Entity(entity) => entity.stored_bytes(),
            Seen::Relationship(relationship) => relationship.stored_bytes(),
        }
    }
}

/// A page of a subgraph: its entities and then its relationships, with a number of them skipped and a number taken.
pub struct SubgraphPage<'s> {
    /// Entities on this page.
    pub entities: Vec<ReachedForm<'s>>,
    /// Relationships on this page.
    pub relationships: Vec<Seen<'s>>,
    /// Entities and relationships on this page.
    pub count: usize,
    /// True if there are more.
    pub has_more: bool,
}

impl<'s> SubgraphPage<'s> {
    /// Errors: those of reading its instances.
    pub fn of(
        subgraph: &Subgraph<'s>,
        skip: usize,
        limit: usize,
        mut room: Room,
    ) -> Result<SubgraphPage<'s>> {
        let (entities, relationships) = (subgraph.entities(), subgraph.relationships());
        let (entities_count, relationships_count) = (entities.len(), relationships.len());
        let entities = entities.skip(skip).take(limit).map(|reached| ReachedForm::of(&reached));
        let due = limit.min(entities_count.saturating_sub(skip));
        let entities = room.take(entities)?;
        let rest = if entities.len() < due || room.left == 0 { 0 } else { limit - entities.len() };
        let relationships = relationships.skip(skip.saturating_sub(entities_count)).take(rest);
        let relationships = relationships.map(|crossed| Ok(Seen::Relationship(crossed.relationship()?)));
        let relationships = room.take(relationships)?;
        let count = entities.len() + relationships.len();
        let has_more = skip.saturating_add(count) < entities_count + relationships_count;
        Ok(SubgraphPage { entities, relationships, count, has_more })
    }
}
