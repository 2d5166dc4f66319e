//! Takes what is below a path back to how it was, and brings back what was deleted: by identity, as new versions.

use std::collections::HashSet;
use std::sync::Arc;

use super::{Reach, TreeEdit, missing};
use crate::graph::Graph;
use crate::graph::actions as action;
use crate::graph::instance::properties::Properties;
use crate::graph::instance::unpacked::Instance;
use crate::graph::structures::link::Link;
use crate::graph::{instance_id, kind_of};
use crate::model::{Action, Id, InstanceId, NewRelationship, Patch, PatchStep, TypeKind};
use crate::read::{AsOf, Snapshot};
use crate::tree::{NameTest, TreePath};
use crate::{Error, ErrorKind, Result};

/// An item as it was, and where.
struct Was {
    entity: u32,
    /// What contains it again; `None` for the root.
    parent: Option<u32>,
    /// What contained it.
    relationship: Option<u32>,
}

/// How a subtree was: each parent before its children.
struct Then {
    snapshot: Snapshot,
    items: Vec<Was>,
    entities: HashSet<u32>,
}

impl TreeEdit<'_> {
    /// Puts what a path leads to, and all below it, back to how it was at a time, as new versions. Items are the same ones as then:
    /// those that were deleted since come back, with the relationships that went with them, and those that were created since are
    /// deleted; moved ones return, and names, order, types, properties and classifications are taken back. What was not there is
    /// deleted.
    ///
    /// Errors: `NotFound` if there was nothing and is nothing, or if the parent is missing now; what forbids one of these changes;
    /// those of reading history.
    pub fn revert(&mut self, path: &TreePath, as_of: AsOf) -> Result<()> {
        let snapshot = self.transaction.base.as_of(as_of)?;
        let root = self.root.clone();
        let Some(spot) = snapshot.tree_below(&root).look_up(path)? else {
            return match self.reach(path)? {
                // The root stays.
                Reach::Root(slot) => {
                    let graph = self.transaction.own_graph()?.graph();
                    let children = graph.child_links(slot).map(|link| link.other).collect();
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
        let then = Then::read(snapshot, Was { entity: spot.entity, parent, relationship })?;
        let (lost, deleted) = self.lost(&then)?;
        self.clear(&then, path)?;
        for entity in deleted {
            let graph = self.transaction.own_graph()?.graph();
            // One that came back with what contained it is there.
            if graph.entities.row(entity).is_some_and(|row| !row.is_live()) {
                let instance = InstanceId::Entity(graph.entities.id(entity).clone());
                self.transaction.push(action::Restore { instance, with_relationships: false })?;
            }
        }
        // What comes back does so as it was when it was deleted.
        self.clear(&then, path)?;
        let graph = self.transaction.own_graph()?.graph();
        let actions = then.contents(graph)?;
        self.push_all(actions)?;
        let graph = self.transaction.own_graph()?.graph();
        let actions = then.links(graph)?;
        self.push_all(actions)?;
        let graph = self.transaction.own_graph()?.graph();
        let is_live = |end: u32| graph.entities.is_live(end);
        let row = |slot: u32| graph.relationships.row(slot).filter(|row| !row.is_live());
        let lost =
            lost.into_iter().filter(|slot| row(*slot).is_some_and(|row| row.ends().into_iter().all(is_live)));
        let instances = lost.map(|slot| InstanceId::Relationship(graph.relationships.id(slot).clone()));
        let restore = |instance| Action::from(action::Restore { instance, with_relationships: false });
        let actions = instances.map(restore).collect();
        self.push_all(actions)
    }

    /// Brings back the item that was at a path at a time and is deleted now, with all that went with it. Tells its id.
    ///
    /// Errors: `NotFound` if there was none, or if its parent is missing now; `NotDeleted` if it is somewhere; `AlreadyExists` if there
    /// is something at the path now.
    pub fn restore(&mut self, path: &TreePath, as_of: AsOf) -> Result<Id> {
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
        if !matches!(self.reach(path)?, Reach::Nothing) {
            let text = format!("path {path}: there is something now; move or delete it first");
            return Err(Error::new(ErrorKind::AlreadyExists, text));
        }
        self.transaction.restore(&InstanceId::Entity(id.clone()))?;
        if self.transaction.own_graph()?.graph().container_link(spot).is_some() {
            return Ok(id);
        }
        let above = path.split_last().map(|(above, _)| above).unwrap_or_default();
        let parent = Some(self.item_at(&above)?);
        let was = Was { entity: spot, parent, relationship: Some(child.relationship) };
        let then = Then { snapshot, items: vec![was], entities: HashSet::new() };
        let graph = self.transaction.own_graph()?.graph();
        let actions = then.links(graph)?;
        self.push_all(actions)?;
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

    /// The item that is at a path now.
    fn item_at(&mut self, path: &TreePath) -> Result<u32> {
        match self.reach(path)? {
            Reach::Root(slot) => Ok(slot),
            Reach::Item(child) => Ok(child.entity),
            Reach::Property(..) | Reach::Nothing => Err(missing(path)),
        }
    }

    /// The items that are deleted now, and the relationships that went with them.
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

    /// Takes items out of where they are not to stay, and deletes what was not there.
    fn clear(&mut self, then: &Then, path: &TreePath) -> Result<()> {
        let graph = self.transaction.own_graph()?.graph();
        let mut actions = Vec::new();
        for was in &then.items {
            if let Some(link) = graph.container_link(was.entity)
                && then.is_misplaced(graph, was, link)?
            {
                let instance = InstanceId::Relationship(graph.relationships.id(link.relationship).clone());
                actions.push(action::Delete { instance }.into());
            }
        }
        self.push_all(actions)?;
        let graph = self.transaction.own_graph()?.graph();
        let children = then.items.iter().flat_map(|was| graph.child_links(was.entity));
        let others = children.map(|link| link.other).filter(|child| !then.entities.contains(child));
        let mut others: Vec<u32> = others.collect();
        if let Reach::Item(child) = self.reach(path)?
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

impl Then {
    /// Reads `top` and all that was below it.
    fn read(snapshot: Snapshot, top: Was) -> Result<Then> {
        let mut then = Then { entities: HashSet::from([top.entity]), items: Vec::new(), snapshot };
        let mut open = vec![top];
        while let Some(was) = open.pop() {
            then.snapshot.check_cancelled()?;
            let start = open.len();
            for child in then.snapshot.children_of(was.entity)? {
                then.entities.insert(child.entity);
                let (parent, relationship) = (Some(was.entity), Some(child.relationship));
                open.push(Was { entity: child.entity, parent, relationship });
            }
            open[start..].reverse();
            then.items.push(was);
        }
        Ok(then)
    }

    fn instance(&self, kind: TypeKind, slot: u32) -> Result<Arc<Instance>> {
        let held = self.snapshot.seen(kind, slot, false)?.expect("it was there then");
        self.snapshot.instance(kind, slot, held)
    }

    /// True if the version of then is the one that is in force now: nothing need be read.
    fn is_in_force(&self, now: &Graph, kind: TypeKind, slot: u32) -> Result<bool> {
        let held = self.snapshot.seen(kind, slot, false)?.expect("it was there then");
        let row = now.table(kind).row(slot);
        Ok(row.is_some_and(|row| row.place() == self.snapshot.row(kind, slot, &held).place()))
    }

    /// True if a child must leave where it is before it can be where it was: it is in another parent, contained in another way, of
    /// another type, or another child has its name.
    fn is_misplaced(&self, now: &Graph, was: &Was, link: Link) -> Result<bool> {
        let (Some(parent), Some(relationship)) = (was.parent, was.relationship) else { return Ok(false) };
        if link.other != parent {
            return Ok(true);
        }
        if relationship == link.relationship
            && self.is_in_force(now, TypeKind::Relationship, relationship)?
            && self.is_in_force(now, TypeKind::Entity, was.entity)?
        {
            return Ok(false);
        }
        let contained = self.instance(TypeKind::Relationship, relationship)?;
        let entity = self.instance(TypeKind::Entity, was.entity)?;
        let row = now.entities.row(was.entity).expect("it is contained");
        if contained.type_name != link.type_name || entity.type_name != row.type_name() {
            return Ok(true);
        }
        let contained = Instance { ends: [parent, was.entity], ..Instance::clone(&contained) };
        let Some(place) = now.child_of(&contained, Some(&entity))? else { return Ok(true) };
        let mut named = now.relationships.lists.children.named(parent, place.group, &place.name);
        Ok(named.any(|other| other != link.relationship))
    }

    /// What gives the items, and the relationships that contain them, the content that they had.
    fn contents(&self, now: &Graph) -> Result<Vec<Action>> {
        let mut actions = Vec::new();
        for was in &self.items {
            self.content(now, (TypeKind::Entity, was.entity), was.entity, &mut actions)?;
            // What is contained nowhere gets a relationship that is right.
            if let (Some(link), Some(relationship)) = (now.container_link(was.entity), was.relationship) {
                self.content(now, (TypeKind::Relationship, link.relationship), relationship, &mut actions)?;
            }
        }
        Ok(actions)
    }

    /// What gives an instance the content that the one at the slot `was` had.
    fn content(
        &self,
        now: &Graph,
        (kind, slot): (TypeKind, u32),
        was: u32,
        actions: &mut Vec<Action>,
    ) -> Result<()> {
        if slot == was && self.is_in_force(now, kind, slot)? {
            return Ok(());
        }
        let (before, after) = (now.table(kind).get(slot)?, self.instance(kind, was)?);
        let Some(before) = before else { return Ok(()) };
        let instance = instance_id(kind, before.id.clone());
        let name = |symbol| Arc::clone(now.names.name(symbol));
        if before.type_name != after.type_name {
            let type_name = name(after.type_name);
            actions.push(action::Retype { instance: instance.clone(), type_name }.into());
        }
        let classified = |instance: &Instance| -> Vec<_> {
            let known = instance.classifications().iter();
            known.map(|known| self.snapshot.classification_content(known)).collect()
        };
        let is_entity = kind_of(&instance) == TypeKind::Entity;
        // A classification that is new may have a name that only the present knows.
        let is_classified_alike = before.classifications().len() == after.classifications().len()
            && before.classifications().iter().zip(after.classifications()).all(|(before, after)| {
                (before.name, before.header, &before.properties)
                    == (after.name, after.header, &after.properties)
            });
        if is_entity && !is_classified_alike {
            let properties = named(now, &after.properties);
            let classifications = Some(classified(&after));
            actions.push(action::Replace { instance, properties, classifications }.into());
            return Ok(());
        }
        let gone = before.properties.iter().filter(|(name, _)| after.properties.get(*name).is_none());
        let mut steps: Vec<PatchStep> = gone.map(|(symbol, _)| PatchStep::Unset(name(symbol))).collect();
        let other =
            after.properties.iter().filter(|(name, value)| before.properties.get(*name) != Some(value));
        steps.extend(other.map(|(symbol, value)| PatchStep::Set(name(symbol), value.clone())));
        if !steps.is_empty() {
            actions.push(action::Update { instance, patch: Patch { steps } }.into());
        }
        Ok(())
    }

    /// What contains the items again that are contained nowhere: the relationship of then if it is as it was, or else another one.
    fn links(&self, now: &Graph) -> Result<Vec<Action>> {
        let mut actions = Vec::new();
        for was in &self.items {
            let (Some(parent), Some(relationship)) = (was.parent, was.relationship) else { continue };
            if now.container_link(was.entity).is_some() {
                continue;
            }
            let then = self.instance(TypeKind::Relationship, relationship)?;
            let ends = [parent, was.entity];
            let held = now.relationships.get(relationship)?;
            let is_as_it_was = held.is_some_and(|held| {
                (held.ends, held.type_name, &held.properties) == (ends, then.type_name, &then.properties)
            });
            if is_as_it_was {
                let instance = InstanceId::Relationship(now.relationships.id(relationship).clone());
                actions.push(action::Restore { instance, with_relationships: false }.into());
                continue;
            }
            let [from, to] = ends.map(|end| now.entities.id(end).clone());
            let properties = named(now, &then.properties);
            let type_name = now.names.name(then.type_name);
            actions.push(NewRelationship { properties, ..NewRelationship::new(type_name, from, to) }.into());
        }
        Ok(actions)
    }
}

fn named(graph: &Graph, properties: &Properties) -> Vec<(Arc<str>, crate::model::Value)> {
    properties.iter().map(|(name, value)| (Arc::clone(graph.names.name(name)), value.clone())).collect()
}
