//! The children of an entity in order: in the present from the list of the graph, as of an earlier time from all its
//! former children.

use std::ops::Bound;

use crate::Result;
use crate::graph::Graph;
use crate::graph::structures::child::{
    Child, ChildGroup, group_of, name_key, order_key, prefix_of, relationship_of,
};
use crate::graph::structures::child::{NAMED_GROUP, append_name, group_of_type};
use crate::graph::structures::link::Link;
use crate::model::{Direction, TypeKind, Value};
use crate::read::operators::expand::Expand;
use crate::read::operators::link_types::LinkTypes;
use crate::read::past::held::Held;
use crate::read::snapshot::Snapshot;
use crate::structures::key_set::KeySet;

/// A child, and the relationship by which its parent contains it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ChildSlot {
    pub(crate) relationship: u32,
    pub(crate) entity: u32,
}

/// A range of children.
#[derive(Clone, Copy, Default)]
pub(crate) struct Range<'r> {
    /// Only children of one group.
    pub(crate) group: Option<ChildGroup>,
    /// Only children after this place; backwards, those before it. Shape: as in [`Placed`], with any end.
    pub(crate) after: Option<&'r [u8]>,
    pub(crate) is_back: bool,
}

/// Group and list of a place. Units: bytes.
pub(super) const PLACE_BYTES_MIN: usize = 5;

/// Children ordered by users come before those ordered by name.
const BY_ORDER: u8 = 0;
const BY_NAME: u8 = 1;

/// A child and its place. Shape of a place: group (4), `BY_ORDER` or `BY_NAME` (1), the rest of the key in that list;
/// so places compare in the order of children.
pub(crate) struct Placed {
    pub(crate) child: ChildSlot,
    pub(crate) place: Vec<u8>,
}

impl Snapshot {
    /// Calls `take` with the children of an entity in order, until `take` stops it.
    pub(crate) fn each_child(
        &self,
        parent: u32,
        range: Range,
        take: &mut dyn FnMut(Placed) -> Result<bool>,
    ) -> Result<()> {
        if self.is_plain() {
            return present(self.graph(), parent, range, take);
        }
        let mut children = self.children_then(parent, range.group)?;
        children.sort_unstable_by(|a, b| a.place.cmp(&b.place));
        if range.is_back {
            children.reverse();
        }
        let is_beyond = |placed: &Placed| match (range.after, range.is_back) {
            (None, _) => true,
            (Some(after), false) => &placed.place[..] > after,
            (Some(after), true) => &placed.place[..] < after,
        };
        for placed in children.into_iter().filter(is_beyond) {
            if !take(placed)? {
                break;
            }
        }
        Ok(())
    }

    /// The children of an entity in order.
    pub(crate) fn children_of(&self, parent: u32) -> Result<Vec<ChildSlot>> {
        let mut children = Vec::new();
        self.each_child(parent, Range::default(), &mut |placed| {
            self.check_cancelled()?;
            children.push(placed.child);
            Ok(true)
        })?;
        Ok(children)
    }

    /// Counts the children of an entity, or of one group. Units: children; in the present O(1) for all.
    pub(crate) fn count_children(&self, parent: u32, group: Option<ChildGroup>) -> Result<usize> {
        if self.is_plain() && group.is_none() {
            return Ok(self.graph().children_count(parent));
        }
        if let (true, Some(group)) = (self.is_plain(), group) {
            return Ok(self
                .graph()
                .relationships
                .lists
                .children
                .by_name()
                .count_prefix(&prefix_of(parent, group)));
        }
        Ok(self.children_then(parent, group)?.len())
    }

    fn children_then(&self, parent: u32, group: Option<ChildGroup>) -> Result<Vec<Placed>> {
        let types = LinkTypes::Several(self.graph().types.containments.clone());
        let links = Expand::new(self, types).along_ways().links(parent, Direction::Out, None);
        let mut children = Vec::new();
        for link in links {
            self.check_cancelled()?;
            let Some(child) = self.child_then(link)? else { continue };
            if group.is_none_or(|group| group == child.group) {
                let place = place_of(&child, link.relationship);
                let child = ChildSlot { relationship: link.relationship, entity: link.other };
                children.push(Placed { child, place });
            }
        }
        Ok(children)
    }

    /// The place of the child of a link in this snapshot, which sees the link.
    pub(crate) fn child_then(&self, link: Link) -> Result<Option<Child>> {
        let graph = self.graph();
        let Some(rule) = graph.containment(link.type_name) else { return Ok(None) };
        let held = |kind, slot| self.walked(kind, slot);
        let (Some(relationship), Some(entity)) =
            (held(TypeKind::Relationship, link.relationship)?, held(TypeKind::Entity, link.other)?)
        else {
            return Ok(None);
        };
        let value = |name| self.value(TypeKind::Relationship, link.relationship, &relationship, name);
        let order = match value(rule.order) {
            Some(Value::Bytes(bytes)) if rule.is_ordered => Some(bytes.to_vec()),
            _ => None,
        };
        let parent = self.row(TypeKind::Relationship, link.relationship, &relationship).ends()[0];
        let name = self.name_then(link.other, &entity, || value(rule.name));
        Ok(name.map(|(group, name)| Child { parent, group, name, order, values: Vec::new() }))
    }

