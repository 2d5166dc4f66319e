//! The changes that turn an existing item into a given one with its subtree.

use std::sync::Arc;

use foldhash::{HashMap, HashMapExt, HashSet, HashSetExt};

use super::place::{Gap, Insert, child_left, gap, order_at, step_of};
use super::schema::{ChildKind, containing, kind_of};
use crate::Result;
use crate::graph::Graph;
use crate::graph::actions as action;
use crate::graph::structures::child::ChildGroup;
use crate::graph::structures::child::ORDER_PROPERTY;
use crate::graph::structures::symbols::Symbol;
use crate::model::{Action, Id, InstanceId, NewEntity, NewRelationship, Patch, PatchStep, TypeKind, Value};
use crate::read::ChildSlot;
use crate::structures::order::spread;
use crate::tree::{Branch, Item};
use crate::write::build::noted::{Containing, Noted, Parent};
use crate::write::limited::writer_graph::WriterGraph;
use crate::{Error, ErrorKind};

/// The fate of existing properties and children that the item does not have.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Rest {
    /// They stay.
    Stays,
    /// They are deleted.
    Goes,
}

/// Collects changes.
pub(super) struct Plan<'g> {
    pub(super) writer: WriterGraph<'g>,
    pub(super) graph: &'g Graph,
    pub(super) rest: Rest,
    pub(super) actions: Vec<Action>,
    /// The items created and removed before, and those created by this plan.
    pub(super) noted: Noted,
}

