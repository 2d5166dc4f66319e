//! The place of a child among its siblings.

use std::ops::Bound;

use crate::graph::Graph;
use crate::graph::containment::ORDER_BYTES_MAX;
use crate::graph::structures::child::{ChildGroup, order_of, prefix_of, relationship_of};
use crate::model::{Id, Value};
use crate::read::{ChildName, ChildSlot, PathTarget};
use crate::structures::key_set::Key;
use crate::structures::order::between;
use crate::tree::TreeStep;
use crate::write::build::noted::Noted;
use crate::write::limited::writer_graph::WriterGraph;
use crate::{Error, ErrorKind, Result};

/// The place of a child in a list that users order.
#[derive(Clone, Debug, PartialEq)]
pub enum Insert {
    /// Before all others.
    First,
    /// After all others.
    Last,
    /// Right before this one.
    Before(TreeStep),
    /// Right after this one.
    After(TreeStep),
}

/// Longest step from one order to the next: two children inserted at one place at the same time hardly ever get the
/// same order.
const STEP_MAX: u16 = 2048;

/// The distance of an order from the one before. It differs from child to child, also between two transactions.
pub(super) fn step_of(child: &Id) -> u32 {
    let [.., a, b] = child.uuid_bytes().copied().unwrap_or_default();
    u32::from(u16::from_be_bytes([a, b]) % STEP_MAX) + 1
}

/// The orders of the two siblings between which a child goes.
pub(super) struct Gap {
    pub(super) before: Option<Vec<u8>>,
    pub(super) after: Option<Vec<u8>>,
}

impl Gap {
    /// An order in the gap.
    ///
    /// Errors: `TooLarge` if the gap has no room for a short order.
    pub(super) fn order(&self, step: u32) -> Result<Vec<u8>> {
        let order = between(self.before.as_deref(), self.after.as_deref(), step);
        if order.len() <= ORDER_BYTES_MAX {
            return Ok(order);
        }
        Err(Error::new(
            ErrorKind::TooLarge,
            "order of a child: too many insertions between the same two siblings",
        ))
    }
}

/// The gap for `insert` in a group of the children of `parent` that the writer sees: the order of a child tells nothing of
/// others.
///
/// Errors: `NotFound` if the named sibling does not exist, or is in another list.
pub(super) fn gap(writer: WriterGraph, parent: u32, group: ChildGroup, insert: &Insert) -> Result<Gap> {
    let orders = writer.graph.relationships.lists.children.by_order();
    let prefix = prefix_of(parent, group);
    let is_in_sight = |key: &Key| {
        let relationship = relationship_of(*key);
        writer.sees_child(relationship, writer.graph.relationships.known_row(relationship).ends()[1])
    };
    let edge = |is_last: bool| {
        let mut range = orders.prefix(&prefix).filter(is_in_sight);
        let key = if is_last { range.next_back() } else { range.next() };
        key.map(order_of)
    };
    match insert {
        Insert::First => Ok(Gap { before: None, after: edge(false) }),
        Insert::Last => Ok(Gap { before: edge(true), after: None }),
        Insert::Before(step) => {
            let (key, own) = sibling(writer, parent, group, step)?;
            let mut before =
                orders.range(Bound::Included(&prefix), Bound::Excluded(&key)).filter(is_in_sight);
            let before = before.next_back();
            Ok(Gap { before: before.map(order_of), after: Some(own) })
        }
        Insert::After(step) => {
            let (key, own) = sibling(writer, parent, group, step)?;
            let after = orders.range(Bound::Excluded(&key), Bound::Unbounded);
            let after = after.take_while(|key| key.starts_with(&prefix)).find(is_in_sight);
            Ok(Gap { before: Some(own), after: after.map(order_of) })
        }
    }
}

/// The key of a sibling in the list of orders, and its order.
fn sibling(
    writer: WriterGraph,
    parent: u32,
    group: ChildGroup,
    step: &TreeStep,
) -> Result<(Vec<u8>, Vec<u8>)> {
    let found = match writer.graph.target(step) {
        PathTarget::Child(name) if name.group == group.0 => child_of(writer, parent, &name),
        _ => None,
    };
    let order = match found {
        Some(child) => order_at(writer.graph, child)?,
        None => None,
    };
    let (Some(child), Some(order)) = (found, order) else {
        let text = format!("sibling {step}: expected a child in the same ordered list, found none");
        return Err(Error::new(ErrorKind::NotFound, text));
    };
    let place = crate::graph::structures::child::Child {
        parent,
        group,
        name: Vec::new(),
        order: Some(order.clone()),
        values: Vec::new(),
    };
    let key =
        crate::graph::structures::child::order_key(child.relationship, &place).expect("it has an order");
    Ok((key, order))
}

/// The child with this name in the present, if the writer sees it, or if it leads to what the writer sees.
pub(super) fn child_of(writer: WriterGraph, parent: u32, name: &ChildName) -> Option<ChildSlot> {
    child_where(writer, parent, name, |_| true)
}

/// The same without what is noted as removed.
pub(super) fn child_left(
    writer: WriterGraph,
    parent: u32,
    name: &ChildName,
    noted: &Noted,
) -> Option<ChildSlot> {
    child_where(writer, parent, name, |child| !noted.is_removed(child))
}

fn child_where(
    writer: WriterGraph,
    parent: u32,
    name: &ChildName,
    is_left: impl Fn(u32) -> bool,
) -> Option<ChildSlot> {
    let relationships = &writer.graph.relationships;
    let named = relationships.lists.children.named(parent, ChildGroup(name.group), &name.name);
    let mut children = named.filter_map(|relationship| {
        let [_, entity] = relationships.row(relationship)?.ends();
        Some(ChildSlot { relationship, entity })
    });
    let found = children.find(|child| is_left(child.entity))?;
    writer.walks_to_child(found.relationship, found.entity).then_some(found)
}

/// The order of a child, if users order it.
pub(super) fn order_at(graph: &Graph, child: ChildSlot) -> Result<Option<Vec<u8>>> {
    let Some(row) = graph.relationships.row(child.relationship) else { return Ok(None) };
    let Some(rule) = graph.containment(row.type_name()).filter(|rule| rule.is_ordered) else {
        return Ok(None);
    };
    Ok(match graph.relationships.read_value(child.relationship, rule.order)? {
        Some(Value::Bytes(bytes)) => Some(bytes.to_vec()),
        _ => None,
    })
}
