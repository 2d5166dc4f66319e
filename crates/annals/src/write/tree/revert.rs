//! Reverts the subtree at a path, and restores deleted items: by identity, in new versions.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::then::{Then, Was};
use super::{PathEnd, TreeEdit, missing};
use crate::graph::actions as action;
use crate::model::{Action, Id, InstanceId, Patch, PatchStep, TypeKind};
use crate::read::{AsOf, Snapshot};
use crate::tree::{NameTest, TreePath};
use crate::{Error, ErrorKind, Result};

impl TreeEdit<'_> {
    /// Sets the target of a path, and its subtree, back to its state at a time, in new versions. Items keep their
    /// identity: items deleted since are restored with the relationships that were deleted with them; items created
    /// since are deleted; moved items return; and names, order, types, properties and classifications are as at that
    /// time. An item that did not exist then is deleted.
    ///
    /// Errors: `NotFound` if the path leads to nothing, then and now, or if the parent is missing now; those of the
    /// changes; those of reading history.
    pub fn revert(&mut self, path: &TreePath, as_of: AsOf) -> Result<()> {
        let root = self.root.clone();
        self.transaction.returning(|transaction| TreeEdit { transaction, root }.put_back(path, as_of))
    }

    fn put_back(&mut self, path: &TreePath, as_of: AsOf) -> Result<()> {
        let snapshot = self.transaction.base.as_of(as_of)?;
        let root = self.root.clone();
        let spot = snapshot.tree_below(&root).look_up(path)?;
        let Some(spot) = spot.filter(|spot| !snapshot.only_leads(TypeKind::Entity, spot.entity)) else {
            return match self.reach(path)? {
                // The root stays.
                PathEnd::Root(slot) => {
                    let writer = self.transaction.writer_graph()?;
                    writer.check_seen(slot)?;
                    let children = writer.child_links(slot).map(|link| link.other).collect();
                    self.delete_all(children)
                }
                _ => self.delete(path),
            };
        };
        if spot.property.is_some() {
            return self.revert_property(&snapshot, spot.entity, path);
        }
        let parent = match path.split_last() {
            None => None,
            Some((above, _)) => Some(self.item_at(&above)?),
        };
        let relationship = spot.child.map(|child| child.relationship);
        let then = Then::read(
            snapshot,
            Was { entity: spot.entity, parent, relationship, has_content: true, has_place: true },
        )?;
        let (lost, deleted) = self.lost(&then)?;
        self.clear(&then, path)?;
        for entity in deleted {
            let graph = self.transaction.own_graph()?.graph();
            // It was restored together with its container.
            if graph.entities.row(entity).is_some_and(|row| !row.is_live()) {
                let instance = InstanceId::Entity(graph.entities.id(entity).clone());
                self.transaction.push_led(action::Restore { instance, with_relationships: false })?;
            }
        }
        // Restored items return in the state in which they were deleted.
        self.clear(&then, path)?;
        let graph = self.transaction.own_graph()?.graph();
        let actions = then.contents(graph)?;
        self.push_all(actions)?;
        self.transaction.put_into_places(&then)?;
        let writer = self.transaction.writer_graph()?;
        let graph = writer.graph;
        let is_live = |end: u32| graph.entities.is_live(end);
        let row = |slot: u32| graph.relationships.row(slot).filter(|row| !row.is_live());
        let lost = lost
            .into_iter()
            .filter(|slot| writer.sees(TypeKind::Relationship, *slot))
            .filter(|slot| row(*slot).is_some_and(|row| row.ends().into_iter().all(is_live)));
        let instances = lost.map(|slot| InstanceId::Relationship(graph.relationships.id(slot).clone()));
        let restore = |instance| Action::from(action::Restore { instance, with_relationships: false });
        let actions = instances.map(restore).collect();
        self.push_all(actions)
    }

    /// Restores the item that was at a path at a time and is deleted now, with everything that was deleted with it.
    /// Returns its id.
    ///
    /// Errors: `NotFound` if there was none, or if its parent is missing now; `NotDeleted` if it exists anywhere;
    /// `AlreadyExists` if an item is at the path now.
    pub fn restore(&mut self, path: &TreePath, as_of: AsOf) -> Result<Id> {
        let root = self.root.clone();
        self.transaction.returning(|transaction| TreeEdit { transaction, root }.restore_at(path, as_of))
    }

    fn restore_at(&mut self, path: &TreePath, as_of: AsOf) -> Result<Id> {
        let snapshot = self.transaction.base.as_of(as_of)?;
        let root = self.root.clone();
        let spot = snapshot.tree_below(&root).look_up(path)?.filter(|spot| spot.property.is_none());
        let Some((spot, child)) = spot.and_then(|spot| Some((spot.entity, spot.child?))) else {
            return Err(missing(path));
        };
        let graph = self.transaction.own_graph()?.graph();
        let id = graph.entities.id(spot).clone();
        if graph.entities.is_live(spot) {
            let text = format!("path {path}: the item {id} that was there is not deleted; move it");
            return Err(Error::new(ErrorKind::NotDeleted, text));
        }
        if !matches!(self.reach(path)?, PathEnd::Nothing) {
            let text = format!("path {path}: there is something now; move or delete it first");
            return Err(Error::new(ErrorKind::AlreadyExists, text));
        }
        // Order: look up the parent first, so that nothing is restored without a container.
        let graph = self.transaction.own_graph()?.graph();
        let comes_along = graph.relationships.row(child.relationship).zip(graph.entities.row(spot));
        let comes_along = comes_along.is_some_and(|(contained, item)| {
            contained.place() == item.place() && graph.entities.is_live(contained.ends()[0])
        });
        let above = path.split_last().map(|(above, _)| above).unwrap_or_default();
        let parent = if comes_along { None } else { Some(self.item_at(&above)?) };
        self.transaction.restore(&InstanceId::Entity(id.clone()))?;
        if self.transaction.own_graph()?.graph().container_link(spot).is_some() {
            return Ok(id);
        }
        let parent = Some(parent.map_or_else(|| self.item_at(&above), Ok)?);
        let was = Was {
            entity: spot,
            parent,
            relationship: Some(child.relationship),
            has_content: true,
            has_place: true,
        };
        let then = Then { snapshot, items: vec![was], entities: HashSet::new(), merged: HashMap::new() };
        self.transaction.put_into_places(&then)?;
        Ok(id)
    }

    fn revert_property(&mut self, then: &Snapshot, entity: u32, path: &TreePath) -> Result<()> {
        let last = path.steps.last().map(|step| &step.name);
        let Some(NameTest::Name(name)) = last else { return Err(missing(path)) };
        let value =
            then.entity_at(entity)?.and_then(|item| item.property(name)).ok_or_else(|| missing(path))?;
        let graph = self.transaction.own_graph()?.graph();
        let instance = InstanceId::Entity(graph.entities.id(entity).clone());
        self.transaction.update(&instance, Patch { steps: vec![PatchStep::Set(Arc::clone(name), value)] })
    }

    /// The present item at a path.
    fn item_at(&mut self, path: &TreePath) -> Result<u32> {
        match self.reach(path)? {
            PathEnd::Root(slot) => Ok(slot),
            PathEnd::Item(child) => Ok(child.entity),
            PathEnd::Property(..) | PathEnd::Nothing => Err(missing(path)),
        }
    }

    /// The items that are deleted now, and the relationships that were deleted with them.
    fn lost(&mut self, then: &Then) -> Result<(Vec<u32>, Vec<u32>)> {
        let graph = self.transaction.own_graph()?.graph();
        let (mut relationships, mut entities) = (Vec::new(), Vec::new());
        for entity in then.items.iter().map(|was| was.entity) {
            let Some(row) = graph.entities.row(entity).filter(|row| !row.is_live()) else { continue };
            let is_other = |slot: &u32| {
                let row = graph.relationships.row(*slot);
                row.is_some_and(|row| graph.containment(row.type_name()).is_none())
            };
            relationships
                .extend(graph.relationships_deleted_at(entity, row.place()).into_iter().filter(is_other));
            entities.push(entity);
        }
        relationships.sort_unstable();
        relationships.dedup();
        Ok((relationships, entities))
    }

    /// Removes items from places where they must not stay, and deletes items that did not exist then.
    fn clear(&mut self, then: &Then, path: &TreePath) -> Result<()> {
        self.transaction.take_out_misplaced(then)?;
        let writer = self.transaction.writer_graph()?;
        let children = then.items.iter().flat_map(|was| writer.child_links(was.entity));
        let others = children.map(|link| link.other).filter(|child| !then.entities.contains(child));
        let mut others: Vec<u32> = others.collect();
        if let PathEnd::Item(child) = self.reach(path)?
            && !then.entities.contains(&child.entity)
        {
            others.push(child.entity);
        }
        self.delete_all(others)
    }

    fn delete_all(&mut self, entities: Vec<u32>) -> Result<()> {
        let graph = self.transaction.own_graph()?.graph();
        let delete = |slot: u32| {
            action::Delete { instance: InstanceId::Entity(graph.entities.id(slot).clone()) }.into()
        };
        let actions = entities.into_iter().map(delete).collect();
        self.push_all(actions)
    }
}
