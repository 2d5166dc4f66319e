//! The changes of a subtree between two times.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::Tree;
use super::children::{ChildSlot, Range, place_of};
use crate::graph::containment::DEPTH_MAX;
use crate::graph::structures::child::{Child, ChildGroup};
use crate::graph::structures::link::Link;
use crate::model::{Id, TypeKind};
use crate::read::past::compare::{Difference, INSTANCES_MAX};
use crate::read::sight::resolved_grants::below;
use crate::read::snapshot::{AsOf, Snapshot};
use crate::read::taken_along::Slot;
use crate::tree::{TreePath, TreeStep};
use crate::{Error, ErrorKind, Position, Result};

/// The change of an item between two times.
#[derive(Clone, Debug, PartialEq)]
pub struct TreeChange {
    /// Its path at the later time; for a deleted item, its former path.
    pub path: TreePath,
    /// Its id at that time.
    pub id: Id,
    /// The kind of change.
    pub kind: TreeChangeKind,
}

/// The kind of change of an item.
#[derive(Clone, Debug, PartialEq)]
pub enum TreeChangeKind {
    /// It is in the tree only at the later time.
    Created,
    /// It is in the tree only at the earlier time.
    Deleted,
    /// It has another parent, another name or other keys, or another place in an ordered list. Its subtree moved with
    /// it.
    Moved {
        /// Its former path.
        from: TreePath,
        /// The item before it in the list, then and now; `None` for the first, and in lists that users do not order.
        after: [Option<TreeStep>; 2],
    },
    /// Its content differs: properties, classifications, type, status, id or provenance.
    Modified(Box<Difference>),
}

/// An item at one of the two times.
struct Spot {
    path: TreePath,
    parent: Option<u32>,
    child: Option<(ChildSlot, Child)>,
    /// True if it is at the requested path, or below it.
    is_within: bool,
    /// The places of the items above it, and its own: they compare in the order of trees.
    places: Vec<Vec<u8>>,
}

/// The tree at one of the two times.
struct Side<'d> {
    snapshot: &'d Snapshot,
    root: Option<u32>,
    /// The item at the requested path.
    top: Option<u32>,
    spots: HashMap<u32, Option<Arc<Spot>>>,
    /// The item before each child of an ordered list except the first, by relationship.
    lists: HashMap<(u32, ChildGroup), HashMap<u32, ChildSlot>>,
}

