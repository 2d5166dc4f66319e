//! Merges items from several origins: later origins win, and each value keeps its origin.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::Result;
use crate::graph::Graph;
use crate::model::{Id, Value};
use crate::read::{ChildName, PathTarget, Snapshot};
use crate::tree::{Branch, Item, NameTest, TreePath, TreeStep};

/// The origin of a part of the operational view.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Origin {
    /// From the repository.
    Running,
    /// Pushed under the lease of this name.
    Lease(Arc<str>),
    /// Returned by the provider of this name.
    Provider(Arc<str>),
}

/// An item of the operational view.
#[derive(Clone, Debug, PartialEq)]
pub struct OperationalItem {
    /// The origin of the item: the first origin that has it.
    pub origin: Origin,
    /// Id of its entity, if it is in the repository.
    pub id: Option<Id>,
    /// Its properties, keys included, with their origins.
    pub properties: Vec<(Arc<str>, Value, Origin)>,
    /// Its children: those of the repository in their order; where users do not order them, the others are sorted in.
    pub children: Vec<OperationalBranch>,
}

/// A child of an item of the operational view.
#[derive(Clone, Debug, PartialEq)]
pub struct OperationalBranch {
    /// Its name, or the type of the list that it is in.
    pub name: Arc<str>,
    /// True if it is in a list, in which its keys name it.
    pub is_listed: bool,
    /// The child.
    pub item: OperationalItem,
}

impl OperationalItem {
    fn of(item: Item, origin: &Origin) -> OperationalItem {
        let value = |(name, value)| (name, value, origin.clone());
        let child = |Branch { name, is_listed, item }| OperationalBranch {
            name,
            is_listed,
            item: OperationalItem::of(item, origin),
        };
        OperationalItem {
            origin: origin.clone(),
            id: item.id.filter(|_| *origin == Origin::Running),
            properties: item.properties.into_iter().map(value).collect(),
            children: item.children.into_iter().map(child).collect(),
        }
    }

    /// The value of a property, and its origin.
    pub fn property(&self, name: &str) -> Option<(&Value, Origin)> {
        let found = self.properties.iter().find(|(known, ..)| **known == *name);
        found.map(|(_, value, origin)| (value, origin.clone()))
    }

    fn get(&self, name: &str) -> Option<&Value> {
        self.properties.iter().find(|(known, ..)| **known == *name).map(|(_, value, _)| value)
    }

    /// The children of this name.
    pub fn children(&self, name: &str) -> impl Iterator<Item = &OperationalItem> {
        self.children.iter().filter(move |child| *child.name == *name).map(|child| &child.item)
    }
}

/// An item while it is merged.
pub(super) struct Merging<'a> {
    graph: &'a Graph,
    path: &'a TreePath,
    depth: usize,
    item: Option<OperationalItem>,
}

impl<'a> Merging<'a> {
    /// The item at a path, with this many levels below it.
    pub(super) fn new(running: &'a Snapshot, path: &'a TreePath, depth: Option<usize>) -> Merging<'a> {
        Merging { graph: running.graph(), path, depth: depth.unwrap_or(usize::MAX), item: None }
    }

    /// Adds the item at the path.
    pub(super) fn add(&mut self, item: Option<Item>, origin: &Origin) {
        let Some(mut item) = item else { return };
        cut(&mut item, self.depth);
        match &mut self.item {
            None => self.item = Some(OperationalItem::of(item, origin)),
            Some(known) => merge(self.graph, known, item, origin),
        }
    }

    /// True if an item at `at` may be at the path, below it, or around it.
    pub(super) fn concerns(&self, at: &TreePath) -> bool {
        self.path.steps.iter().zip(&at.steps).all(|(own, other)| self.is_same(own, other))
    }

    fn is_same(&self, a: &TreeStep, b: &TreeStep) -> bool {
        match (self.graph.target(a), self.graph.target(b)) {
            (PathTarget::Child(a), PathTarget::Child(b)) => a == b,
            _ => a == b,
        }
    }

    /// Adds the answer of a provider for `at`, which is around the path or below it.
    pub(super) fn add_at(&mut self, at: &TreePath, item: Item, origin: &Origin) -> Result<()> {
        let (own, other) = (&self.path.steps, &at.steps);
        if other.len() <= own.len() {
            let mut found = Some(item);
            for step in &own[other.len()..] {
                found = found.and_then(|item| child_of(self.graph, item, step));
            }
            self.add(found, origin);
            return Ok(());
        }
        // From the inside out: the items on the way exist because the inner one does.
        let mut around = item;
        for step in other[own.len()..].iter().rev() {
            let NameTest::Name(name) = &step.name else { return Ok(()) };
            let keys = step.keys().map(|(_, keys)| keys).unwrap_or_default();
            let is_listed = !keys.is_empty();
            for (key, value) in keys {
                if around.get(key).is_none() {
                    around.properties.push((Arc::clone(key), value.clone()));
                }
            }
            let branch = Branch { name: Arc::clone(name), is_listed, item: around };
            around = Item { children: vec![branch], ..Item::default() };
        }
        self.add(Some(around), origin);
        Ok(())
    }

    pub(super) fn done(self) -> Option<OperationalItem> {
        self.item
    }
}