impl<'g> Plan<'g> {
    pub(super) fn new(writer: WriterGraph<'g>, rest: Rest, noted: Noted) -> Plan<'g> {
        Plan { writer, graph: writer.graph, rest, actions: Vec::new(), noted }
    }

    /// The entity at `slot` as a parent.
    pub(super) fn parent(&self, slot: u32) -> Parent {
        let row = self.graph.entities.known_row(slot);
        let type_name = Arc::clone(self.graph.names.name(row.type_name()));
        Parent { id: self.graph.entities.id(slot).clone(), slot: Some(slot), type_name }
    }

    pub(super) fn kind(&mut self, name: &Arc<str>, is_listed: bool, item: &Item) -> Result<ChildKind> {
        kind_of(self.graph, &mut self.noted.names, name, is_listed, item)
    }

    /// The relationship type that contains a child.
    pub(super) fn containing(&mut self, parent: &Parent, child: &Arc<str>) -> Result<Arc<Containing>> {
        let types = (Arc::clone(&parent.type_name), Arc::clone(child));
        if let Some(known) = self.noted.containings.get(&types) {
            return Ok(Arc::clone(known));
        }
        let found = Arc::new(containing(self.graph, &types.0, &types.1)?);
        self.noted.containings.insert(types, Arc::clone(&found));
        Ok(found)
    }

    /// Makes the child `name` of `parent` equal to `item`; returns its entity.
    pub(super) fn child(
        &mut self,
        parent: &Parent,
        (name, is_listed): (&Arc<str>, bool),
        item: &Item,
        insert: Option<&Insert>,
    ) -> Result<Parent> {
        let kind = self.kind(name, is_listed, item)?;
        if let Some(known) = self.noted.child(&parent.id, &kind.name).cloned() {
            self.change_created(&known, item, kind.properties)?;
            return Ok(known);
        }
        match self.known_child(parent, &kind) {
            Some(child) => {
                let known = self.parent(child.entity);
                if let Some(insert) = insert {
                    self.reorder(parent, &kind, child, insert)?;
                }
                self.change(&known, item, kind.properties)?;
                Ok(known)
            }
            None => self.create(parent, kind, item, insert, None),
        }
    }

    /// True if `parent` has this child.
    pub(super) fn has_child(
        &mut self,
        parent: &Parent,
        (name, is_listed): (&Arc<str>, bool),
        item: &Item,
    ) -> Result<bool> {
        let kind = self.kind(name, is_listed, item)?;
        Ok(self.noted.child(&parent.id, &kind.name).is_some() || self.known_child(parent, &kind).is_some())
    }

    /// The child of `parent` that was there before, unless it is removed.
    fn known_child(&self, parent: &Parent, kind: &ChildKind) -> Option<ChildSlot> {
        child_left(self.writer, parent.slot?, &kind.name, &self.noted)
    }

    fn create(
        &mut self,
        parent: &Parent,
        kind: ChildKind,
        item: &Item,
        insert: Option<&Insert>,
        order: Option<Vec<u8>>,
    ) -> Result<Parent> {
        parent.slot.map_or(Ok(()), |slot| self.writer.check_seen(slot))?;
        let containing = self.containing(parent, &kind.type_name)?;
        // Lists have many items, so names are shared, and each item takes one id.
        let entity = NewEntity {
            id: item.id.clone().unwrap_or_else(Id::random),
            type_name: Arc::clone(&kind.type_name),
            properties: kind.properties,
            classifications: Vec::new(),
            status: None,
            provenance: None,
        };
        let created = Parent { id: entity.id.clone(), slot: None, type_name: kind.type_name };
        let mut contains = NewRelationship {
            id: Id::random(),
            type_name: Arc::clone(&containing.type_name),
            from: parent.id.clone(),
            to: created.id.clone(),
            properties: Vec::new(),
            status: None,
            provenance: None,
        };
        if let Some(name) = kind.own_name {
            contains.properties.push((Arc::clone(&containing.name), Value::String(name)));
        }
        if containing.is_ordered {
            let order = match order {
                Some(order) => order,
                None => self.order(parent, kind.name.group, &contains.id, insert)?,
            };
            contains.properties.push((Arc::clone(&containing.order), Value::Bytes(order.into())));
        } else if insert.is_some() {
            return Err(not_ordered(&containing.type_name));
        }
        self.actions.push(entity.into());
        self.actions.push(contains.into());
        self.noted.add(&parent.id, kind.name, created.clone());
        self.children(&created, &item.children)?;
        Ok(created)
    }

    /// The order of a new child.
    fn order(&mut self, parent: &Parent, group: u32, child: &Id, insert: Option<&Insert>) -> Result<Vec<u8>> {
        let last = self.noted.last_order(&parent.id, group);
        let found = match (insert.unwrap_or(&Insert::Last), last, parent.slot) {
            (Insert::Last, Some(last), _) => Gap { before: Some(last.clone()), after: None },
            (insert, _, Some(slot)) => gap(self.writer, slot, ChildGroup(group), insert)?,
            (_, _, None) => Gap { before: None, after: None },
        };
        let order = found.order(step_of(child))?;
        if insert.is_none_or(|insert| *insert == Insert::Last) {
            self.noted.append(&parent.id, group, order.clone());
        }
        Ok(order)
    }

    /// Moves an existing child to another place among its siblings.
    pub(super) fn reorder(
        &mut self,
        parent: &Parent,
        kind: &ChildKind,
        child: ChildSlot,
        insert: &Insert,
    ) -> Result<()> {
        let containing = self.containing(parent, &kind.type_name)?;
        if !containing.is_ordered {
            return Err(not_ordered(&containing.type_name));
        }
        let slot = parent.slot.expect("it has a child");
        let relationship = self.graph.relationships.id(child.relationship).clone();
        let order =
            gap(self.writer, slot, ChildGroup(kind.name.group), insert)?.order(step_of(&Id::random()))?;
        self.set_order(relationship, order);
        Ok(())
    }

    fn set_order(&mut self, relationship: Id, order: Vec<u8>) {
        let instance = InstanceId::Relationship(relationship);
        let patch = Patch::new().set(ORDER_PROPERTY, Value::Bytes(order.into()));
        self.actions.push(action::Update { instance, patch, provenance: None }.into());
    }

    /// Adds the properties and the children of `item` to an existing item.
    pub(super) fn change(
        &mut self,
        known: &Parent,
        item: &Item,
        properties: Vec<(Arc<str>, Value)>,
    ) -> Result<()> {
        let Some(slot) = known.slot else { return self.change_created(known, item, properties) };
        check_same(known, item)?;
        if !self.writer.sees(TypeKind::Entity, slot) {
            // Order: its properties are not compared with others, which would tell them. Its keys are those of the path.
            let keys = self.graph.keys_of(self.graph.entities.known_row(slot).type_name());
            let is_key = |name: &Arc<str>| keys.iter().any(|key| self.graph.names.name(*key) == name);
            if properties.iter().any(|(name, _)| !is_key(name)) {
                self.writer.check_seen(slot)?;
            }
            return self.children(known, &item.children);
        }
        let mut steps = Vec::new();
        for (name, value) in &properties {
            let symbol = self.graph.names.find(name);
            let held =
                symbol.map(|symbol| self.graph.entities.read_value(slot, symbol)).transpose()?.flatten();
            if held.as_ref() != Some(value) {
                steps.push(PatchStep::Set(Arc::clone(name), value.clone()));
            }
        }
        if self.rest == Rest::Goes {
            let row = self.graph.entities.known_row(slot);
            let keys = self.graph.keys_of(row.type_name());
            for symbol in row.names() {
                let name = self.graph.names.name(symbol);
                let is_given = properties.iter().any(|(given, _)| given == name);
                if is_given || keys.contains(&symbol) {
                    continue;
                }
                // A property with a default gets it back, so that putting an item twice gives the same as once.
                match self.default_of(row.type_name(), symbol) {
                    None => steps.push(PatchStep::Unset(Arc::clone(name))),
                    Some(value) if self.graph.entities.read_value(slot, symbol)?.as_ref() == Some(value) => {}
                    Some(value) => steps.push(PatchStep::Set(Arc::clone(name), value.clone())),
                }
            }
        }
        if !steps.is_empty() {
            let instance = InstanceId::Entity(known.id.clone());
            self.actions.push(action::Update { instance, patch: Patch { steps }, provenance: None }.into());
        }
        self.children(known, &item.children)
    }

    fn default_of(&self, type_name: Symbol, attribute: Symbol) -> Option<&Value> {
        let declared = self.graph.types.get(TypeKind::Entity, type_name)?;
        declared.attributes.get(&attribute)?.definition.default.as_ref()
    }

    /// The same for an item that the transaction created.
    fn change_created(
        &mut self,
        known: &Parent,
        item: &Item,
        properties: Vec<(Arc<str>, Value)>,
    ) -> Result<()> {
        check_same(known, item)?;
        let keys =
            self.graph.names.find(&known.type_name).map_or(&[][..], |symbol| self.graph.keys_of(symbol));
        let is_key = |name: &Arc<str>| keys.iter().any(|key| self.graph.names.name(*key) == name);
        let set = properties.into_iter().filter(|(name, _)| !is_key(name));
        let steps: Vec<PatchStep> = set.map(|(name, value)| PatchStep::Set(name, value)).collect();
        if !steps.is_empty() {
            let instance = InstanceId::Entity(known.id.clone());
            self.actions.push(action::Update { instance, patch: Patch { steps }, provenance: None }.into());
        }
        self.children(known, &item.children)
    }

    /// Makes the children of `parent` equal to `branches`.
    pub(super) fn children(&mut self, parent: &Parent, branches: &[Branch]) -> Result<()> {
        if branches.is_empty() && self.rest == Rest::Stays {
            return Ok(());
        }
        let mut kinds = Vec::with_capacity(branches.len());
        for Branch { name, is_listed, item } in branches {
            let kind = self.kind(name, *is_listed, item)?;
            let known = self.known_child(parent, &kind);
            kinds.push((kind, known));
        }
        let mut seen = HashSet::with_capacity(branches.len());
        if let Some(at) = kinds.iter().position(|(kind, _)| !seen.insert(&kind.name)) {
            let text = format!(
                "children of entity {}: {} occurs twice, with the same keys or name",
                parent.id, branches[at].name
            );
            return Err(Error::new(ErrorKind::InvalidArgument, text));
        }
        if self.rest == Rest::Goes
            && let Some(slot) = parent.slot
        {
            let kept: HashSet<u32> =
                kinds.iter().filter_map(|(_, known)| known.map(|child| child.entity)).collect();
            for child in self.writer.walked_children(slot).filter(|child| !kept.contains(child)) {
                let instance = InstanceId::Entity(self.graph.entities.id(child).clone());
                self.actions.push(action::Delete { instance }.into());
            }
        }
        let orders = self.orders(parent, &kinds)?;
        // Most items of long lists are new: an entity, and what contains it.
        let new_count = kinds.iter().filter(|(_, known)| known.is_none()).count();
        self.actions.reserve(2 * new_count);
        self.noted.reserve(&parent.id, new_count);
        for (((kind, known), branch), order) in kinds.into_iter().zip(branches).zip(orders) {
            let Some(child) = known else {
                match self.noted.child(&parent.id, &kind.name).cloned() {
                    Some(created) => self.change_created(&created, &branch.item, kind.properties)?,
                    None => drop(self.create(parent, kind, &branch.item, None, order)?),
                }
                continue;
            };
            if let Some(order) = order {
                self.set_order(self.graph.relationships.id(child.relationship).clone(), order);
            }
            let known = self.parent(child.entity);
            self.change(&known, &branch.item, kind.properties)?;
        }
        Ok(())
    }

    /// The new orders of children, so that they have the given order: none for children that have a right order
    /// already, or that are not ordered.
    fn orders(
        &mut self,
        parent: &Parent,
        kinds: &[(ChildKind, Option<ChildSlot>)],
    ) -> Result<Vec<Option<Vec<u8>>>> {
        let mut orders = vec![None; kinds.len()];
        if self.rest == Rest::Stays && parent.slot.is_some() {
            // Existing children stay in place, and new ones follow.
            return Ok(orders);
        }
        let mut groups: HashMap<u32, Vec<usize>> = HashMap::new();
        for (at, (kind, _)) in kinds.iter().enumerate() {
            if self.containing(parent, &kind.type_name)?.is_ordered {
                groups.entry(kind.name.group).or_default().push(at);
            }
        }
        for places in groups.into_values() {
            let held =
                places.iter().map(|at| kinds[*at].1.map_or(Ok(None), |child| order_at(self.graph, child)));
            let held: Vec<Option<Vec<u8>>> = held.collect::<Result<_>>()?;
            for (at, order) in places.into_iter().zip(spread_between(&held)) {
                orders[at] = order;
            }
        }
        Ok(orders)
    }
}

/// New orders for children outside a longest ascending subsequence.
fn spread_between(held: &[Option<Vec<u8>>]) -> Vec<Option<Vec<u8>>> {
    let stays = longest_ascending(held);
    let mut orders = vec![None; held.len()];
    let mut start = 0;
    while start < held.len() {
        let end = (start..held.len()).find(|at| stays[*at]).unwrap_or(held.len());
        let before = start.checked_sub(1).and_then(|at| held[at].as_deref());
        let after = held.get(end).and_then(|order| order.as_deref());
        for (at, order) in (start..end).zip(spread(before, after, end - start)) {
            orders[at] = Some(order);
        }
        start = end + 1;
    }
    orders
}

/// The members of a longest ascending subsequence. Source: patience sorting.
fn longest_ascending(held: &[Option<Vec<u8>>]) -> Vec<bool> {
    let mut tails: Vec<usize> = Vec::new();
    let mut before = vec![None; held.len()];
    for (at, order) in held.iter().enumerate() {
        if order.is_none() {
            continue;
        }
        let pile = tails.partition_point(|tail| held[*tail] < *order);
        before[at] = pile.checked_sub(1).map(|pile| tails[pile]);
        if pile == tails.len() {
            tails.push(at);
        } else {
            tails[pile] = at;
        }
    }
    let mut stays = vec![false; held.len()];
    let mut next = tails.last().copied();
    while let Some(at) = next {
        stays[at] = true;
        next = before[at];
    }
    stays
}

pub(super) fn not_ordered(type_name: &str) -> Error {
    let text = format!(
        "insert: the children that \"{type_name}\" contains are ordered by their keys or names; leave the place out"
    );
    Error::new(ErrorKind::InvalidArgument, text)
}

/// Refuses an item with another type or id than the existing one.
fn check_same(known: &Parent, item: &Item) -> Result<()> {
    if let Some(told) = item.type_name.as_ref().filter(|told| **told != known.type_name) {
        let text = format!(
            "entity {}: its type is \"{}\", not \"{told}\"; retype it instead",
            known.id, known.type_name
        );
        return Err(Error::new(ErrorKind::WrongType, text));
    }
    if let Some(told) = item.id.as_ref().filter(|told| **told != known.id) {
        let text = format!("entity {}: another entity, {told}, cannot replace it; delete it first", known.id);
        return Err(Error::new(ErrorKind::AlreadyExists, text));
    }
    Ok(())
}
