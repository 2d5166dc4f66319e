//! A graph for other programs: a part of the graph, paths, or everything.

use std::collections::HashSet;

use annals::{Entity, Id, Path, Relationship, Snapshot, Subgraph};

use super::{Selection, each_entity, each_relationship};
use crate::Outcome;

/// A node of the written graph.
pub struct GraphNode<'n> {
    /// Id of the entity.
    pub id: &'n Id,
    /// The entity; `None` for an end of a relationship that is not listed itself, such as a proxy.
    pub entity: Option<&'n Entity<'n>>,
    /// Its distance from the start of a walk, if a walk found it. Units: steps.
    pub distance: Option<usize>,
}

/// Takes the nodes one by one.
pub type TakeNode<'t> = &'t mut dyn FnMut(GraphNode) -> Outcome;
/// Takes the relationships one by one.
pub type TakeEdge<'t> = &'t mut dyn FnMut(&Relationship) -> Outcome;

/// A part of the graph that can be read several times.
pub trait GraphPart {
    /// Calls `take` with each node, once.
    fn each_node(&self, take: TakeNode) -> Outcome;

    /// Calls `take` with each relationship, once; both of its ends are nodes.
    fn each_edge(&self, take: TakeEdge) -> Outcome;
}

impl GraphPart for Subgraph<'_> {
    fn each_node(&self, take: TakeNode) -> Outcome {
        let mut known = HashSet::new();
        for reached in self.entities() {
            known.insert(reached.id().clone());
            let entity = reached.entity()?;
            take(GraphNode { id: reached.id(), entity: Some(&entity), distance: Some(reached.distance) })?;
        }
        for crossed in self.relationships() {
            let relationship = crossed.relationship()?;
            for id in [relationship.from(), relationship.to()] {
                if known.insert(id.clone()) {
                    take(GraphNode { id, entity: None, distance: None })?;
                }
            }
        }
        Ok(())
    }

    fn each_edge(&self, take: TakeEdge) -> Outcome {
        self.relationships().try_for_each(|crossed| take(&crossed.relationship()?))
    }
}

impl GraphPart for [Path<'_>] {
    fn each_node(&self, take: TakeNode) -> Outcome {
        let mut known = HashSet::new();
        for path in self {
            let ends = path.steps.iter().map(|step| &step.entity);
            for entity in std::iter::once(&path.start).chain(ends) {
                if known.insert(entity.id()) {
                    take(GraphNode { id: entity.id(), entity: Some(entity), distance: None })?;
                }
            }
        }
        Ok(())
    }

    fn each_edge(&self, take: TakeEdge) -> Outcome {
        let mut known = HashSet::new();
        let steps = self.iter().flat_map(|path| &path.steps);
        let new = steps.map(|step| &step.relationship).filter(|one| known.insert(one.id()));
        new.into_iter().try_for_each(take)
    }
}

/// The selected content of a snapshot, with only those relationships whose ends are both selected.
pub struct Selected<'s> {
    /// The snapshot.
    pub snapshot: &'s Snapshot,
    /// The selection.
    pub selection: &'s Selection,
}

impl GraphPart for Selected<'_> {
    fn each_node(&self, take: TakeNode) -> Outcome {
        each_entity(self.snapshot, self.selection.find().with_proxies(), |entity| {
            take(GraphNode { id: entity.id(), entity: Some(entity), distance: None })
        })
    }

    fn each_edge(&self, take: TakeEdge) -> Outcome {
        // Entities are selected by type, so the types of the nodes show which ends exist.
        let mut types = HashSet::new();
        if !self.selection.is_everything() {
            self.each_node(&mut |node| {
                types.extend(node.entity.map(|entity| entity.type_name().to_owned()));
                Ok(())
            })?;
        }
        each_relationship(self.snapshot, self.selection.find(), |relationship| {
            for end in [relationship.from(), relationship.to()] {
                let is_node = self.selection.is_everything()
                    || self.snapshot.entity_summary(end)?.is_some_and(|end| types.contains(end.type_name()));
                if !is_node {
                    return Ok(());
                }
            }
            take(relationship)
        })
    }
}
