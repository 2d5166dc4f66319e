//! The items that changes of trees created and removed in a transaction. While the transaction has no other changes, paths
//! are looked up in the base and here, and the base with all changes applied is not needed. And what they found out about
//! the types of the base.

use std::sync::Arc;

use foldhash::{HashMap, HashSet};

use crate::graph::structures::symbols::Recent;
use crate::model::{Id, InstanceId};
use crate::read::ChildName;
use crate::tree::TreeStep;

/// The relationship type that contains a child.
#[derive(Clone)]
pub(in crate::write) struct Containing {
    pub(in crate::write) type_name: Arc<str>,
    pub(in crate::write) is_ordered: bool,
    /// Its properties with the name and the place of the child.
    pub(in crate::write) name: Arc<str>,
    pub(in crate::write) order: Arc<str>,
}

/// An existing item, or one that a transaction creates.
#[derive(Clone)]
pub(in crate::write) struct Parent {
    pub(in crate::write) id: Id,
    /// `None` if the transaction creates it.
    pub(in crate::write) slot: Option<u32>,
    pub(in crate::write) type_name: Arc<str>,
}

/// The items that a transaction created and removed, always on the same base.
#[derive(Default)]
pub(in crate::write) struct Noted {
    /// By parent.
    items: HashMap<Id, HashMap<ChildName, Parent>>,
    ids: HashSet<Id>,
    /// Slots of items of the base that were removed, each with everything below it.
    removed: HashSet<u32>,
    /// The root of the tree that has the removed items.
    removed_from: Option<Id>,
    /// The items above the one that was changed last, from the root down, and the root.
    ///
    /// Invariant: none of them is removed, because a change removes only what is below them.
    way: Vec<(TreeStep, Parent)>,
    way_root: Option<Id>,
    /// The last order of the lists to which it appended.
    last_orders: HashMap<(Id, u32), Vec<u8>>,
    /// Names of types and properties that were looked up before: the items of a list have the same few.
    pub(in crate::write) names: Recent,
    /// How children of a type are contained in parents of another.
    pub(in crate::write) containings: HashMap<(Arc<str>, Arc<str>), Arc<Containing>>,
    /// The number of changes of the transaction after the last one noted here.
    pub(in crate::write) changes_count: usize,
}

impl Noted {
    /// True if the transaction created it.
    pub(in crate::write) fn has(&self, instance: &InstanceId) -> bool {
        self.ids.contains(instance.id())
    }

    pub(in crate::write) fn child(&self, parent: &Id, name: &ChildName) -> Option<&Parent> {
        self.items.get(parent)?.get(name)
    }

    /// True if an item of the base was removed, not counting those below it.
    pub(in crate::write) fn is_removed(&self, slot: u32) -> bool {
        self.removed.contains(&slot)
    }

    /// Notes that an item of the base is removed from the tree of `root`.
    pub(in crate::write) fn remove(&mut self, root: &Id, slot: u32) {
        self.removed.insert(slot);
        self.removed_from.get_or_insert_with(|| root.clone());
    }

    /// True if no item was removed from another tree, which may have contained the one of `root`.
    pub(in crate::write) fn has_tree(&self, root: &Id) -> bool {
        self.removed_from.as_ref().is_none_or(|known| known == root)
    }

    /// The last of the items along `steps` that the change before went along, too, and how many of the steps lead to it.
    pub(in crate::write) fn go_along(&mut self, root: &Id, steps: &[TreeStep]) -> (usize, Option<&Parent>) {
        if self.way_root.as_ref() != Some(root) {
            self.way.clear();
            self.way_root = Some(root.clone());
        }
        let common = self.way.iter().zip(steps).take_while(|((known, _), step)| known == *step).count();
        self.way.truncate(common);
        (common, self.way.last().map(|(_, parent)| parent))
    }

    /// Notes the next item of the way.
    pub(in crate::write) fn go_to(&mut self, step: &TreeStep, item: Parent) {
        self.way.push((step.clone(), item));
    }

    /// Makes room for children of `parent`.
    pub(in crate::write) fn reserve(&mut self, parent: &Id, children_count: usize) {
        self.ids.reserve(children_count);
        self.items.entry(parent.clone()).or_default().reserve(children_count);
    }

    pub(in crate::write) fn add(&mut self, parent: &Id, name: ChildName, child: Parent) {
        self.ids.insert(child.id.clone());
        match self.items.get_mut(parent) {
            Some(children) => children.insert(name, child),
            None => self.items.entry(parent.clone()).or_default().insert(name, child),
        };
    }

    pub(in crate::write) fn last_order(&self, parent: &Id, group: u32) -> Option<&Vec<u8>> {
        self.last_orders.get(&(parent.clone(), group))
    }

    pub(in crate::write) fn append(&mut self, parent: &Id, group: u32, order: Vec<u8>) {
        self.last_orders.insert((parent.clone(), group), order);
    }
}
