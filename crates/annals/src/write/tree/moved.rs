//! Moves a child to another parent, or to another name and place in its own.

use std::sync::Arc;

use super::place::{self, Insert};
use super::plan::{Plan, Rest, not_ordered};
use super::step_name::named;
use crate::graph::actions as action;
use crate::graph::structures::child::{ChildGroup, NAME_PROPERTY, ORDER_PROPERTY};
use crate::model::{Action, Id, InstanceId, NewRelationship, Patch, Value};
use crate::read::ChildSlot;
use crate::tree::{Item, PathSteps, TreeStep};
use crate::write::build::noted::Noted;
use crate::write::limited::writer_graph::WriterGraph;
use crate::{Error, ErrorKind, Result};

/// The changes that move a child.
///
/// A new relationship leads to it from another parent, so that purging the old parent leaves the child in place.
pub(super) fn moved(
    writer: WriterGraph,
    child: ChildSlot,
    parent: u32,
    step: &TreeStep,
    place: Option<&Insert>,
) -> Result<Vec<Action>> {
    let graph = writer.graph;
    let path = PathSteps(std::slice::from_ref(step));
    let (name, is_listed, keys) = named(graph, step, path)?;
    let mut plan = Plan::new(writer, Rest::Stays, Noted::default());
    let (parent, known) = (plan.parent(parent), plan.parent(child.entity));
    let mut item = Item { type_name: Some(Arc::clone(&known.type_name)), properties: keys, ..Item::new() };
    if is_listed == graph.keys_of(graph.entities.known_row(child.entity).type_name()).is_empty() {
        let text = format!(
            "path {path}: an item with keys stays in lists of its type {}, and others have names",
            known.type_name
        );
        return Err(Error::new(ErrorKind::InvalidArgument, text));
    }
    let kind = plan.kind(&name, is_listed, &item)?;
    let containing = plan.containing(&parent, &known.type_name)?;
    let relationship = graph.relationships.known(child.relationship)?;
    let instance = InstanceId::Relationship(relationship.id.clone());
    let is_elsewhere = graph.entities.id(relationship.ends[0]) != &parent.id;
    let mut changed: Vec<(&str, Value)> = Vec::new();
    if containing.is_ordered && (is_elsewhere || place.is_some()) {
        let slot = parent.slot.expect("it is there");
        let gap = place::gap(writer, slot, ChildGroup(kind.name.group), place.unwrap_or(&Insert::Last))?;
        changed.push((ORDER_PROPERTY, Value::Bytes(gap.order(place::step_of(&Id::random()))?.into())));
    } else if place.is_some() && !containing.is_ordered {
        return Err(not_ordered(&containing.type_name));
    }
    if let Some(own_name) = &kind.own_name {
        changed.push((NAME_PROPERTY, Value::String(Arc::clone(own_name))));
    }
    item.type_name = None;
    if !is_elsewhere {
        for (name, value) in changed {
            let patch = Patch::new().set(name, value);
            plan.actions.push(action::Update { instance: instance.clone(), patch, provenance: None }.into());
        }
        plan.change(&known, &item, kind.properties)?;
        return Ok(plan.actions);
    }
    let mut contains = NewRelationship::new(&containing.type_name, parent.id, known.id.clone());
    for (symbol, value) in relationship.properties.iter() {
        let name = graph.names.name(symbol);
        if ![NAME_PROPERTY, ORDER_PROPERTY].contains(&&**name) {
            contains.properties.push((Arc::clone(name), value.clone()));
        }
    }
    contains.properties.extend(changed.into_iter().map(|(name, value)| (name.into(), value)));
    // Order: a child that nothing contains has no name, so its keys can change freely.
    plan.actions.push(action::Delete { instance }.into());
    plan.change(&known, &item, kind.properties)?;
    plan.actions.push(contains.into());
    Ok(plan.actions)
}
