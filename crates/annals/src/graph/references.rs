//! References: from an item, along the path of its attribute, to an item with the value.

use std::sync::Arc;

use super::Graph;
use super::containment::DEPTH_MAX;
use super::index::key::for_each_indexed;
use super::integrity::constraints::{Constraints, Reference};
use super::integrity::values::shown;
use super::structures::child::{NAMED_GROUP, append_name, group_of_type};
use super::structures::symbols::Symbol;
use crate::model::Value;
use crate::{Error, ErrorKind, Result};

/// Most containers that are searched for referring items. If there are more, all items that refer to the value are
/// checked.
const CONTAINERS_MAX: usize = 1024;

impl Graph {
    /// Refuses an entity with a reference that leads to no item.
    pub(super) fn check_references(&self, slot: u32, constraints: &Constraints) -> Result<()> {
        for (attribute, reference) in &constraints.references {
            let Some(value) = self.entities.read_value(slot, *attribute)? else { continue };
            let mut outcome = Ok(());
            for_each_indexed(&value, |scalar| {
                if outcome.is_ok() {
                    outcome = self.check_reference(slot, *attribute, reference, scalar);
                }
            });
            outcome?;
        }
        Ok(())
    }

    fn check_reference(
        &self,
        slot: u32,
        attribute: Symbol,
        reference: &Reference,
        value: &Value,
    ) -> Result<()> {
        let start = self.start_of(slot, reference, |entity| self.container(entity));
        if start.map_or(Ok(false), |start| self.leads_from(start, reference, value))? {
            return Ok(());
        }
        let text = format!(
            "entity {}, attribute {}: expected a value that {} has, found {}, which nothing there has; choose another value, or \
             keep, create or restore what has it",
            self.entities.id(slot),
            self.names.name(attribute),
            reference.path,
            shown(value)
        );
        Err(Error::new(ErrorKind::MissingEnd, text))
    }

    /// The container of an entity.
    pub(super) fn container(&self, entity: u32) -> Option<u32> {
        self.container_link(entity).map(|link| link.other)
    }

    /// The start of the reference of the entity at `slot`; `None` if there are not enough levels above it.
    fn start_of(
        &self,
        slot: u32,
        reference: &Reference,
        container: impl Fn(u32) -> Option<u32>,
    ) -> Option<u32> {
        match reference.levels_up {
            Some(levels) => above(slot, levels, container),
            None => Some(outermost(slot, container)),
        }
    }

    /// Items that may refer to a value which the item at `slot` had at the end of the reference, if no other item there
    /// has it. `container` gives the container of an item at that time.
    ///
    /// Errors: those of reading spilled values.
    pub(super) fn referring_to(
        &self,
        slot: u32,
        (attribute, reference): &(Symbol, Arc<Reference>),
        value: &Value,
        container: impl Fn(u32) -> Option<u32>,
    ) -> Result<Vec<u32>> {
        let start = match reference.levels_up {
            Some(_) => above(slot, reference.steps.len(), container),
            None => Some(outermost(slot, container)),
        };
        // Referring items below it moved together with it, or moved on their own and are checked themselves.
        let Some(start) = start.filter(|start| self.entities.is_live(*start)) else { return Ok(Vec::new()) };
        if self.leads_from(start, reference, value)? {
            return Ok(Vec::new());
        }
        let all = || self.entities.lists.unique.holders(*attribute, value);
        let containers_levels = match reference.levels_up {
            None => return Ok(all()),
            Some(0) => return Ok(vec![start]),
            Some(levels) => levels - 1,
        };
        let mut containers = vec![start];
        for _ in 0..containers_levels {
            containers =
                containers.into_iter().flat_map(|at| self.child_links(at)).map(|link| link.other).collect();
            if containers.len() > CONTAINERS_MAX {
                return Ok(all());
            }
        }
        let referring = containers.into_iter().flat_map(|at| self.referring_in(at, *attribute, value));
        Ok(referring.collect())
    }

    /// True if the reference leads from its start to an item with the value. It follows look-ups as far as possible,
    /// and then searches for the value.
    fn leads_from(&self, start: u32, reference: &Reference, value: &Value) -> Result<bool> {
        let mut at = start;
        for (number, step) in reference.steps.iter().enumerate() {
            let rest = &reference.steps[number..];
            let (group, name) = match (self.list_type(step), rest) {
                (None, _) => {
                    let mut name = Vec::with_capacity(step.len() + 1);
                    append_name(step, &mut name);
                    (NAMED_GROUP, name)
                }
                (Some(list), [_]) if self.keys_of(list) == [reference.leaf] => {
                    let mut name = Vec::with_capacity(32);
                    value.append_exact_key(&mut name);
                    (group_of_type(list), name)
                }
                (Some(_), _) => return self.is_held_below(at, rest, reference.leaf, value),
            };
            let mut found = self.relationships.lists.children.named(at, group, &name);
            let Some(found) = found.next() else { return Ok(false) };
            at = self.relationships.known_row(found).ends()[1];
        }
        self.holds(at, reference.leaf, value)
    }

    /// True if an item with the value is at the end of `steps` from the entity at `top`.
    fn is_held_below(&self, top: u32, steps: &[Arc<str>], leaf: Symbol, value: &Value) -> Result<bool> {
        for holder in self.entities.lists.unique.holders(leaf, value) {
            if self.is_below(top, steps, holder)? && self.holds(holder, leaf, value)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn is_below(&self, top: u32, steps: &[Arc<str>], item: u32) -> Result<bool> {
        let mut at = item;
        for step in steps.iter().rev() {
            let Some(link) = self.container_link(at) else { return Ok(false) };
            let relationship = self.relationships.known(link.relationship)?;
            let Some(child) = self.child_of(&relationship, None)? else { return Ok(false) };
            let is_here = match self.list_type(step) {
                Some(list) => child.group == group_of_type(list),
                None => {
                    let mut name = Vec::with_capacity(step.len() + 1);
                    append_name(step, &mut name);
                    (child.group, child.name) == (NAMED_GROUP, name)
                }
            };
            if !is_here {
                return Ok(false);
            }
            at = link.other;
        }
        Ok(at == top)
    }

    fn holds(&self, slot: u32, leaf: Symbol, value: &Value) -> Result<bool> {
        let held = self.entities.read_value(slot, leaf)?;
        Ok(held.is_some_and(|held| match held {
            Value::Set(held) => held.contains(value),
            held => held == *value,
        }))
    }
}

fn above(slot: u32, levels: usize, container: impl Fn(u32) -> Option<u32>) -> Option<u32> {
    (0..levels).try_fold(slot, |at, _| container(at))
}

fn outermost(slot: u32, container: impl Fn(u32) -> Option<u32>) -> u32 {
    let mut at = slot;
    for _ in 0..DEPTH_MAX {
        match container(at) {
            Some(above) => at = above,
            None => break,
        }
    }
    at
}
