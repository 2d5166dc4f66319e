//! Follows look-up paths to what a change of a tree changes.

use std::sync::Arc;

use super::TreeEdit;
use super::place::{child_left, child_of};
use super::plan::{Plan, Rest};
use super::step_name::no_look_up;
use crate::Result;
use crate::graph::Graph;
use crate::graph::structures::child::group_of_type;
use crate::model::{Id, TypeKind};
use crate::read::{ChildSlot, PathTarget};
use crate::tree::{NameTest, PathSteps, TreePath, TreeStep};
use crate::write::limited::writer_graph::WriterGraph;

/// The result of following a path.
pub(super) enum PathEnd {
    /// To an item.
    Item(ChildSlot),
    /// To the root.
    Root(u32),
    /// To a property of the item at this slot.
    Property(u32, Arc<str>),
    /// Nothing is there.
    Nothing,
}

impl TreeEdit<'_> {
    /// The target of a look-up path, with the changes so far.
    pub(super) fn reach(&mut self, path: &TreePath) -> Result<PathEnd> {
        self.reach_along(PathSteps(&path.steps))
    }

    fn reach_along(&mut self, path: PathSteps<'_>) -> Result<PathEnd> {
        let root = self.root.clone();
        let writer = self.transaction.writer_graph()?;
        let graph = writer.graph;
        let is_there = |slot: &u32| graph.entities.is_live(*slot) && writer.walks(TypeKind::Entity, *slot);
        let Some(root) = graph.entities.slot(&root).filter(is_there) else {
            return Ok(PathEnd::Nothing);
        };
        let mut at = PathEnd::Root(root);
        for (number, step) in path.0.iter().enumerate() {
            let PathTarget::Child(name) = graph.target(step) else { return Err(no_look_up(path)) };
            let slot = match &at {
                PathEnd::Root(slot) => *slot,
                PathEnd::Item(child) => child.entity,
                PathEnd::Property(..) | PathEnd::Nothing => return Ok(PathEnd::Nothing),
            };
            let is_last = number + 1 == path.0.len();
            at = match (child_of(writer, slot, &name), &step.name) {
                (Some(child), _) => PathEnd::Item(child),
                (None, NameTest::Name(name))
                    if is_last && writer.sees(TypeKind::Entity, slot) && has_property(graph, slot, name)? =>
                {
                    PathEnd::Property(slot, Arc::clone(name))
                }
                (None, _) => PathEnd::Nothing,
            };
        }
        Ok(at)
    }

    /// The items of the list at a path; `None` if the path does not name a list.
    pub(super) fn list_at(&mut self, path: &TreePath) -> Result<Option<Vec<u32>>> {
        let Some((last, above)) = path.steps.split_last() else { return Ok(None) };
        let graph = self.transaction.own_graph()?.graph();
        let PathTarget::List(list) = graph.target(last) else { return Ok(None) };
        let slot = match self.reach_along(PathSteps(above))? {
            PathEnd::Root(slot) => slot,
            PathEnd::Item(child) => child.entity,
            PathEnd::Property(..) | PathEnd::Nothing => return Ok(Some(Vec::new())),
        };
        let writer = self.transaction.writer_graph()?;
        let relationships = &writer.graph.relationships;
        let links = relationships.lists.children.of_group(slot, group_of_type(list));
        let items = links.map(|link| (link, relationships.known_row(link).ends()[1]));
        let items = items.filter(|(link, item)| writer.walks_to_child(*link, *item));
        let items: Vec<u32> = items.map(|(_, item)| item).collect();
        items.iter().try_for_each(|item| writer.check_seen(*item))?;
        Ok(Some(items))
    }

    /// The target of a look-up path in the base, without what this transaction has removed. `None` if only the base with
    /// all changes so far tells it, or what is wrong with the path.
    pub(super) fn reach_in_base(&mut self, steps: &[TreeStep]) -> Result<Option<PathEnd>> {
        let is_plain = self.transaction.rights.is_none() && self.transaction.own_valid_from().is_none();
        if !is_plain || !self.are_changes_noted() || !self.is_prepared() {
            return Ok(None);
        }
        let Some((last, above)) = steps.split_last() else { return Ok(None) };
        let noted = std::mem::take(&mut self.transaction.noted);
        let mut plan = Plan::new(WriterGraph::all(self.transaction.base.graph()), Rest::Stays, noted);
        let reached = match parent_in_base(&mut plan, &self.root, above) {
            Some(parent) => below_in_base(&plan, parent, last),
            None => Ok(None),
        };
        self.transaction.noted = plan.noted;
        reached
    }
}

/// The item of the base at the end of a path; `None` if there is none, or something is wrong with the path.
fn parent_in_base(plan: &mut Plan<'_>, root: &Id, steps: &[TreeStep]) -> Option<u32> {
    let (known, found) = plan.noted.go_along(root, steps);
    let mut at = match found {
        Some(found) => found.slot?,
        None => plan.graph.entities.slot(root)?,
    };
    for step in &steps[known..] {
        let Ok(Some(PathEnd::Item(child))) = below_in_base(plan, at, step) else { return None };
        at = child.entity;
        plan.noted.go_to(step, plan.parent(at));
    }
    Some(at)
}

/// The target of the last step of a path below an item of the base. `None` if the transaction created it, or something is
/// wrong with the step.
fn below_in_base(plan: &Plan<'_>, parent: u32, step: &TreeStep) -> Result<Option<PathEnd>> {
    let PathTarget::Child(name) = plan.graph.target(step) else { return Ok(None) };
    if plan.noted.child(plan.graph.entities.id(parent), &name).is_some() {
        return Ok(None);
    }
    let child = child_left(plan.writer, parent, &name, &plan.noted);
    Ok(Some(match (child, &step.name) {
        (Some(child), _) => PathEnd::Item(child),
        (None, NameTest::Name(name)) if has_property(plan.graph, parent, name)? => {
            PathEnd::Property(parent, Arc::clone(name))
        }
        (None, _) => PathEnd::Nothing,
    }))
}

fn has_property(graph: &Graph, slot: u32, name: &str) -> Result<bool> {
    let Some(symbol) = graph.names.find(name) else { return Ok(false) };
    Ok(graph.entities.read_value(slot, symbol)?.is_some())
}