impl Tree<'_> {
    /// The changes of the item at a path and of its subtree between two times, in the order of the tree; a move comes
    /// before modifications of the same item. Items are the same if their entities are the same. An item that was moved
    /// out of the subtree, or into it, counts as moved, together with its own subtree.
    ///
    /// Cost: between two transaction times it depends on the changes, not on the size of the tree, except for lists in
    /// which users moved items. With a valid time it compares both trees.
    /// Errors: `InvalidArgument` for a path that is not a look-up; `NotFound` if it leads to an item at neither time;
    /// `TooLarge` over a million changed instances; as [`Snapshot::as_of`]; those of reading history.
    pub fn difference(&self, path: &TreePath, from: AsOf, to: AsOf) -> Result<Vec<TreeChange>> {
        let [before, after] = [self.snapshot.as_of(from)?, self.snapshot.as_of(to)?];
        // A watch may wait for a missing item; for a comparison it is a mistake in the path.
        let is_there = |side: &Snapshot| Side::new(side, self.root, path).map(|side| side.top.is_some());
        if !is_there(&before)? && !is_there(&after)? {
            let text = format!("path {path}: expected an item at one of the two times, found none");
            return Err(Error::new(ErrorKind::NotFound, text));
        }
        let position = |side: &Snapshot| match side.view() {
            None => Some(side.position()),
            Some(view) if view.valid == i64::MAX => Some(Position(view.position)),
            Some(_) => None,
        };
        let positions = position(&before).zip(position(&after));
        let touched = positions.filter(|_| self.snapshot.pending().is_none());
        // After more changes than a subtree may have items, its items are compared one by one.
        let touched =
            touched.map(|(from, to)| self.snapshot.touched(from.min(to), from.max(to), INSTANCES_MAX));
        self.difference_of(path, &before, &after, touched.transpose()?.flatten())
    }

    /// The same between two snapshots. Only instances in `touched` may differ; if it is `None`, all may.
    pub(in crate::read) fn difference_of(
        &self,
        path: &TreePath,
        before: &Snapshot,
        after: &Snapshot,
        touched: Option<Vec<Slot>>,
    ) -> Result<Vec<TreeChange>> {
        let mut then = Side::new(before, self.root, path)?;
        let mut now = Side::new(after, self.root, path)?;
        let mut open = match touched {
            Some(touched) => touched_entities(touched, &then, &now)?,
            None => both(&then, &now)?,
        };
        let (mut seen, mut found) = (HashSet::new(), Vec::new());
        while let Some(slot) = open.pop() {
            self.snapshot.check_cancelled()?;
            if !seen.insert(slot) {
                continue;
            }
            check_count(seen.len())?;
            // Items that only lead to others have no changes.
            let told = |side: &Snapshot| !side.only_leads(TypeKind::Entity, slot);
            let spots = [then.spot(slot)?.filter(|_| told(before)), now.spot(slot)?.filter(|_| told(after))];
            if !spots.iter().flatten().any(|spot| spot.is_within) {
                continue;
            }
            let places = places(&mut then, &mut now, slot)?;
            let mut add = |path: &TreePath, side: &Side, kind| {
                let change = TreeChange { path: path.clone(), id: side.snapshot.id_seen(slot).clone(), kind };
                found.push((places.clone(), change));
            };
            match spots {
                [Some(was), Some(is)] => {
                    if shows_more(before, after, slot, is_moved(&was, &is)) {
                        open.extend(below(after, vec![slot])?.iter());
                    }
                    if is_moved(&was, &is) {
                        let siblings = [then.before(&was)?, now.before(&is)?];
                        add(
                            &is.path,
                            &now,
                            TreeChangeKind::Moved { from: was.path.clone(), after: siblings },
                        );
                    }
                    let difference = before.difference_to(after, TypeKind::Entity, slot)?;
                    if let Some(difference) = difference {
                        add(&is.path, &now, TreeChangeKind::Modified(Box::new(difference)));
                    }
                }
                [None, Some(is)] => {
                    add(&is.path, &now, TreeChangeKind::Created);
                    open.extend(untouched(before, after, slot)?);
                }
                [Some(was), None] => {
                    add(&was.path, &then, TreeChangeKind::Deleted);
                    open.extend(untouched(after, before, slot)?);
                }
                [None, None] => {}
            }
        }
        // Stable: a move stays before a modification.
        found.sort_by(|(a, _), (b, _)| a.cmp(b));
        Ok(found.into_iter().map(|(_, change)| change).collect())
    }
}

/// True if a sight may show more below an item than before, though nothing there was changed: the item has another place or
/// id, and grants name containers.
fn shows_more(before: &Snapshot, after: &Snapshot, slot: u32, is_moved: bool) -> bool {
    after.sight_number().is_some() && (is_moved || before.id_seen(slot) != after.id_seen(slot))
}

/// Slots of the entities that may differ, for changed instances.
fn touched_entities(touched: Vec<Slot>, then: &Side, now: &Side) -> Result<Vec<u32>> {
    let mut entities = Vec::new();
    for (kind, slot) in touched {
        if kind == TypeKind::Entity {
            entities.push(slot);
            continue;
        }
        for side in [then, now] {
            if let Some(held) = side.snapshot.seen(kind, slot, false)? {
                let row = side.snapshot.row(kind, slot, &held);
                entities.extend(side.snapshot.graph().containment(row.type_name()).map(|_| row.ends()[1]));
            }
        }
    }
    Ok(entities)
}

/// All items of one of the two subtrees.
fn both(then: &Side, now: &Side) -> Result<Vec<u32>> {
    let mut entities = Vec::new();
    for side in [then, now] {
        entities.extend(below(side.snapshot, side.top.into_iter().collect())?.iter());
        check_count(entities.len())?;
    }
    Ok(entities)
}

/// The subtree of an item that only one of two times has in the tree, if the item is live at the other: then only its
/// containment changed, but not its subtree. A sight may also have hidden the item.
fn untouched(without: &Snapshot, with: &Snapshot, slot: u32) -> Result<Vec<u32>> {
    if !without.sees(TypeKind::Entity, slot) && without.sight_number().is_none() {
        return Ok(Vec::new());
    }
    Ok(with.children_of(slot)?.into_iter().map(|child| child.entity).collect())
}

fn is_moved(was: &Spot, is: &Spot) -> bool {
    let place = |spot: &Spot| spot.child.as_ref().map(|(_, child)| child.clone());
    place(was) != place(is)
}