    fn name_then(
        &self,
        slot: u32,
        entity: &Held,
        own: impl FnOnce() -> Option<Value>,
    ) -> Option<(ChildGroup, Vec<u8>)> {
        let graph = self.graph();
        let type_name = self.row(TypeKind::Entity, slot, entity).type_name();
        let mut name = Vec::with_capacity(32);
        let keys = graph.keys_of(type_name);
        if keys.is_empty() {
            append_name(own()?.as_str()?, &mut name);
            return Some((NAMED_GROUP, name));
        }
        for key in keys {
            self.value(TypeKind::Entity, slot, entity, *key)?.append_exact_key(&mut name);
        }
        Some((group_of_type(type_name), name))
    }
}

/// The place of a child among its siblings.
pub(crate) fn place_of(child: &Child, relationship: u32) -> Vec<u8> {
    let (list, key) = match order_key(relationship, child) {
        Some(key) => (BY_ORDER, key),
        None => (BY_NAME, name_key(relationship, child)),
    };
    place(list, &key)
}

// Every key begins with the parent.
fn place(list: u8, key: &[u8]) -> Vec<u8> {
    [&key[4..8], &[list], &key[8..]].concat()
}

fn present(
    graph: &Graph,
    parent: u32,
    range: Range,
    take: &mut dyn FnMut(Placed) -> Result<bool>,
) -> Result<()> {
    let children = &graph.relationships.lists.children;
    let first =
        range.after.and_then(|after| after.first_chunk()).map(|group| ChildGroup(u32::from_be_bytes(*group)));
    let mut next = match (range.group, first) {
        (Some(group), _) => Some(group),
        (None, Some(group)) => Some(group),
        (None, None) => next_group(children.by_name(), parent, None, range.is_back),
    };
    while let Some(group) = next {
        let mut lists = [BY_ORDER, BY_NAME];
        if range.is_back {
            lists.reverse();
        }
        for list in lists {
            // A place in another list of this group, or in another group, is before or after all of this list.
            let after = match range.after {
                Some(after) if first == Some(group) => match after[4].cmp(&list) {
                    std::cmp::Ordering::Equal => Some([&prefix_of(parent, group)[..], &after[5..]].concat()),
                    order if order.is_lt() != range.is_back => None,
                    _ => continue,
                },
                _ => None,
            };
            let is_going_on = match list {
                BY_ORDER => listed(
                    graph,
                    children.by_order(),
                    (parent, group),
                    after,
                    range.is_back,
                    &mut |placed| take(Placed { place: place(BY_ORDER, &placed.place), ..placed }),
                )?,
                _ => {
                    let has_order = children.by_order().prefix(&prefix_of(parent, group)).next().is_some();
                    listed(graph, children.by_name(), (parent, group), after, range.is_back, &mut |placed| {
                        if has_order && is_ordered(graph, placed.child.relationship) {
                            return Ok(true);
                        }
                        take(Placed { place: place(BY_NAME, &placed.place), ..placed })
                    })?
                }
            };
            if !is_going_on {
                return Ok(());
            }
        }
        next = match range.group {
            Some(_) => None,
            None => next_group(children.by_name(), parent, Some(group), range.is_back),
        };
    }
    Ok(())
}

fn is_ordered(graph: &Graph, relationship: u32) -> bool {
    let row = graph.relationships.row(relationship);
    row.and_then(|row| graph.containment(row.type_name())).is_some_and(|rule| rule.is_ordered)
}

/// The children of a group in one list. Returns whether more are wanted.
fn listed(
    graph: &Graph,
    keys: &KeySet,
    (parent, group): (u32, ChildGroup),
    after: Option<Vec<u8>>,
    is_back: bool,
    take: &mut dyn FnMut(Placed) -> Result<bool>,
) -> Result<bool> {
    let prefix = prefix_of(parent, group);
    let behind = prefix_behind(parent, group);
    let (low, high) = match (&after, is_back) {
        (Some(after), false) => (Bound::Excluded(&after[..]), Bound::Excluded(&behind[..])),
        (Some(after), true) => (Bound::Included(&prefix[..]), Bound::Excluded(&after[..])),
        (None, _) => (Bound::Included(&prefix[..]), Bound::Excluded(&behind[..])),
    };
    let mut range = keys.range(low, high);
    while let Some(key) = if is_back { range.next_back() } else { range.next() } {
        let relationship = relationship_of(key);
        let [_, entity] = graph.relationships.known_row(relationship).ends();
        let child = ChildSlot { relationship, entity };
        if !take(Placed { child, place: key.to_vec() })? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn prefix_behind(parent: u32, group: ChildGroup) -> [u8; 8] {
    let number = u64::from(parent) << 32 | u64::from(group.0);
    (number + 1).to_be_bytes()
}

fn next_group(named: &KeySet, parent: u32, group: Option<ChildGroup>, is_back: bool) -> Option<ChildGroup> {
    let all = [prefix_of(parent, ChildGroup(0)), prefix_behind(parent, ChildGroup(u32::MAX))];
    let from = group.map_or(all[0], |group| prefix_behind(parent, group));
    let to = group.map_or(all[1], |group| prefix_of(parent, group));
    let key = if is_back {
        named.range(Bound::Included(&all[0]), Bound::Excluded(&to)).next_back()
    } else {
        named.range(Bound::Included(&from), Bound::Excluded(&all[1])).next()
    };
    key.map(group_of)
}
