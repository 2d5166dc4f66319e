//! Items at an earlier time, and the changes that restore that state.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::Result;
use crate::graph::Graph;
use crate::graph::actions as action;
use crate::graph::instance::properties::Properties;
use crate::graph::instance::unpacked::Instance;
use crate::graph::structures::link::Link;
use crate::graph::{instance_id, kind_of};
use crate::model::{Action, InstanceId, NewRelationship, Patch, PatchStep, Status, TypeKind};
use crate::read::Snapshot;
use crate::read::taken_along::Slot;
use crate::write::Transaction;
use crate::write::limited::writer_graph::WriterGraph;

/// A step of a relationship on its way back into its earlier place.
#[derive(Clone, Copy)]
enum Step {
    Relink,
    Retype,
    /// Its earlier properties, because it may lack the name of the item.
    Replace,
}

/// The ways back: each step must be allowed.
const WAYS: [&[Step]; 3] = [
    &[Step::Relink, Step::Retype],
    &[Step::Retype, Step::Relink],
    &[Step::Relink, Step::Replace, Step::Retype],
];

impl Step {
    /// Goes the step towards `target`, and returns the action; `None` if there is nothing to do.
    fn go(self, now: &Graph, at: &mut Instance, target: &Instance) -> Option<Action> {
        let instance = InstanceId::Relationship(at.id.clone());
        match self {
            Step::Relink => {
                let end = |side: usize| {
                    let is_other = at.ends[side] != target.ends[side];
                    is_other.then(|| now.entities.id(target.ends[side]).clone())
                };
                let (from, to) = (end(0), end(1));
                (at.ends != target.ends).then(|| {
                    at.ends = target.ends;
                    action::Relink { id: at.id.clone(), from, to }.into()
                })
            }
            Step::Retype => (at.type_name != target.type_name).then(|| {
                at.type_name = target.type_name;
                let type_name = Arc::clone(now.names.name(target.type_name));
                action::Retype { instance, type_name }.into()
            }),
            Step::Replace => (at.properties != target.properties).then(|| {
                at.properties = target.properties.clone();
                let properties = named(now, &target.properties);
                action::Replace { instance, properties, classifications: None, provenance: None }.into()
            }),
        }
    }
}

/// An item at the earlier time, and its place.
pub(in crate::write) struct Was {
    pub(in crate::write) entity: u32,
    /// The entity that must contain it again; `None` for the root.
    pub(in crate::write) parent: Option<u32>,
    /// The relationship that contained it.
    pub(in crate::write) relationship: Option<u32>,
    /// True if its content is to be as it was, too, and not only its place.
    pub(in crate::write) has_content: bool,
    /// True if the content of the relationship that contains it is to be as it was.
    pub(in crate::write) has_place: bool,
}

/// A subtree at the earlier time: each parent before its children.
pub(in crate::write) struct Then {
    pub(in crate::write) snapshot: Snapshot,
    pub(in crate::write) items: Vec<Was>,
    pub(in crate::write) entities: HashSet<u32>,
    /// Instances that are to get another content than they had: what others changed since stays.
    pub(in crate::write) merged: HashMap<Slot, Arc<Instance>>,
}

impl Then {
    /// Reads `top` and its subtree at that time.
    pub(in crate::write) fn read(snapshot: Snapshot, top: Was) -> Result<Then> {
        let mut then = Then {
            entities: HashSet::from([top.entity]),
            items: Vec::new(),
            snapshot,
            merged: HashMap::new(),
        };
        let mut open = vec![top];
        while let Some(was) = open.pop() {
            then.snapshot.check_cancelled()?;
            let start = open.len();
            for child in then.snapshot.children_of(was.entity)? {
                // As of a valid time an item may be in several containers, and below itself: it returns to one place.
                // Items that only lead to others stay as they are.
                let is_way = then.snapshot.only_leads(TypeKind::Entity, child.entity);
                if is_way || !then.entities.insert(child.entity) {
                    continue;
                }
                let (parent, relationship) = (Some(was.entity), Some(child.relationship));
                open.push(Was {
                    entity: child.entity,
                    parent,
                    relationship,
                    has_content: true,
                    has_place: true,
                });
            }
            open[start..].reverse();
            then.items.push(was);
        }
        Ok(then)
    }

