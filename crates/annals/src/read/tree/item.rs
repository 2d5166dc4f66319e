//! What a path leads to: an item, or a property of one.

use crate::model::Value;
use crate::read::instance::{Entity, Relationship};
use crate::tree::{TreePath, TreeStep};

/// What a path leads to.
#[derive(Clone, Debug)]
pub struct TreeItem<'s> {
    /// Where it is, in the usual form.
    pub path: TreePath,
    /// The item, or the one that has the property.
    pub entity: Entity<'s>,
    /// How it is contained; `None` for the root.
    pub relationship: Option<Relationship<'s>>,
    /// The property at the end of the path, if it leads to one.
    pub property: Option<(String, Value)>,
}

impl<'s> TreeItem<'s> {
    /// The value of the property that the path leads to.
    pub fn value(&self) -> Option<&Value> {
        self.property.as_ref().map(|(_, value)| value)
    }

    /// The last step that leads to the item; `None` for the root.
    pub fn step(&self) -> Option<&TreeStep> {
        let steps = &self.path.steps;
        let behind = usize::from(self.property.is_some());
        steps.len().checked_sub(1 + behind).map(|last| &steps[last])
    }
}
