//! The graph in which changes of trees look their paths up: as its writer sees it.

use crate::graph::Graph;
use crate::graph::structures::link::Link;
use crate::model::{Action, TypeKind};
use crate::read::{Snapshot, hidden};
use crate::write::build::transaction::Transaction;
use crate::{Error, ErrorKind, Result};

/// The graph of a transaction with its changes so far. A writer with grants sees in it the instances in sight in the base,
/// and those that the transaction has created or restored: none that comes into sight only because of its changes.
#[derive(Clone, Copy)]
pub(in crate::write) struct WriterGraph<'g> {
    pub(in crate::write) graph: &'g Graph,
    sight: Option<WriterSight<'g>>,
}

#[derive(Clone, Copy)]
struct WriterSight<'g> {
    base: &'g Snapshot,
    /// The base with the changes so far, once they restore an instance.
    restored: Option<&'g Snapshot>,
}

impl<'g> WriterGraph<'g> {
    /// All of a graph.
    pub(in crate::write) fn all(graph: &'g Graph) -> WriterGraph<'g> {
        WriterGraph { graph, sight: None }
    }

    /// True if the writer sees the instance at `slot`, live or deleted.
    pub(in crate::write) fn sees(&self, kind: TypeKind, slot: u32) -> bool {
        let Some(WriterSight { base, restored }) = &self.sight else { return true };
        let is_new = || self.graph.table(kind).birth(slot).is_some_and(|birth| birth > base.position().0);
        let is_restored =
            |now: &&Snapshot| !base.graph().table(kind).is_live(slot) && now.in_sight(kind, slot);
        base.in_sight(kind, slot) || is_new() || restored.as_ref().is_some_and(is_restored)
    }

    /// True if a path may lead through the instance at `slot`: the writer sees it, or it leads to what it sees.
    pub(in crate::write) fn walks(&self, kind: TypeKind, slot: u32) -> bool {
        self.sees(kind, slot) || self.sight.is_some_and(|sight| sight.base.walks(kind, slot))
    }

    /// Errors: `Refused` if the entity at `slot` only leads to what the writer sees.
    pub(in crate::write) fn check_seen(&self, slot: u32) -> Result<()> {
        if self.sees(TypeKind::Entity, slot) {
            return Ok(());
        }
        let id = self.graph.entities.id(slot);
        let text = format!(
            "entity {id}: expected a grant to change it, found none: it only leads to what you see; ask for one"
        );
        Err(Error::new(ErrorKind::Refused, text))
    }

    /// True if the writer sees a relationship that contains a child, and the child.
    pub(in crate::write) fn sees_child(&self, relationship: u32, child: u32) -> bool {
        self.sees(TypeKind::Relationship, relationship) && self.sees(TypeKind::Entity, child)
    }

    /// The same, also if the child leads to what the writer sees.
    pub(in crate::write) fn walks_to_child(&self, relationship: u32, child: u32) -> bool {
        self.walks(TypeKind::Relationship, relationship) && self.walks(TypeKind::Entity, child)
    }

    /// The children of an entity, also those that only lead to what the writer sees.
    pub(in crate::write) fn walked_children(self, entity: u32) -> impl Iterator<Item = u32> + 'g {
        let links = self.graph.child_links(entity);
        links.filter(move |link| self.walks_to_child(link.relationship, link.other)).map(|link| link.other)
    }

    /// The relationships by which an entity contains its children of now.
    pub(in crate::write) fn child_links(self, entity: u32) -> impl Iterator<Item = Link> + 'g {
        let graph = self.graph;
        graph.child_links(entity).filter(move |link| self.sees_child(link.relationship, link.other))
    }
}

impl Transaction {
    /// The base with all changes so far, as the writer sees it.
    ///
    /// Errors: those of the changes.
    pub(in crate::write) fn writer_graph(&mut self) -> Result<WriterGraph<'_>> {
        if self.rights.is_none() {
            return Ok(WriterGraph::all(self.own_graph()?.graph()));
        }
        if self.has_restored {
            self.current()?;
        }
        // Order: without changes the base is as good, and costs nothing.
        if !self.record.changes.is_empty() {
            self.own_graph()?;
        }
        let restored = self.view.as_ref().filter(|_| self.has_restored);
        let own = self.own.as_ref().filter(|_| !self.record.changes.is_empty());
        let graph = own.map_or(self.base.graph(), |own| own.graph());
        Ok(WriterGraph { graph, sight: Some(WriterSight { base: &self.base, restored }) })
    }

    /// Adds a change of an instance that the writer has not named: a path led to it, or something that belongs to it did.
    ///
    /// Errors: `Refused` if the writer does not see it, without a name; as [`Transaction::push`].
    pub(in crate::write) fn push_led(&mut self, action: impl Into<Action>) -> Result<()> {
        let action = action.into();
        let is_new = matches!(action, Action::CreateEntity(_) | Action::CreateRelationship(_));
        if let Some(named) = action.instance().filter(|_| self.rights.is_some() && !is_new) {
            self.check_named(&named).map_err(|error| match error.kind() {
                ErrorKind::NotFound => hidden(),
                _ => error,
            })?;
        }
        self.push(action)
    }
}
