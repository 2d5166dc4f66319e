//! Look-ups: from a path of names and keys to its target, and from an entity to its path.

use std::collections::HashSet;

use super::Tree;
use super::children::ChildSlot;
use super::item::TreeItem;
use super::names::PathTarget;
use crate::graph::structures::symbols::Symbol;
use crate::model::{Id, TypeKind};
use crate::tree::{NameTest, TreePath, TreeStep};
use crate::{Error, ErrorKind, Result};

/// The end of a look-up.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spot {
    pub(crate) entity: u32,
    /// The item as a child; `None` for the root.
    pub(crate) child: Option<ChildSlot>,
    pub(crate) property: Option<Symbol>,
}

impl Spot {
    pub(super) fn of(child: ChildSlot) -> Spot {
        Spot { entity: child.entity, child: Some(child), property: None }
    }
}

/// An entity on the way up from another one.
#[derive(Clone, Copy)]
struct Above {
    entity: u32,
    /// The index of the entity that the way comes from, and the relationship that contains it.
    child: Option<(usize, u32)>,
}

impl<'s> Tree<'s> {
    /// The item, or the property, at a path.
    ///
    /// Shape: `None` if there is none. Errors: `InvalidArgument` if there are several; those of [`Tree::find`].
    pub fn item(&self, path: &TreePath) -> Result<Option<TreeItem<'s>>> {
        if let Some(spot) = self.look_up_plain(path)? {
            return spot.map_or(Ok(None), |spot| self.spot_item(spot));
        }
        let mut found = self.find(path, 2)?;
        if let [first, second] = &found[..] {
            let (first, second) = (first.path()?, second.path()?);
            let text = format!("path {path}: expected one item, found several, such as {first} and {second}");
            return Err(Error::new(ErrorKind::InvalidArgument, text));
        }
        Ok(found.pop())
    }

    /// The path to an entity; `None` if this tree does not contain it.
    ///
    /// Errors: those of reading history.
    pub fn path_of(&self, id: &Id) -> Result<Option<TreePath>> {
        match self.snapshot.slot_of(TypeKind::Entity, id) {
            Some(slot) if self.snapshot.sees(TypeKind::Entity, slot) => self.path_to(slot),
            _ => Ok(None),
        }
    }

    /// The path to the entity at a slot, which the snapshot sees.
    pub(super) fn path_to(&self, slot: u32) -> Result<Option<TreePath>> {
        // As of a valid time an entity may have several containers, and be below itself: each is passed once.
        let mut passed = HashSet::new();
        let mut above = vec![Above { entity: slot, child: None }];
        let mut next = 0;
        while let Some(&Above { entity, .. }) = above.get(next) {
            if Some(entity) == self.root {
                return self.path_down(&above, next);
            }
            self.snapshot.check_cancelled()?;
            if self.snapshot.is_plain() || passed.insert(entity) {
                let links = self.snapshot.containers_seen(entity);
                above.extend(
                    links.map(|link| Above { entity: link.other, child: Some((next, link.relationship)) }),
                );
            }
            next += 1;
        }
        Ok(None)
    }

    /// The path from the root, which is at the index `at`, to the first of the entities.
    fn path_down(&self, above: &[Above], mut at: usize) -> Result<Option<TreePath>> {
        let mut steps = Vec::new();
        while let Some((child, relationship)) = above[at].child {
            let contained = ChildSlot { relationship, entity: above[child].entity };
            let Some(step) = self.snapshot.step_to(contained)? else { return Ok(None) };
            steps.push(step);
            at = child;
        }
        Ok(Some(TreePath { steps }))
    }

    /// The end of a look-up path.
    ///
    /// Errors: `InvalidArgument` for another path.
    pub(crate) fn look_up(&self, path: &TreePath) -> Result<Option<Spot>> {
        self.look_up_plain(path)?.ok_or_else(|| {
            let text =
                format!("path {path}: expected the path of one item: names, and all keys of items in lists");
            Error::new(ErrorKind::InvalidArgument, text)
        })
    }

    /// The same; outer `None` for another path.
    fn look_up_plain(&self, path: &TreePath) -> Result<Option<Option<Spot>>> {
        let Some(root) = self.root else { return Ok(Some(None)) };
        let mut spot = Spot { entity: root, child: None, property: None };
        for (number, step) in path.steps.iter().enumerate() {
            let PathTarget::Child(name) = self.snapshot.graph().target(step) else { return Ok(None) };
            spot = match self.snapshot.child_named(spot.entity, &name)? {
                Some(child) => Spot::of(child),
                None if number + 1 == path.steps.len() => match self.property_named(spot.entity, step)? {
                    Some(property) => Spot { property: Some(property), ..spot },
                    None => return Ok(Some(None)),
                },
                None => return Ok(Some(None)),
            };
        }
        Ok(Some(Some(spot)))
    }

    /// The property of an entity that the last step of a path names.
    pub(super) fn property_named(&self, entity: u32, step: &TreeStep) -> Result<Option<Symbol>> {
        let NameTest::Name(name) = &step.name else { return Ok(None) };
        let is_plain = step.filters.is_empty() && step.place.is_none();
        let Some(symbol) = self.snapshot.graph().names.find(name).filter(|_| is_plain) else {
            return Ok(None);
        };
        let Some(held) = self.snapshot.walked(TypeKind::Entity, entity)? else { return Ok(None) };
        let value = self.snapshot.value(TypeKind::Entity, entity, &held, symbol);
        Ok(value.map(|_| symbol))
    }

    /// The end of a look-up, as an item.
    pub(super) fn spot_item(&self, spot: Spot) -> Result<Option<TreeItem<'s>>> {
        let Some(entity) = self.snapshot.entity_walked(spot.entity)? else { return Ok(None) };
        let relationship = match spot.child {
            Some(child) => self.snapshot.relationship_walked(child.relationship)?,
            None => None,
        };
        Ok(Some(TreeItem { entity, relationship, tree: *self, property: spot.property }))
    }
}
