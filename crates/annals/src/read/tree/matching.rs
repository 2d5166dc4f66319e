//! What a path leads to: one item by a look-up, or all that fulfil it.

use super::Tree;
use super::children::{ChildSlot, Range};
use super::item::TreeItem;
use super::names::Target;
use crate::graph::structures::child::group_of_type;
use crate::graph::structures::symbols::Symbol;
use crate::model::{TypeKind, Value};
use crate::read::find::Filter;
use crate::search::{Condition, Expression, Field};
use crate::tree::{Axis, NameTest, PlaceTest, TreePath, TreeStep, coerced};
use crate::{Error, ErrorKind, Result};

/// How the matches of a path are found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathPlan {
    /// True if each step is a look-up: nothing but what it leads to is looked at.
    pub is_look_up: bool,
    /// What each step does.
    pub steps: Vec<String>,
}

/// Where a look-up ends.
#[derive(Clone, Debug)]
pub(crate) struct Spot {
    pub(crate) entity: u32,
    /// How it is contained; `None` for the root.
    pub(crate) child: Option<ChildSlot>,
    pub(crate) property: Option<Symbol>,
}

/// A step with its names looked up.
struct Step<'p> {
    step: &'p TreeStep,
    target: Target,
    filters: Vec<Filter>,
}

