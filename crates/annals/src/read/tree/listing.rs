//! Pages of children, in either direction, and their counts.

use super::children::{ChildSlot, PLACE_BYTES_MIN, Placed, Range};
use super::item::TreeItem;
use super::{PathTarget, Tree};
use crate::graph::structures::child::group_of_type;
use crate::graph::structures::child::{ChildGroup, relationship_of};
use crate::graph::structures::link::Link;
use crate::read::cursor;
use crate::read::operators::page::Page;
use crate::tree::TreePath;
use crate::{Error, ErrorKind, Result};

/// Most children of a page.
const LIMIT_MAX: usize = 100_000;
/// The number of the order of children in cursors.
const CURSOR: u32 = u32::from_be_bytes(*b"tree");

/// Options of a page of children.
#[derive(Clone, Debug)]
pub struct ListOptions {
    /// The end of the page before.
    pub after: Option<String>,
    /// Most children. Units: children, 1 to 100,000.
    pub limit: usize,
    /// A page ends with the child that brings its stored bytes over this. Units: bytes.
    pub bytes_max: usize,
    /// True for the last child first.
    pub is_back: bool,
}

impl Default for ListOptions {
    /// The first 100 children.
    fn default() -> ListOptions {
        ListOptions { after: None, limit: 100, bytes_max: usize::MAX, is_back: false }
    }
}

impl<'s> Tree<'s> {
    /// A page of the children of an item, or of one of its lists, in order: groups by type, children with names of
    /// their own first; within a list, in the order of users, or else of keys; children with names of their own by
    /// name.
    ///
    /// Shape: `None` if the path leads to no item.
    /// Errors: `InvalidPage` for a foreign cursor, or a limit out of bounds; `InvalidArgument` for a path that is not a
    /// look-up; those of reading history.
    pub fn list(&self, path: &TreePath, options: &ListOptions) -> Result<Option<Page<TreeItem<'s>>>> {
        let Some((parent, group)) = self.container(path)? else { return Ok(None) };
        if !(1..=LIMIT_MAX).contains(&options.limit) {
            let text = format!("limit: expected 1 to {LIMIT_MAX}, found {}", options.limit);
            return Err(Error::new(ErrorKind::InvalidPage, text));
        }
        let graph = self.snapshot.graph();
        let place_of = |text: &str| {
            let place = cursor::decode(graph, CURSOR, text)?;
            if place.len() < PLACE_BYTES_MIN { Err(cursor::foreign(text)) } else { Ok(place) }
        };
        let after = options.after.as_deref().map(place_of).transpose()?;
        let range = Range { group, after: after.as_deref(), is_back: options.is_back };
        let (mut items, mut last, mut has_more) = (Vec::<TreeItem>::new(), None, false);
        let mut bytes_count: usize = 0;
        self.snapshot.each_child(parent, range, &mut |Placed { child, place }| {
            has_more = items.len() == options.limit || bytes_count >= options.bytes_max;
            if has_more {
                return Ok(false);
            }
            if let Some(item) = self.child_item(child)? {
                bytes_count = bytes_count.saturating_add(item.entity.stored_bytes());
                items.push(item);
            }
            last = Some(place);
            Ok(true)
        })?;
        let next = last.filter(|_| has_more).map(|place| cursor::encode(self.snapshot, CURSOR, &place));
        Ok(Some(Page { items, next }))
    }

    /// Counts the children of an item, or of one of its lists. Cost: in the present O(1), and O(log n) for a list.
    ///
    /// Shape and errors: as [`Tree::list`].
    pub fn count(&self, path: &TreePath) -> Result<Option<usize>> {
        let Some((parent, group)) = self.container(path)? else { return Ok(None) };
        self.snapshot.count_children(parent, group).map(Some)
    }

    /// The place of an item among its siblings in the same list, counted from 1. Cost: in the present O(log n).
    ///
    /// Shape: `None` if the path leads to no item, or to the root.
    pub fn place(&self, path: &TreePath) -> Result<Option<usize>> {
        let Some(found) = self.look_up(path)?.filter(|found| found.property.is_none()) else {
            return Ok(None);
        };
        let Some(child) = found.child else { return Ok(None) };
        let snapshot = self.snapshot;
        // As of a valid time it may be in other containers, too.
        let mut links = snapshot.containers_seen(child.entity);
        let Some(link) = links.find(|link| link.relationship == child.relationship) else { return Ok(None) };
        let parent = link.other;
        let link = Link { other: child.entity, ..link };
        let Some(place) = snapshot.child_then(link)? else { return Ok(None) };
        if snapshot.is_plain() {
            let (keys, prefix) = snapshot.graph().relationships.lists.children.listed(parent, place.group);
            let key = super::children::place_of(&place, child.relationship);
            let key = [&prefix[..], &key[5..]].concat();
            return Ok(Some(keys.rank(&key) - keys.rank(&prefix) + 1));
        }
        let (mut before, range) = (0, Range { group: Some(place.group), ..Range::default() });
        snapshot.each_child(parent, range, &mut |placed| {
            before += 1;
            Ok(placed.child != child)
        })?;
        Ok(Some(before))
    }

    /// The child of a list at a place, counted from 1; the last one for `None`.
    pub(super) fn child_at(
        &self,
        parent: u32,
        group: ChildGroup,
        place: Option<usize>,
    ) -> Result<Option<ChildSlot>> {
        let snapshot = self.snapshot;
        if let (true, Some(place)) = (snapshot.is_plain(), place) {
            let graph = snapshot.graph();
            let (keys, prefix) = graph.relationships.lists.children.listed(parent, group);
            let key = keys.nth(keys.rank(&prefix) + place - 1).filter(|key| key.starts_with(&prefix));
            return Ok(key.map(|key| {
                let relationship = relationship_of(key);
                let [_, entity] = graph.relationships.known_row(relationship).ends();
                ChildSlot { relationship, entity }
            }));
        }
        let (mut left, mut found) = (place.unwrap_or(1), None);
        let range = Range { group: Some(group), after: None, is_back: place.is_none() };
        snapshot.each_child(parent, range, &mut |placed| {
            left -= 1;
            found = (left == 0).then_some(placed.child);
            Ok(left > 0)
        })?;
        Ok(found)
    }

    /// The item whose children a path names, and the list, if it names one.
    pub(super) fn container(&self, path: &TreePath) -> Result<Option<(u32, Option<ChildGroup>)>> {
        let graph = self.snapshot.graph();
        if let Some((above, last)) = path.split_last()
            && let PathTarget::List(list) = graph.target(last)
        {
            let Some(found) = self.look_up(&above)?.filter(|found| found.property.is_none()) else {
                return Ok(None);
            };
            return Ok(Some((found.entity, Some(group_of_type(list)))));
        }
        let found = self.look_up(path)?.filter(|found| found.property.is_none());
        Ok(found.map(|found| (found.entity, None)))
    }

    /// A child as an item.
    pub(super) fn child_item(&self, child: ChildSlot) -> Result<Option<TreeItem<'s>>> {
        let entity = self.snapshot.entity_walked(child.entity)?;
        let relationship = self.snapshot.relationship_walked(child.relationship)?;
        Ok(entity.map(|entity| TreeItem { entity, relationship, tree: *self, property: None }))
    }
}