/// The place of a change in the tree: for a deleted item, the place where it would be now.
fn places(then: &mut Side, now: &mut Side, slot: u32) -> Result<Vec<Vec<u8>>> {
    if let Some(spot) = now.spot(slot)? {
        return Ok(spot.places.clone());
    }
    let Some(spot) = then.spot(slot)? else { return Ok(Vec::new()) };
    let mut above = match spot.parent {
        Some(parent) => places(then, now, parent)?,
        None => Vec::new(),
    };
    above.extend(spot.places.last().cloned());
    Ok(above)
}

fn check_count(count: usize) -> Result<()> {
    if count <= INSTANCES_MAX {
        return Ok(());
    }
    let text = format!("difference: expected at most {INSTANCES_MAX} items; narrow the path or the times");
    Err(Error::new(ErrorKind::TooLarge, text))
}

impl<'d> Side<'d> {
    fn new(snapshot: &'d Snapshot, root: Option<u32>, path: &TreePath) -> Result<Side<'d>> {
        let root = root.filter(|root| snapshot.walks_live(TypeKind::Entity, *root));
        let spot = Tree { snapshot, root }.look_up(path)?;
        let top = spot.filter(|spot| spot.property.is_none()).map(|spot| spot.entity);
        Ok(Side { snapshot, root, top, spots: HashMap::new(), lists: HashMap::new() })
    }

    /// The place of an entity; `None` if the tree does not contain it.
    fn spot(&mut self, slot: u32) -> Result<Option<Arc<Spot>>> {
        let mut above = Vec::new();
        let mut at = slot;
        let mut spot = loop {
            if let Some(known) = self.spots.get(&at) {
                break known.clone();
            }
            if Some(at) == self.root {
                let (path, is_within) = (TreePath::root(), self.top == self.root);
                break Some(Arc::new(Spot {
                    path,
                    parent: None,
                    child: None,
                    is_within,
                    places: Vec::new(),
                }));
            }
            let link = match self.snapshot.walks_live(TypeKind::Entity, at) {
                true => self.snapshot.container_seen(at)?,
                false => None,
            };
            let Some(link) = link else {
                self.spots.insert(at, None);
                break None;
            };
            above.push((at, link));
            if above.len() > 2 * DEPTH_MAX {
                let text = format!("tree: expected at most {} levels", 2 * DEPTH_MAX);
                return Err(Error::new(ErrorKind::TooLarge, text));
            }
            at = link.other;
        };
        while let Some((entity, link)) = above.pop() {
            spot = match spot {
                Some(parent) => self.below(&parent, entity, link)?.map(Arc::new),
                None => None,
            };
            self.spots.insert(entity, spot.clone());
        }
        Ok(spot)
    }

    /// The child of a link, at this time.
    fn below(&self, parent: &Spot, entity: u32, link: Link) -> Result<Option<Spot>> {
        let slot = ChildSlot { relationship: link.relationship, entity };
        let child = self.snapshot.child_then(Link { other: entity, ..link })?;
        let (Some(child), Some(step)) = (child, self.snapshot.step_to(slot)?) else { return Ok(None) };
        let mut places = parent.places.clone();
        places.push(place_of(&child, link.relationship));
        Ok(Some(Spot {
            path: parent.path.clone().child(step),
            parent: Some(link.other),
            child: Some((slot, child)),
            is_within: parent.is_within || self.top == Some(entity),
            places,
        }))
    }

    /// The item before this one in a list that users order.
    fn before(&mut self, spot: &Spot) -> Result<Option<TreeStep>> {
        let (Some(parent), Some((slot, child))) = (spot.parent, &spot.child) else { return Ok(None) };
        if child.order.is_none() {
            return Ok(None);
        }
        let group = Some(child.group);
        if self.snapshot.is_plain() {
            let place = place_of(child, slot.relationship);
            let range = Range { group, after: Some(&place), is_back: true };
            let mut found = None;
            self.snapshot.each_child(parent, range, &mut |placed| {
                found = Some(placed.child);
                Ok(false)
            })?;
            return found.map_or(Ok(None), |child| self.snapshot.step_to(child));
        }
        // At an earlier time all children are read: once for each list.
        if !self.lists.contains_key(&(parent, child.group)) {
            let (mut list, mut last) = (HashMap::new(), None);
            self.snapshot.each_child(parent, Range { group, ..Range::default() }, &mut |placed| {
                list.extend(last.map(|last| (placed.child.relationship, last)));
                last = Some(placed.child);
                Ok(true)
            })?;
            self.lists.insert((parent, child.group), list);
        }
        let before = self.lists[&(parent, child.group)].get(&slot.relationship);
        before.map_or(Ok(None), |child| self.snapshot.step_to(*child))
    }
}