impl<'s> Tree<'s> {
    /// The item, or the property, that a path leads to.
    ///
    /// Shape: `None` if it leads to nothing. Errors: `InvalidArgument` if it leads to several; those of [`Tree::find`].
    pub fn item(&self, path: &TreePath) -> Result<Option<TreeItem<'s>>> {
        if let Some(spot) = self.look_up_plain(path)? {
            return spot.map_or(Ok(None), |spot| self.spot_item(path, &spot));
        }
        let mut found = self.find(path, 2)?;
        if found.len() > 1 {
            let text = format!(
                "path {path}: expected one item, found several, such as {} and {}",
                found[0].path, found[1].path
            );
            return Err(Error::new(ErrorKind::InvalidArgument, text));
        }
        Ok(found.pop())
    }

    /// The items, and properties, that a path leads to, in the order of the tree; at most `limit` of them.
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

    /// Calls `take` with what a path leads to, in the order of the tree, until it says that it has enough. Errors: as [`Tree::find`].
    pub fn each_match(
        &self,
        path: &TreePath,
        take: &mut dyn FnMut(TreeItem<'s>) -> Result<bool>,
    ) -> Result<()> {
        let Some(root) = self.root else { return Ok(()) };
        let steps: Vec<Step> = path.steps.iter().map(|step| self.step(step)).collect::<Result<_>>()?;
        let spot = Spot { entity: root, child: None, property: None };
        self.walk(&TreePath::root(), &spot, &steps, take).map(|_| ())
    }

    /// How the matches of a path are found.
    pub fn explain(&self, path: &TreePath) -> PathPlan {
        let graph = self.snapshot.graph();
        let steps = path.steps.iter().map(|step| match (graph.target(step), step.axis, step.place) {
            (Target::Child(_), ..) => (true, format!("{step}: looks a child up by its name")),
            (Target::List(_), ..) => (false, format!("{step}: walks the children of a list")),
            (Target::Search, Axis::Child, Some(PlaceTest::At(_)))
                if self.list_of(step).is_some() && step.filters.is_empty() =>
            {
                (true, format!("{step}: looks a child up by its place"))
            }
            (Target::Search, Axis::Child, _) if self.list_of(step).is_some() => {
                (false, format!("{step}: walks the children of a list and compares each"))
            }
            (Target::Search, Axis::Child, _) => {
                (false, format!("{step}: walks all children and compares each"))
            }
            (Target::Search, Axis::Descendant, _) => {
                (false, format!("{step}: walks everything below and compares each"))
            }
        });
        let (are_look_ups, steps): (Vec<bool>, Vec<String>) = steps.unzip();
        PathPlan { is_look_up: are_look_ups.into_iter().all(|is_look_up| is_look_up), steps }
    }

    /// The path to an entity; `None` if this tree does not contain it.
    ///
    /// Errors: those of reading history.
    pub fn path_of(&self, id: &crate::Id) -> Result<Option<TreePath>> {
        let Some(mut at) = self.snapshot.slot_of(TypeKind::Entity, id) else { return Ok(None) };
        if !self.snapshot.sees(TypeKind::Entity, at) {
            return Ok(None);
        }
        let mut steps = Vec::new();
        while Some(at) != self.root {
            let Some(link) = self.snapshot.container_seen(at)? else { return Ok(None) };
            let child = ChildSlot { relationship: link.relationship, entity: at };
            let Some(step) = self.snapshot.step_to(child)? else { return Ok(None) };
            steps.push(step);
            at = link.other;
        }
        steps.reverse();
        Ok(Some(TreePath { steps }))
    }

    /// Where a path of look-ups leads.
    ///
    /// Errors: `InvalidArgument` if it is another path.
    pub(crate) fn look_up(&self, path: &TreePath) -> Result<Option<Spot>> {
        self.look_up_plain(path)?.ok_or_else(|| {
            let text =
                format!("path {path}: expected the path of one item: names, and all keys of items in lists");
            Error::new(ErrorKind::InvalidArgument, text)
        })
    }

    /// The same; outer `None` if it is another path.
    fn look_up_plain(&self, path: &TreePath) -> Result<Option<Option<Spot>>> {
        let Some(root) = self.root else { return Ok(Some(None)) };
        let mut spot = Spot { entity: root, child: None, property: None };
        for (number, step) in path.steps.iter().enumerate() {
            let Target::Child(name) = self.snapshot.graph().target(step) else { return Ok(None) };
            spot = match self.snapshot.child_named(spot.entity, &name)? {
                Some(child) => Spot { entity: child.entity, child: Some(child), property: None },
                None if number + 1 == path.steps.len() => match self.property_named(spot.entity, step)? {
                    Some(property) => Spot { property: Some(property), ..spot },
                    None => return Ok(Some(None)),
                },
                None => return Ok(Some(None)),
            };
        }
        Ok(Some(Some(spot)))
    }

    fn property_named(&self, entity: u32, step: &TreeStep) -> Result<Option<Symbol>> {
        let NameTest::Name(name) = &step.name else { return Ok(None) };
        let is_plain = step.filters.is_empty() && step.place.is_none();
        let Some(symbol) = self.snapshot.graph().names.find(name).filter(|_| is_plain) else {
            return Ok(None);
        };
        let Some(held) = self.snapshot.seen(TypeKind::Entity, entity, false)? else { return Ok(None) };
        let value = self.snapshot.value(TypeKind::Entity, entity, &held, symbol);
        Ok(value.map(|_| symbol))
    }

    /// What a look-up leads to, as an item.
    fn spot_item(&self, path: &TreePath, spot: &Spot) -> Result<Option<TreeItem<'s>>> {
        let mut above = TreePath { steps: path.steps.clone() };
        if spot.property.is_some() {
            above.steps.pop();
        }
        above.steps.pop();
        let item = match spot.child {
            Some(child) => self.child_item(&above, child)?,
            None => self.snapshot.entity_at(spot.entity)?.map(|entity| TreeItem {
                path: TreePath::root(),
                entity,
                relationship: None,
                property: None,
            }),
        };
        Ok(item.map(|item| with_property(self.snapshot, item, spot.property)))
    }

    fn step<'p>(&self, step: &'p TreeStep) -> Result<Step<'p>> {
        let graph = self.snapshot.graph();
        let target = graph.target(step);
        let filters = match target {
            Target::Search => {
                let list = self.list_of(step);
                let filters = step.filters.iter().map(|filter| typed(filter, graph, list));
                filters.map(|filter| Filter::new(self.snapshot, &filter)).collect::<Result<_>>()?
            }
            Target::Child(_) | Target::List(_) => Vec::new(),
        };
        Ok(Step { step, target, filters })
    }

    fn list_of(&self, step: &TreeStep) -> Option<Symbol> {
        match &step.name {
            NameTest::Name(name) => self.snapshot.graph().list_type(name),
            NameTest::Any => None,
        }
    }

    /// Tells whether more matches are wanted.
    fn walk(
        &self,
        above: &TreePath,
        spot: &Spot,
        steps: &[Step],
        take: &mut dyn FnMut(TreeItem<'s>) -> Result<bool>,
    ) -> Result<bool> {
        let Some((step, rest)) = steps.split_first() else {
            let item = self.spot_item(above, spot)?;
            return item.map_or(Ok(true), take);
        };
        self.snapshot.check_cancelled()?;
        if step.step.axis == Axis::Descendant {
            return self.walk_below(above, spot.entity, step, rest, take);
        }
        let property = match rest.is_empty() && !matches!(step.target, Target::List(_)) {
            true => self.property_named(spot.entity, step.step)?,
            false => None,
        };
        match &step.target {
            Target::Child(name) => {
                if let Some(child) = self.snapshot.child_named(spot.entity, name)? {
                    return self.walk_child(above, child, rest, take);
                }
            }
            _ => {
                for child in self.matching(spot.entity, step)? {
                    if !self.walk_child(above, child, rest, take)? {
                        return Ok(false);
                    }
                }
            }
        }
        match property {
            Some(_) => {
                let path = above.clone().child(step.step.clone());
                let item = self.spot_item(&path, &Spot { property, ..spot.clone() })?;
                item.map_or(Ok(true), take)
            }
            None => Ok(true),
        }
    }

    fn walk_child(
        &self,
        above: &TreePath,
        child: ChildSlot,
        rest: &[Step],
        take: &mut dyn FnMut(TreeItem<'s>) -> Result<bool>,
    ) -> Result<bool> {
        let Some(step) = self.snapshot.step_to(child)? else { return Ok(true) };
        let spot = Spot { entity: child.entity, child: Some(child), property: None };
        self.walk(&above.clone().child(step), &spot, rest, take)
    }

    /// The matches of a step any number of levels below an entity: each child that matches, then what is below it.
    fn walk_below(
        &self,
        above: &TreePath,
        entity: u32,
        step: &Step,
        rest: &[Step],
        take: &mut dyn FnMut(TreeItem<'s>) -> Result<bool>,
    ) -> Result<bool> {
        let mut stack = vec![(above.clone(), entity, None)];
        while let Some((path, entity, child)) = stack.pop() {
            self.snapshot.check_cancelled()?;
            let spot = Spot { entity, child, property: None };
            let here = Step {
                step: &TreeStep { axis: Axis::Child, ..step.step.clone() },
                target: Target::Search,
                filters: Vec::new(),
            };
            if rest.is_empty()
                && let Some(symbol) = self.property_named(entity, here.step)?
            {
                let path = path.clone().child(here.step.clone());
                let item = self.spot_item(&path, &Spot { property: Some(symbol), ..spot.clone() })?;
                if let Some(item) = item
                    && !take(item)?
                {
                    return Ok(false);
                }
            }
            for child in self.matching(entity, step)? {
                if !self.walk_child(&path, child, rest, take)? {
                    return Ok(false);
                }
            }
            let mut below = Vec::new();
            self.snapshot.each_child(entity, Range::default(), &mut |placed| {
                below.push(placed.child);
                Ok(true)
            })?;
            for child in below.into_iter().rev() {
                if let Some(step) = self.snapshot.step_to(child)? {
                    stack.push((path.clone().child(step), child.entity, Some(child)));
                }
            }
        }
        Ok(true)
    }

    /// The children of an entity that a step means.
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
        let mut admit = |child: ChildSlot| -> Result<()> {
            let Some(held) = self.snapshot.seen(TypeKind::Entity, child.entity, false)? else {
                return Ok(());
            };
            for filter in &step.filters {
                if !filter.holds(self.snapshot, child.entity, &held)? {
                    return Ok(());
                }
            }
            found.push(child);
            Ok(())
        };
        match own_name {
            Some(name) => self.snapshot.child_named(parent, &name)?.into_iter().try_for_each(&mut admit)?,
            None => {
                let range = Range { group: list.map(group_of_type), ..Range::default() };
                self.snapshot.each_child(parent, range, &mut |placed| {
                    self.snapshot.check_cancelled()?;
                    admit(placed.child).map(|()| true)
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

fn with_property<'s>(
    snapshot: &'s crate::read::snapshot::Snapshot,
    item: TreeItem<'s>,
    property: Option<Symbol>,
) -> TreeItem<'s> {
    let Some(symbol) = property else { return item };
    let name = snapshot.graph().names.name(symbol);
    let value = item.entity.property(name);
    let path = item.path.clone().child(TreeStep::named(name));
    TreeItem { path, property: value.map(|value| (name.to_string(), value)), ..item }
}

/// The same condition with values of the types that a list declares: a path may write each as a text.
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
