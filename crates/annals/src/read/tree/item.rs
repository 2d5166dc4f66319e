//! The target of a path: an item, or a property of one.

use super::Tree;
use super::children::ChildSlot;
use crate::Result;
use crate::graph::structures::symbols::Symbol;
use crate::model::{TypeKind, Value};
use crate::read::instance::{Entity, Relationship};
use crate::tree::{TreePath, TreeStep};

/// The target of a path.
#[derive(Clone)]
pub struct TreeItem<'s> {
    /// The item, or the item of the property.
    pub entity: Entity<'s>,
    /// The relationship that contains it; `None` for the root.
    pub relationship: Option<Relationship<'s>>,
    pub(super) tree: Tree<'s>,
    pub(super) property: Option<Symbol>,
}

impl<'s> TreeItem<'s> {
    /// Its path, in the usual form.
    ///
    /// Errors: those of reading history.
    pub fn path(&self) -> Result<TreePath> {
        let path = self.tree.path_to(self.entity.slot())?.unwrap_or_default();
        Ok(match self.property_name() {
            Some(name) => path.child(TreeStep::named(name)),
            None => path,
        })
    }

    /// The last step to the item; `None` for the root.
    ///
    /// Errors: those of reading history.
    pub fn step(&self) -> Result<Option<TreeStep>> {
        let Some(relationship) = &self.relationship else { return Ok(None) };
        let child = ChildSlot { relationship: relationship.slot(), entity: self.entity.slot() };
        self.tree.snapshot.step_to(child)
    }

    /// True if a sight shows of it only that it leads to a container that a grant names: its id, its type and its name.
    pub fn only_leads(&self) -> bool {
        self.tree.snapshot.only_leads(TypeKind::Entity, self.entity.slot())
    }

    /// The name of the property, if the target is one.
    pub fn property_name(&self) -> Option<&'s str> {
        self.property.map(|symbol| &**self.tree.snapshot.graph().names.name(symbol))
    }

    /// The value of the property, if the target is one.
    pub fn value(&self) -> Option<Value> {
        self.entity.property(self.property_name()?)
    }
}
