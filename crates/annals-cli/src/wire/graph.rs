//! Answers of graph queries.

use annals::{
    Crossed, Direction, Entity, Neighbor, Path, PathStep, Reached, Relationship, Result, Shared, Subgraph,
};
use serde::ser::{Serialize, SerializeMap, Serializer};

use super::form::Two;
use super::instance::{EntityForm, RelationshipForm, Seen};

/// The name of a direction.
pub fn direction_to_text(direction: Direction) -> &'static str {
    match direction {
        Direction::Out => "out",
        Direction::In => "in",
    }
}

/// The JSON form of a path: `{"length", "start", "steps": [{"direction", "relationship", "entity"}]}`.
pub struct PathForm<'a>(pub &'a Path<'a>);

impl Serialize for PathForm<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> std::result::Result<S::Ok, S::Error> {
        let path = self.0;
        let steps: Vec<StepForm> = path.steps.iter().map(StepForm).collect();
        let mut form = to.serialize_map(Some(3))?;
        form.serialize_entry("length", &path.length)?;
        form.serialize_entry("start", &EntityForm(&path.start))?;
        form.serialize_entry("steps", &steps)?;
        form.end()
    }
}

struct StepForm<'a>(&'a PathStep<'a>);

impl Serialize for StepForm<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> std::result::Result<S::Ok, S::Error> {
        let step = self.0;
        let mut form = to.serialize_map(Some(3))?;
        form.serialize_entry("direction", direction_to_text(step.direction))?;
        form.serialize_entry("entity", &EntityForm(&step.entity))?;
        form.serialize_entry("relationship", &RelationshipForm(&step.relationship))?;
        form.end()
    }
}

/// The JSON form of what a walk comes to: `{"distance", "entity"}`.
pub struct ReachedForm<'s> {
    distance: usize,
    entity: Entity<'s>,
}

impl<'s> ReachedForm<'s> {
    /// Errors: those of reading the entity.
    pub fn of(reached: &Reached<'s>) -> Result<ReachedForm<'s>> {
        Ok(ReachedForm { distance: reached.distance, entity: reached.entity()? })
    }
}

impl Serialize for ReachedForm<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> std::result::Result<S::Ok, S::Error> {
        Two(("distance", self.distance), ("entity", EntityForm(&self.entity))).serialize(to)
    }
}

/// The JSON form of what walks from two entities come to: `{"distances", "entity"}`.
pub struct SharedForm<'s> {
    distances: [usize; 2],
    entity: Entity<'s>,
}

impl<'s> SharedForm<'s> {
    /// Errors: those of reading the entity.
    pub fn of(shared: &Shared<'s>) -> Result<SharedForm<'s>> {
        Ok(SharedForm { distances: shared.distances, entity: shared.entity()? })
    }
}

impl Serialize for SharedForm<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> std::result::Result<S::Ok, S::Error> {
        Two(("distances", self.distances), ("entity", EntityForm(&self.entity))).serialize(to)
    }
}

/// The JSON form of a neighbour: `{"relationship", "entity"}`, and `direction` where it is told.
pub struct NeighborForm<'s> {
    /// The relationship and the entity at its other end.
    pub neighbor: Neighbor<'s>,
    /// Which way the relationship goes.
    pub direction: Option<Direction>,
}

impl Serialize for NeighborForm<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> std::result::Result<S::Ok, S::Error> {
        let Neighbor { relationship, entity } = &self.neighbor;
        let mut form = to.serialize_map(None)?;
        if let Some(direction) = self.direction {
            form.serialize_entry("direction", direction_to_text(direction))?;
        }
        form.serialize_entry("entity", &EntityForm(entity))?;
        form.serialize_entry("relationship", &RelationshipForm(relationship))?;
        form.end()
    }
}

/// The JSON form of what a walk goes along, as a line: `{"relationship"}`.
pub struct CrossedForm<'s>(Relationship<'s>);

impl<'s> CrossedForm<'s> {
    /// Errors: those of reading the relationship.
    pub fn of(crossed: &Crossed<'s>) -> Result<CrossedForm<'s>> {
        Ok(CrossedForm(crossed.relationship()?))
    }
}

impl Serialize for CrossedForm<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> std::result::Result<S::Ok, S::Error> {
        to.collect_map([("relationship", RelationshipForm(&self.0))])
    }
}

/// A page of a subgraph: its entities and then its relationships, so many of them left out and so many taken.
pub struct SubgraphPage<'s> {
    /// Entities on this page.
    pub entities: Vec<ReachedForm<'s>>,
    /// Relationships on this page.
    pub relationships: Vec<Seen<'s>>,
    /// True if there are more.
    pub has_more: bool,
}

impl<'s> SubgraphPage<'s> {
    /// Errors: those of reading what is on it.
    pub fn of(subgraph: &Subgraph<'s>, skip: usize, limit: usize) -> Result<SubgraphPage<'s>> {
        let (entities, relationships) = (subgraph.entities(), subgraph.relationships());
        let (entities_count, relationships_count) = (entities.len(), relationships.len());
        let entities = entities.skip(skip).take(limit).map(|reached| ReachedForm::of(&reached));
        let entities = entities.collect::<Result<Vec<_>>>()?;
        let rest = limit - entities.len();
        let relationships = relationships.skip(skip.saturating_sub(entities_count)).take(rest);
        let relationships = relationships.map(|crossed| Ok(Seen::Relationship(crossed.relationship()?)));
        let relationships = relationships.collect::<Result<Vec<_>>>()?;
        let has_more = skip.saturating_add(limit) < entities_count + relationships_count;
        Ok(SubgraphPage { entities, relationships, has_more })
    }
}