/// Removes everything more than `depth` levels below.
fn cut(item: &mut Item, depth: usize) {
    match depth {
        0 => item.children.clear(),
        usize::MAX => {}
        _ => item.children.iter_mut().for_each(|child| cut(&mut child.item, depth - 1)),
    }
}

/// The name of a child among its siblings; `None` if a key is missing.
fn name_of<'v>(
    graph: &Graph,
    name: &str,
    is_listed: bool,
    get: impl Fn(&str) -> Option<&'v Value>,
) -> Option<ChildName> {
    match graph.list_type(name).filter(|_| is_listed) {
        Some(list) => graph.listed_name(list, |key| get(key).cloned()),
        None => Some(Graph::own_name(name)),
    }
}

fn child_of(graph: &Graph, item: Item, step: &TreeStep) -> Option<Item> {
    let PathTarget::Child(wanted) = graph.target(step) else { return None };
    let is_it = |child: &Branch| {
        name_of(graph, &child.name, child.is_listed, |key| child.item.get(key)).as_ref() == Some(&wanted)
    };
    item.children.into_iter().find(is_it).map(|child| child.item)
}

fn merge(graph: &Graph, known: &mut OperationalItem, item: Item, origin: &Origin) {
    for (name, value) in item.properties {
        match known.properties.iter_mut().find(|(known, ..)| *known == name) {
            // All origins agree on the keys.
            Some((_, before, _)) if *before == value => {}
            Some((_, before, whose)) => (*before, *whose) = (value, origin.clone()),
            None => known.properties.push((name, value, origin.clone())),
        }
    }
    if item.children.is_empty() {
        return;
    }
    let name_in =
        |child: &OperationalBranch| name_of(graph, &child.name, child.is_listed, |key| child.item.get(key));
    let names: Vec<Option<ChildName>> = known.children.iter().map(name_in).collect();
    // Lists that users have ordered.
    let pairs = names.windows(2).filter_map(|pair| Some((pair[0].as_ref()?, pair[1].as_ref()?)));
    let ordered: HashSet<u32> =
        pairs.filter(|(a, b)| a.group == b.group && a.name > b.name).map(|(a, _)| a.group).collect();
    let places: HashMap<ChildName, usize> =
        names.into_iter().zip(0..).filter_map(|(name, place)| Some((name?, place))).collect();
    for Branch { name, is_listed, item } in item.children {
        let own = name_of(graph, &name, is_listed, |key| item.get(key));
        match own.and_then(|own| places.get(&own)) {
            Some(place) => merge(graph, &mut known.children[*place].item, item, origin),
            None => {
                let item = OperationalItem::of(item, origin);
                known.children.push(OperationalBranch { name, is_listed, item });
            }
        }
    }
    // Items that the ordered origins do not have come after those that they have.
    known.children.sort_by_cached_key(|child| {
        name_in(child).map(|name| (name.group, (!ordered.contains(&name.group)).then_some(name.name)))
    });
}
