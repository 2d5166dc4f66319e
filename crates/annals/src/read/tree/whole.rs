//! An item with its subtree.

use std::sync::Arc;

use super::Tree;
use super::children::{ChildSlot, Range};
use super::look_up::Spot;
use crate::graph::containment::DEPTH_MAX;
use crate::read::instance::Entity;
use crate::tree::{Branch, Item, NameTest, TreePath};
use crate::{Error, ErrorKind, Result};

/// Most items of a read as of an earlier time, if there are fewer entities: some may be in several containers.
pub(super) const REPEATED_MAX: usize = 10_000;

/// Visits a tree item by item in the order of its text form: each parent before its children.
pub trait TreeVisitor {
    /// An item begins. `name` is the name of its step, `None` for the top item; `is_listed` means that keys name it in
    /// a list of this name.
    fn enter(&mut self, name: Option<&str>, is_listed: bool, entity: &Entity<'_>) -> Result<()>;

    /// The latest item ends.
    fn leave(&mut self) -> Result<()>;
}

impl Tree<'_> {
    /// The item at a path with its subtree, at most `depth` levels. As of a valid time, an item in several containers is
    /// in each of them.
    ///
    /// Shape: `None` if the path leads to no item. Errors: as [`Tree::visit`].
    pub fn get(&self, path: &TreePath, depth: Option<usize>) -> Result<Option<Item>> {
        self.get_within(path, depth, &mut ItemsRoom::new(usize::MAX))
    }

    /// The same, with a bound on the number of items.
    ///
    /// Errors: `TooLarge` if there are more.
    pub(crate) fn get_within(
        &self,
        path: &TreePath,
        depth: Option<usize>,
        room: &mut ItemsRoom,
    ) -> Result<Option<Item>> {
        let mut builder = Builder { open: Vec::new(), done: None, room };
        let is_there = self.visit(path, depth, &mut builder)?;
        Ok(builder.done.filter(|_| is_there))
    }

    /// Passes the item at a path, and its subtree, to a visitor. False if the path leads to no item.
    ///
    /// Errors: those of the visitor; `InvalidArgument` for a path that is no look-up; `TooLarge` for an item that is below
    /// itself as of a valid time, or for too many repeated ones; those of reading history.
    pub fn visit(
        &self,
        path: &TreePath,
        depth: Option<usize>,
        visitor: &mut dyn TreeVisitor,
    ) -> Result<bool> {
        let Some(Spot { entity, property: None, .. }) = self.look_up(path)? else { return Ok(false) };
        let depth = depth.unwrap_or(usize::MAX);
        if self.snapshot.is_plain() {
            self.visit_entity(None, entity, depth, 0, visitor)?;
            return Ok(true);
        }
        // As of a valid time an item may be in several containers, and each of them in several, and so on.
        let items_max = self.snapshot.graph().entities.slots_count().max(REPEATED_MAX);
        self.visit_entity(None, entity, depth, 0, &mut Bounded { visitor, room: ItemsRoom::new(items_max) })?;
        Ok(true)
    }

    fn visit_entity(
        &self,
        name: Option<(&Arc<str>, bool)>,
        slot: u32,
        depth: usize,
        level: usize,
        visitor: &mut dyn TreeVisitor,
    ) -> Result<()> {
        // Each move is checked for the depth above it, but not for its subtree.
        if level > 2 * DEPTH_MAX {
            let text = format!("tree: expected at most {} levels", 2 * DEPTH_MAX);
            return Err(Error::new(ErrorKind::TooLarge, text));
        }
        self.snapshot.check_cancelled()?;
        let Some(entity) = self.snapshot.entity_walked(slot)? else { return Ok(()) };
        visitor.enter(
            name.map(|(name, _)| &**name),
            name.is_some_and(|(_, is_listed)| is_listed),
            &entity,
        )?;
        if depth > 0 {
            self.snapshot.each_child(slot, Range::default(), &mut |placed| {
                if let Some((name, is_listed)) = self.child_name(placed.child)? {
                    self.visit_entity(
                        Some((&name, is_listed)),
                        placed.child.entity,
                        depth - 1,
                        level + 1,
                        visitor,
                    )?;
                }
                Ok(true)
            })?;
        }
        visitor.leave()
    }

