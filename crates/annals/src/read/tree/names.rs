//! Finds the child that a step of a path names, and the step of a child.

use std::sync::Arc;

use super::children::ChildSlot;
use crate::Result;
use crate::graph::Graph;
use crate::graph::structures::child::ChildGroup;
use crate::graph::structures::child::{NAMED_GROUP, append_name, group_of_type};
use crate::graph::structures::link::Link;
use crate::graph::structures::symbols::Symbol;
use crate::model::{Direction, TypeKind, Value};
use crate::read::operators::expand::Expand;
use crate::read::operators::link_types::LinkTypes;
use crate::read::past::held::Held;
use crate::read::snapshot::Snapshot;
use crate::tree::{TreeStep, coerced};

/// The name of a child, in the form for keys.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ChildName {
    pub(crate) group: u32,
    pub(crate) name: Vec<u8>,
}

/// The target of a step.
pub(crate) enum PathTarget {
    /// One child.
    Child(ChildName),
    /// All children of a list.
    List(Symbol),
    /// Another target, which only a search finds.
    Search,
}

impl Graph {
    /// The name of a child that has a name of its own.
    pub(crate) fn own_name(name: &str) -> ChildName {
        let mut bytes = Vec::with_capacity(name.len() + 1);
        append_name(name, &mut bytes);
        ChildName { group: NAMED_GROUP.0, name: bytes }
    }

    /// The name of a child in the list of a type with keys; `None` if `value` lacks one of them.
    pub(crate) fn listed_name(
        &self,
        type_name: Symbol,
        mut value: impl FnMut(&Arc<str>) -> Option<Value>,
    ) -> Option<ChildName> {
        let declared = self.types.get(TypeKind::Entity, type_name)?;
        let mut name = Vec::with_capacity(32);
        for key in &declared.keys {
            let attribute = &declared.attributes.get(key)?.definition;
            coerced(&value(&attribute.name)?, attribute.value_type).append_exact_key(&mut name);
        }
        Some(ChildName { group: group_of_type(type_name).0, name })
    }

    /// The target of a step.
    pub(crate) fn target(&self, step: &TreeStep) -> PathTarget {
        let Some((name, keys)) = step.keys() else { return PathTarget::Search };
        match (self.list_type(name), &keys[..]) {
            (Some(list), []) => PathTarget::List(list),
            (Some(list), _) => {
                let is_each_a_key = keys.len() == self.keys_of(list).len();
                let find = |key: &Arc<str>| {
                    keys.iter().find(|(name, _)| *name == key).map(|(_, value)| (*value).clone())
                };
                match self.listed_name(list, find).filter(|_| is_each_a_key) {
                    Some(name) => PathTarget::Child(name),
                    None => PathTarget::Search,
                }
            }
            (None, []) => PathTarget::Child(Graph::own_name(name)),
            (None, _) => PathTarget::Search,
        }
    }
}

impl Snapshot {
    /// The child with this name.
    pub(crate) fn child_named(&self, parent: u32, name: &ChildName) -> Result<Option<ChildSlot>> {
        let graph = self.graph();
        let children = &graph.relationships.lists.children;
        let group = ChildGroup(name.group);
        let present = children.named(parent, group, &name.name);
        if self.is_plain() {
            let found = { present }.next();
            return Ok(found.map(|relationship| {
                let [_, entity] = graph.relationships.known_row(relationship).ends();
                ChildSlot { relationship, entity }
            }));
        }
        let past: Vec<u32> = present.chain(children.once_named(parent, group, &name.name)).collect();
        for relationship in past {
            let Some(link) = self.containment_then(relationship)? else { continue };
            let child = self.child_then(link)?;
            if child
                .is_some_and(|child| (child.parent, child.group, &child.name) == (parent, group, &name.name))
            {
                return Ok(Some(ChildSlot { relationship, entity: link.other }));
            }
        }
        Ok(None)
    }

    /// The link of a relationship in this snapshot.
    fn containment_then(&self, relationship: u32) -> Result<Option<Link>> {
        let kind = TypeKind::Relationship;
        let Some(held) = self.walked(kind, relationship)? else { return Ok(None) };
        let row = self.row(kind, relationship, &held);
        Ok(Some(Link { type_name: row.type_name(), relationship, other: row.ends()[1] }))
    }

    /// The link that contains an entity, from the side of the entity; the first one if there are several.
    pub(crate) fn container_seen(&self, entity: u32) -> Result<Option<Link>> {
        Ok(self.containers_seen(entity).next())
    }

    /// The links that contain an entity, from the side of the entity. As of a valid time there may be several, and they
    /// may lead back to the entity, because the rules of containers hold for the present.
    pub(crate) fn containers_seen(&self, entity: u32) -> impl Iterator<Item = Link> {
        let is_plain = self.is_plain();
        let others = (!is_plain).then(|| {
            let types = LinkTypes::Several(self.graph().types.containments.clone());
            Expand::new(self, types).along_ways().links(entity, Direction::In, None)
        });
        let present = if is_plain { self.graph().container_link(entity) } else { None };
        present.into_iter().chain(others.into_iter().flatten())
    }

    /// The step of a path from its parent to a child.
    pub(crate) fn step_to(&self, child: ChildSlot) -> Result<Option<TreeStep>> {
        let graph = self.graph();
        let (Some(relationship), Some(entity)) = (
            self.walked(TypeKind::Relationship, child.relationship)?,
            self.walked(TypeKind::Entity, child.entity)?,
        ) else {
            return Ok(None);
        };
        Ok(self.step_of(graph, child, &relationship, &entity))
    }

    fn step_of(
        &self,
        graph: &Graph,
        child: ChildSlot,
        relationship: &Held,
        entity: &Held,
    ) -> Option<TreeStep> {
        let kind = TypeKind::Relationship;
        let type_name = self.row(TypeKind::Entity, child.entity, entity).type_name();
        let keys = graph.keys_of(type_name);
        if keys.is_empty() {
            let rule = graph.containment(self.row(kind, child.relationship, relationship).type_name())?;
            let name = self.value(kind, child.relationship, relationship, rule.name)?;
            return Some(TreeStep::named(name.as_str()?));
        }
        let mut values = Vec::with_capacity(keys.len());
        for key in keys {
            let value = self.value(TypeKind::Entity, child.entity, entity, *key)?;
            values.push((Arc::clone(graph.names.name(*key)), value));
        }
        Some(TreeStep::named(graph.names.name(type_name)).with_keys(values))
    }
}
