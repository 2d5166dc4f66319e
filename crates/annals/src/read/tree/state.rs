//! The state of an item with everything below it, for conditions of writes.

use super::Tree;
use super::look_up::Spot;
use super::whole::{ItemsRoom, REPEATED_MAX};
use crate::model::{Id, TypeKind};
use crate::tree::TreePath;
use crate::{Position, Result};

/// Differs from an earlier one of the same item if something below it, or the item itself, was changed, put there or taken
/// away since.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SubtreeState {
    /// How many items are below it.
    pub items_count: u64,
    /// The latest change of the item, of one below it, or of its place there.
    pub changed: Position,
}

impl Tree<'_> {
    /// The state of the item at a path, with everything below it that the snapshot sees. Calls `each` with the id of the
    /// item and of each one below it. `None` if the path leads to no item, and if something there only leads to what a sight
    /// shows: its name may change, and nothing else of it may be told.
    ///
    /// Cost: a visit of all items.
    /// Errors: as [`Tree::visit`].
    pub fn state(&self, path: &TreePath, mut each: impl FnMut(&Id)) -> Result<Option<SubtreeState>> {
        let Some(Spot { entity, property: None, .. }) = self.look_up(path)? else { return Ok(None) };
        let slots_count = self.snapshot.graph().entities.slots_count();
        let mut room = ItemsRoom::new(slots_count.max(REPEATED_MAX));
        let mut state = SubtreeState { items_count: 0, changed: Position::ZERO };
        let mut left = vec![entity];
        while let Some(slot) = left.pop() {
            self.snapshot.check_cancelled()?;
            room.use_one()?;
            if self.snapshot.only_leads(TypeKind::Entity, slot) {
                return Ok(None);
            }
            let Some(item) = self.snapshot.entity_at(slot)? else { continue };
            each(item.id());
            state.changed = state.changed.max(item.position());
            for child in self.snapshot.children_of(slot)? {
                let placed = self.snapshot.relationship_at(child.relationship)?;
                state.changed = state.changed.max(placed.map_or(Position::ZERO, |placed| placed.position()));
                state.items_count += 1;
                left.push(child.entity);
            }
        }
        Ok(Some(state))
    }
}