    /// The name of the step to a child, and whether it is in a list.
    fn child_name(&self, child: ChildSlot) -> Result<Option<(Arc<str>, bool)>> {
        let graph = self.snapshot.graph();
        if self.snapshot.view().is_none()
            && let Some(row) = graph.entities.row(child.entity)
            && !graph.keys_of(row.type_name()).is_empty()
        {
            return Ok(Some((Arc::clone(graph.names.name(row.type_name())), true)));
        }
        let Some(step) = self.snapshot.step_to(child)? else { return Ok(None) };
        let NameTest::Name(name) = step.name else { return Ok(None) };
        Ok(Some((name, !step.filters.is_empty())))
    }
}

/// The bound on items that are read together.
pub(crate) struct ItemsRoom {
    items_max: usize,
    left: usize,
}

impl ItemsRoom {
    pub(crate) fn new(items_max: usize) -> ItemsRoom {
        ItemsRoom { items_max, left: items_max }
    }

    pub(super) fn use_one(&mut self) -> Result<()> {
        self.left = self.left.checked_sub(1).ok_or_else(|| {
            let text = format!(
                "tree: expected at most {} items; ask for fewer levels, or for a path further down",
                self.items_max
            );
            Error::new(ErrorKind::TooLarge, text)
        })?;
        Ok(())
    }
}

/// Passes a visit on, up to a number of items.
struct Bounded<'v> {
    visitor: &'v mut dyn TreeVisitor,
    room: ItemsRoom,
}

impl TreeVisitor for Bounded<'_> {
    fn enter(&mut self, name: Option<&str>, is_listed: bool, entity: &Entity<'_>) -> Result<()> {
        self.room.use_one()?;
        self.visitor.enter(name, is_listed, entity)
    }

    fn leave(&mut self) -> Result<()> {
        self.visitor.leave()
    }
}

/// Makes an [`Item`] of a visit.
struct Builder<'r> {
    open: Vec<(Option<Arc<str>>, bool, Item)>,
    done: Option<Item>,
    room: &'r mut ItemsRoom,
}

impl TreeVisitor for Builder<'_> {
    fn enter(&mut self, name: Option<&str>, is_listed: bool, entity: &Entity<'_>) -> Result<()> {
        self.room.use_one()?;
        let properties = entity.properties().map(|(name, value)| (name.into(), value)).collect();
        let item = Item {
            id: Some(entity.id().clone()),
            type_name: Some(entity.type_name().into()),
            properties,
            children: Vec::new(),
        };
        self.open.push((name.map(Into::into), is_listed, item));
        Ok(())
    }

    fn leave(&mut self) -> Result<()> {
        let Some((name, is_listed, item)) = self.open.pop() else { return Ok(()) };
        match (self.open.last_mut(), name) {
            (Some((_, _, parent)), Some(name)) => parent.children.push(Branch { name, is_listed, item }),
            _ => self.done = Some(item),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Repository;

    #[test]
    fn what_has_no_room_is_refused() {
        let repository = Repository::in_memory();
        let path = |text| TreePath::parse(text).unwrap();
        repository.transact(|t| t.tree().set(&path("/a/b/c"), 1)).unwrap();
        let snapshot = repository.snapshot();
        // The root, a and b.
        let read = |depth, items_max| {
            snapshot
                .tree()
                .get_within(&path("/"), depth, &mut ItemsRoom::new(items_max))
                .map(|item| item.is_some())
        };
        assert!(read(None, 3).unwrap());
        assert_eq!(read(None, 2).unwrap_err().kind(), ErrorKind::TooLarge);
        assert!(read(Some(1), 2).unwrap());
    }
}
