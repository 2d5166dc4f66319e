//! The matches of a path: all items that fulfil its steps, in the order of the tree.

use std::collections::HashSet;

use super::Tree;
use super::children::{ChildSlot, Range};
use super::item::TreeItem;
use super::look_up::Spot;
use super::names::PathTarget;
use crate::Result;
use crate::graph::structures::child::group_of_type;
use crate::graph::structures::symbols::Symbol;
use crate::model::{TypeKind, Value};
use crate::read::operators::filter::condition::Filter;
use crate::search::{Condition, Expression, Field};
use crate::tree::{Axis, NameTest, PlaceTest, TreePath, TreeStep, coerced};

/// The plan for the matches of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathPlan {
    /// True if each step is a look-up: only its target is read.
    pub is_look_up: bool,
    /// The plan of each step.
    pub steps: Vec<String>,
}

/// A step with its names looked up.
struct Step<'p> {
    step: &'p TreeStep,
    target: PathTarget,
    filters: Vec<Filter>,
}

impl<'s> Tree<'s> {
    /// The items and properties that match a path, in the order of the tree; at most `limit` of them.
    ///
    /// Errors: `InvalidExpression` for a predicate that cannot be compared; `Cancelled`; those of reading history.
    pub fn find(&self, path: &TreePath, limit: usize) -> Result<Vec<TreeItem<'s>>> {
        let mut found = Vec::new();
        self.each_match(path, &mut |item| {
            found.push(item);
            Ok(found.len() < limit)
        })?;
        Ok(found)
    }

    /// Calls `take` with the matches of a path, in the order of the tree, until `take` stops it. Errors: as
    /// [`Tree::find`].
    pub fn each_match(
        &self,
        path: &TreePath,
        take: &mut dyn FnMut(TreeItem<'s>) -> Result<bool>,
    ) -> Result<()> {
        let Some(root) = self.root else { return Ok(()) };
        let steps: Vec<Step> = path.steps.iter().map(|step| self.step(step)).collect::<Result<_>>()?;
        self.walk(Spot { entity: root, child: None, property: None }, &steps, take).map(|_| ())
    }

    /// The plan for the matches of a path.
    pub fn explain(&self, path: &TreePath) -> PathPlan {
        let graph = self.snapshot.graph();
        let steps = path.steps.iter().map(|step| match (graph.target(step), step.axis, step.place) {
            (PathTarget::Child(_), ..) => (true, format!("{step}: looks a child up by its name")),
            (PathTarget::List(_), ..) => (false, format!("{step}: walks the children of a list")),
            (PathTarget::Search, Axis::Child, Some(PlaceTest::At(_)))
                if self.list_of(step).is_some() && step.filters.is_empty() =>
            {
                (true, format!("{step}: looks a child up by its place"))
            }
            (PathTarget::Search, Axis::Child, _) if self.list_of(step).is_some() => {
                (false, format!("{step}: walks the children of a list and compares each"))
            }
            (PathTarget::Search, Axis::Child, _) => {
                (false, format!("{step}: walks all children and compares each"))
            }
            (PathTarget::Search, Axis::Descendant, _) => {
                (false, format!("{step}: walks everything below and compares each"))
            }
        });
        let (are_look_ups, steps): (Vec<bool>, Vec<String>) = steps.unzip();
        PathPlan { is_look_up: are_look_ups.into_iter().all(|is_look_up| is_look_up), steps }
    }

    fn step<'p>(&self, step: &'p TreeStep) -> Result<Step<'p>> {
        let graph = self.snapshot.graph();
        let target = graph.target(step);
        let filters = match target {
            PathTarget::Search => {
                let list = self.list_of(step);
                let filters = step.filters.iter().map(|filter| typed(filter, graph, list));
                filters
                    .map(|filter| Filter::new(self.snapshot, TypeKind::Entity, &filter))
                    .collect::<Result<_>>()?
            }
            PathTarget::Child(_) | PathTarget::List(_) => Vec::new(),
        };
        Ok(Step { step, target, filters })
    }

    fn list_of(&self, step: &TreeStep) -> Option<Symbol> {
        match &step.name {
            NameTest::Name(name) => self.snapshot.graph().list_type(name),
            NameTest::Any => None,
        }
    }

    /// Returns whether more matches are wanted.
    fn walk(
        &self,
        spot: Spot,
        steps: &[Step],
        take: &mut dyn FnMut(TreeItem<'s>) -> Result<bool>,
    ) -> Result<bool> {
        let Some((step, rest)) = steps.split_first() else {
            return self.spot_item(spot)?.map_or(Ok(true), take);
        };
        self.snapshot.check_cancelled()?;
        match (&step.target, step.step.axis) {
            (_, Axis::Descendant) => return self.walk_below(spot, step, rest, take),
            (PathTarget::Child(name), Axis::Child) => {
                if let Some(child) = self.snapshot.child_named(spot.entity, name)? {
                    return self.walk(Spot::of(child), rest, take);
                }
            }
            (PathTarget::List(_) | PathTarget::Search, Axis::Child) => {
                for child in self.matching(spot.entity, step)? {
                    if !self.walk(Spot::of(child), rest, take)? {
                        return Ok(false);
                    }
                }
            }
        }
        self.walk_property(spot, step, rest, take)
    }

    /// The property that the last step names.
    fn walk_property(
        &self,
        spot: Spot,
        step: &Step,
        rest: &[Step],
        take: &mut dyn FnMut(TreeItem<'s>) -> Result<bool>,
    ) -> Result<bool> {
        if !rest.is_empty() || matches!(step.target, PathTarget::List(_)) {
            return Ok(true);
        }
        let Some(property) = self.property_named(spot.entity, step.step)? else { return Ok(true) };
        self.spot_item(Spot { property: Some(property), ..spot })?.map_or(Ok(true), take)
    }

    /// The matches of a step any number of levels below an item: first its children, then the subtree of each.
    fn walk_below(
        &self,
        spot: Spot,
        step: &Step,
        rest: &[Step],
        take: &mut dyn FnMut(TreeItem<'s>) -> Result<bool>,
    ) -> Result<bool> {
        // As of a valid time an item may be in several containers, and below itself: what it contains is visited once.
        let (mut stack, mut passed) = (vec![spot], HashSet::new());
        while let Some(spot) = stack.pop() {
            self.snapshot.check_cancelled()?;
            if !self.snapshot.is_plain() && !passed.insert(spot.entity) {
                continue;
            }
            if !self.walk_property(spot, step, rest, take)? {
                return Ok(false);
            }
            for child in self.matching(spot.entity, step)? {
                if !self.walk(Spot::of(child), rest, take)? {
                    return Ok(false);
                }
            }
            let first = stack.len();
            self.snapshot.each_child(spot.entity, Range::default(), &mut |placed| {
                stack.push(Spot::of(placed.child));
                Ok(true)
            })?;
            stack[first..].reverse();
        }
        Ok(true)
    }

    /// The children of an entity that match a step.
    fn matching(&self, parent: u32, step: &Step) -> Result<Vec<ChildSlot>> {
        let TreeStep { name, place, .. } = step.step;
        let list = self.list_of(step.step);
        if let (Some(list), Some(PlaceTest::At(place)), []) = (list, place, &step.filters[..]) {
            return Ok(self.child_at(parent, group_of_type(list), Some(*place))?.into_iter().collect());
        }
        let mut found = Vec::new();
        let own_name = match (name, list) {
            (NameTest::Name(name), None) => Some(crate::graph::Graph::own_name(name)),
            _ => None,
        };
        let mut add = |child: ChildSlot| -> Result<()> {
            let Some(held) = self.snapshot.walked(TypeKind::Entity, child.entity)? else {
                return Ok(());
            };
            // A condition would ask for more than its name.
            if !step.filters.is_empty() && self.snapshot.only_leads(TypeKind::Entity, child.entity) {
                return Ok(());
            }
            for filter in &step.filters {
                if !filter.holds(self.snapshot, child.entity, &held)? {
                    return Ok(());
                }
            }
            found.push(child);
            Ok(())
        };
        match own_name {
            Some(name) => self.snapshot.child_named(parent, &name)?.into_iter().try_for_each(&mut add)?,
            None => {
                let range = Range { group: list.map(group_of_type), ..Range::default() };
                self.snapshot.each_child(parent, range, &mut |placed| {
                    self.snapshot.check_cancelled()?;
                    add(placed.child).map(|()| true)
                })?;
            }
        }
        Ok(match place {
            None => found,
            Some(PlaceTest::At(place)) => found.into_iter().skip(place - 1).take(1).collect(),
            Some(PlaceTest::Last) => found.pop().into_iter().collect(),
        })
    }
}

/// The same condition with values of the types that a list declares: a path may have each as a text.
fn typed(filter: &Expression, graph: &crate::graph::Graph, list: Option<Symbol>) -> Expression {
    let Some(declared) = list.and_then(|list| graph.types.get(TypeKind::Entity, list)) else {
        return filter.clone();
    };
    let all = |parts: &[Expression]| parts.iter().map(|part| typed(part, graph, list)).collect();
    match filter {
        Expression::All(parts) => Expression::All(all(parts)),
        Expression::Any(parts) => Expression::Any(all(parts)),
        Expression::None(parts) => Expression::None(all(parts)),
        Expression::Condition(condition) if !condition.operator.is_textual() => {
            let Field::Property(name) = &condition.field else { return filter.clone() };
            let symbol = graph.names.find(name);
            let Some(attribute) = symbol.and_then(|name| declared.attributes.get(&name)) else {
                return filter.clone();
            };
            let read = |value: &Value| coerced(value, attribute.definition.value_type);
            let values = condition.values.iter().map(read).collect();
            Expression::Condition(Condition { values, ..condition.clone() })
        }
        other => other.clone(),
    }
}