    fn instance(&self, kind: TypeKind, slot: u32) -> Result<Arc<Instance>> {
        if let Some(merged) = self.merged.get(&(kind, slot)) {
            return Ok(Arc::clone(merged));
        }
        let held = self.snapshot.fetch(kind, slot)?;
        self.snapshot.instance(kind, slot, held)
    }

    /// True if the version of that time is still in force: then nothing must be read.
    fn is_in_force(&self, now: &Graph, kind: TypeKind, slot: u32) -> Result<bool> {
        if self.merged.contains_key(&(kind, slot)) {
            return Ok(false);
        }
        let held = self.snapshot.fetch(kind, slot)?;
        let row = now.table(kind).row(slot);
        Ok(row.is_some_and(|row| row.place() == self.snapshot.row(kind, slot, &held).place()))
    }

    /// True if a child must leave its present place before it can return: it has another parent, another relationship
    /// type or another type, or another child has its name.
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
        let row = now.entities.known_row(was.entity);
        // An item whose content stays keeps the keys that it has now.
        let entity = match now.entities.get(was.entity)?.filter(|_| !was.has_content) {
            Some(entity) => entity,
            None => self.instance(TypeKind::Entity, was.entity)?,
        };
        if contained.type_name != link.type_name || entity.type_name != row.type_name() {
            return Ok(true);
        }
        let contained = Instance { ends: [parent, was.entity], ..Instance::clone(&contained) };
        let Some(place) = now.child_of(&contained, Some(&entity))? else { return Ok(true) };
        let mut named = now.relationships.lists.children.named(parent, place.group, &place.name);
        Ok(named.any(|other| other != link.relationship))
    }

    /// The changes that remove an item from a place where it must not stay: by the relationship that contained it, if that still
    /// leads to it, into its earlier container, so that the relationship stays the same; otherwise out of every container.
    fn take_out(&self, writer: WriterGraph, was: &Was) -> Result<Vec<Action>> {
        let now = writer.graph;
        let link = now.container_link(was.entity);
        if let Some(link) = link
            && !self.is_misplaced(now, was, link)?
        {
            return Ok(Vec::new());
        }
        if let (Some(parent), Some(relationship)) = (was.parent, was.relationship)
            && writer.sees(TypeKind::Relationship, relationship)
        {
            let ends = [parent, was.entity];
            // One that contains nothing now may have got another type only.
            let is_its_own = link.map_or_else(
                || now.relationships.row(relationship).is_some_and(|row| row.ends() == ends),
                |link| link.relationship == relationship,
            );
            let actions = if is_its_own { self.place(now, relationship, ends)? } else { Vec::new() };
            if !actions.is_empty() {
                return Ok(actions);
            }
        }
        let delete = |link: Link| {
            let id = now.relationships.id(link.relationship).clone();
            action::Delete { instance: InstanceId::Relationship(id) }.into()
        };
        Ok(link.map(delete).into_iter().collect())
    }

    /// The changes that give a relationship its earlier type and ends.
    ///
    /// Shape: as [`Then::place`].
    pub(in crate::write) fn earlier_place(&self, now: &Graph, slot: u32) -> Result<Vec<Action>> {
        if now.has_one_shape(TypeKind::Relationship, slot) {
            return Ok(Vec::new());
        }
        let ends = self.instance(TypeKind::Relationship, slot)?.ends;
        self.place(now, slot, ends)
    }

    /// The changes that give a relationship its earlier type, and these ends; one that was deleted since is restored first.
    ///
    /// Shape: empty if it has them, or if a rule forbids them, or a step on the way to them, now.
    fn place(&self, now: &Graph, slot: u32, ends: [u32; 2]) -> Result<Vec<Action>> {
        let kind = TypeKind::Relationship;
        let is_ours = |held: &Arc<Instance>| now.is_own(held.header);
        let Some(held) = now.relationships.get(slot)?.filter(is_ours) else { return Ok(Vec::new()) };
        let then = self.instance(kind, slot)?;
        let are_live = |ends: [u32; 2]| ends.iter().all(|end| now.entities.is_live(*end));
        if !are_live(ends) || (held.type_name, held.ends) == (then.type_name, ends) {
            return Ok(Vec::new());
        }
        let is_allowed = |step: &Instance| {
            now.check_end_types(step.type_name, step.ends).is_ok()
                && now.check_content(kind, step).is_ok()
                && now.check_contained(step, Some(slot)).is_ok()
        };
        let (mut start, mut first) = (Instance::clone(&held), Vec::new());
        if !held.is_live() {
            start.status = Status::Active;
            if !are_live(held.ends) || !is_allowed(&start) {
                return Ok(Vec::new());
            }
            first.push(restoring(now, kind, slot));
        }
        let target = Instance { ends, ..Instance::clone(&then) };
        for way in WAYS {
            let (mut at, mut actions) = (start.clone(), first.clone());
            let is_open = way.iter().all(|step| {
                let action = step.go(now, &mut at, &target);
                let is_open = action.is_none() || is_allowed(&at);
                actions.extend(action);
                is_open
            });
            if is_open {
                return Ok(actions);
            }
        }
        Ok(Vec::new())
    }

    /// The change that gives a live relationship its earlier ends.
    pub(in crate::write) fn ends(&self, now: &Graph, slot: u32, actions: &mut Vec<Action>) -> Result<()> {
        let Some(before) = now.relationships.get(slot)? else { return Ok(()) };
        let then = self.instance(TypeKind::Relationship, slot)?;
        if before.ends != then.ends {
            let [from, to] = then.ends.map(|end| Some(now.entities.id(end).clone()));
            actions.push(action::Relink { id: before.id.clone(), from, to }.into());
        }
        Ok(())
    }

    /// The changes that give the items, and the relationships that contain them, their earlier content.
    pub(in crate::write) fn contents(&self, now: &Graph) -> Result<Vec<Action>> {
        let mut actions = Vec::new();
        for was in &self.items {
            if was.has_content {
                self.content(now, (TypeKind::Entity, was.entity), was.entity, &mut actions)?;
            }
            // An item that nothing contains gets a correct relationship.
            if let (Some(link), Some(relationship)) = (now.container_link(was.entity), was.relationship)
                && was.has_place
            {
                self.content(now, (TypeKind::Relationship, link.relationship), relationship, &mut actions)?;
            }
        }
        Ok(actions)
    }

    /// The changes that give an instance the content of the one at the slot `was`.
    pub(in crate::write) fn content(
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
        // A new classification may have a name that only the present graph has.
        let is_classified_alike = before.classifications().len() == after.classifications().len()
            && before.classifications().iter().zip(after.classifications()).all(|(before, after)| {
                (before.name, before.header, &before.properties)
                    == (after.name, after.header, &after.properties)
            });
        // A copy has the provenance of its home, and a re-homed instance keeps its home.
        let provenance_of = |graph: &Graph, found: &Instance| {
            graph.headers.get(found.header).provenance.clone().unwrap_or_default()
        };
        let (is, was) = (provenance_of(now, &before), provenance_of(self.snapshot.graph(), &after));
        let provenance = (is != was && is.home == was.home && now.is_own(before.header)).then_some(was);
        if is_entity && !is_classified_alike {
            let properties = named(now, &after.properties);
            let classifications = Some(classified(&after));
            actions.push(action::Replace { instance, properties, classifications, provenance }.into());
            return Ok(());
        }
        let gone = before.properties.iter().filter(|(name, _)| after.properties.get(*name).is_none());
        let mut steps: Vec<PatchStep> = gone.map(|(symbol, _)| PatchStep::Unset(name(symbol))).collect();
        let other =
            after.properties.iter().filter(|(name, value)| before.properties.get(*name) != Some(value));
        steps.extend(other.map(|(symbol, value)| PatchStep::Set(name(symbol), value.clone())));
        if !steps.is_empty() || provenance.is_some() {
            actions.push(action::Update { instance, patch: Patch { steps }, provenance }.into());
        }
        Ok(())
    }

    /// The changes that contain an item again which nothing contains: through the earlier relationship if its place of now,
    /// and this place with its properties of now, are free; otherwise through a new one.
    fn link(&self, writer: WriterGraph, was: &Was) -> Result<Vec<Action>> {
        let now = writer.graph;
        let (Some(parent), Some(relationship)) = (was.parent, was.relationship) else {
            return Ok(Vec::new());
        };
        if now.container_link(was.entity).is_some() {
            return Ok(Vec::new());
        }
        let then = self.instance(TypeKind::Relationship, relationship)?;
        let ends = [parent, was.entity];
        // One that the writer does not see any more stays as it is.
        let is_usable = |held: &Arc<Instance>| {
            held.type_name == then.type_name && writer.sees(TypeKind::Relationship, relationship)
        };
        let held = now.relationships.get(relationship)?.filter(is_usable);
        let properties = match &held {
            Some(held) if !was.has_place => &held.properties,
            _ => &then.properties,
        };
        if let Some(held) = &held
            && held.ends[1] == was.entity
            && now.entities.is_live(held.ends[0])
        {
            let live = Instance { status: Status::Active, ..Instance::clone(held) };
            let moved = Instance { ends, ..live.clone() };
            let is_free = |place: &Instance| now.check_contained(place, Some(relationship)).is_ok();
            if is_free(&live) && (held.ends == ends || is_free(&moved)) {
                let mut actions = vec![restoring(now, TypeKind::Relationship, relationship)];
                if held.ends != ends {
                    let from = Some(now.entities.id(parent).clone());
                    actions.push(action::Relink { id: held.id.clone(), from, to: None }.into());
                }
                if was.has_place {
                    self.content(now, (TypeKind::Relationship, relationship), relationship, &mut actions)?;
                }
                return Ok(actions);
            }
        }
        let [from, to] = ends.map(|end| now.entities.id(end).clone());
        let properties = named(now, properties);
        let type_name = now.names.name(then.type_name);
        Ok(vec![NewRelationship { properties, ..NewRelationship::new(type_name, from, to) }.into()])
    }
}

impl Transaction {
    /// Removes items from places where they must not stay.
    pub(in crate::write) fn take_out_misplaced(&mut self, then: &Then) -> Result<()> {
        self.take_out_where(then, |_| true)
    }

    /// The same for items whose present links to their containers, if they have one, are as asked.
    pub(in crate::write) fn take_out_where(
        &mut self,
        then: &Then,
        is_asked: impl Fn(Link) -> bool,
    ) -> Result<()> {
        // Order: one after the other, because each may free the place of the next.
        for was in &then.items {
            if self.own_graph()?.graph().container_link(was.entity).is_some_and(|link| !is_asked(link)) {
                continue;
            }
            for action in then.take_out(self.writer_graph()?, was)? {
                self.push_led(action)?;
            }
        }
        Ok(())
    }

    /// Contains items again that nothing contains.
    pub(in crate::write) fn put_into_places(&mut self, then: &Then) -> Result<()> {
        // Order: one after the other, because each takes a place.
        for was in &then.items {
            for action in then.link(self.writer_graph()?, was)? {
                self.push_led(action)?;
            }
        }
        Ok(())
    }
}

/// Restores the instance at `slot` alone. A copy can only have gone along with another instance, and returns as it would
/// with that.
pub(in crate::write) fn restoring(graph: &Graph, kind: TypeKind, slot: u32) -> Action {
    let table = graph.table(kind);
    let instance = instance_id(kind, table.id(slot).clone());
    match table.row(slot).is_some_and(|row| graph.is_own(row.header())) {
        true => action::Restore { instance, with_relationships: false }.into(),
        false => action::RestoreTaken { instances: vec![instance] }.into(),
    }
}

fn named(graph: &Graph, properties: &Properties) -> Vec<(Arc<str>, crate::model::Value)> {
    properties.iter().map(|(name, value)| (Arc::clone(graph.names.name(name)), value.clone())).collect()
}
