//! The graph of a resource: reads it from entities, properties and relationships, and passes on each triple.

use annals::{Direction, Entity, Value, ValueRef};
use oxrdf::NamedOrBlankNode;

use super::facts;
use super::inbound;
use super::membership;
use super::model::Model;
use super::prefer::Selection;
use super::stored_names::predicate;
use super::term::term_of;
use super::triples::{Sink, each_value, emit};
use super::view::View;
use super::vocabulary::{self, LDP, node_in};
use crate::ldp_types::{CONTAINS, PART};
use crate::protocol::problem::Problem;

/// Passes on the triples of a resource that a client selected.
///
/// Errors: those of reading; those of the sink.
pub fn each_triple(
    view: View<'_>,
    entity: &Entity<'_>,
    model: Model,
    selection: Selection,
    sink: &mut Sink<'_>,
) -> Result<(), Problem> {
    let Some(subject) = view.node(entity) else { return Ok(()) };
    if selection.has_managed {
        each_class(model, &subject, sink)?;
        if model == Model::NonRdfSource {
            facts::each_triple(entity, &subject, sink)?;
        }
    }
    if selection.has_own {
        each_property(view, entity, &subject, sink)?;
    }
    if selection.has_own || selection.has_containment {
        each_link(view, entity, &subject, selection, sink)?;
    }
    if selection.has_own {
        for node in entity.neighbors(Direction::Out, Some(PART)).entities() {
            let node = node?;
            let Some(subject) = view.node(&node) else { continue };
            each_property(view, &node, &subject, sink)?;
            each_link(view, &node, &subject, selection, sink)?;
        }
    }
    if selection.has_membership {
        membership::each_triple(view, entity, &subject, sink)?;
    }
    if selection.has_inbound {
        inbound::each_triple(view, entity, &subject, sink)?;
    }
    Ok(())
}

/// The classes of LDP that a resource of a model belongs to.
pub fn each_class(model: Model, subject: &NamedOrBlankNode, sink: &mut Sink<'_>) -> Result<(), Problem> {
    let kind = vocabulary::node(vocabulary::TYPE);
    let mut classes = model.classes().iter();
    classes.try_for_each(|class| emit(subject, kind, node_in(LDP, class).as_ref().into(), sink))
}

/// The properties whose names are predicates.
fn each_property(
    view: View<'_>,
    entity: &Entity<'_>,
    subject: &NamedOrBlankNode,
    sink: &mut Sink<'_>,
) -> Result<(), Problem> {
    for (name, value) in entity.property_refs() {
        let Some(predicate) = predicate(name) else { continue };
        match value {
            ValueRef::String(text) => {
                let literal = oxrdf::LiteralRef::new_simple_literal(text);
                emit(subject, predicate, literal.into(), sink)?;
            }
            ValueRef::Other(value) => each_value(&value, |value| match term_of(value, view.base) {
                Some(term) => emit(subject, predicate, term.as_ref(), sink),
                None => Ok(()),
            })?,
        }
    }
    Ok(())
}

/// The relationships whose types are predicates, and the children.
fn each_link(
    view: View<'_>,
    entity: &Entity<'_>,
    subject: &NamedOrBlankNode,
    selection: Selection,
    sink: &mut Sink<'_>,
) -> Result<(), Problem> {
    for neighbor in entity.neighbors(Direction::Out, None) {
        let neighbor = neighbor?;
        let type_name = neighbor.relationship.type_name();
        let predicate = match type_name {
            CONTAINS if selection.has_containment => Some(vocabulary::node(vocabulary::CONTAINS)),
            name if selection.has_own => predicate(name),
            _ => None,
        };
        let Some(predicate) = predicate else { continue };
        if type_name == CONTAINS && !view.is_readable(&neighbor.entity)? {
            continue;
        }
        if let Some(object) = view.node(&neighbor.entity) {
            emit(subject, predicate, object.as_ref().into(), sink)?;
        }
    }
    Ok(())
}

/// Number of values that an entity has.
pub fn values_count(entity: &Entity<'_>) -> usize {
    let count = |(_, value): (&str, ValueRef<'_>)| match value {
        ValueRef::String(text) => 1 + text.len() / LONG_TEXT_BYTES,
        ValueRef::Other(value) => match &*value {
            Value::Set(set) => set.len(),
            _ => 1,
        },
    };
    entity.property_refs().map(count).sum()
}

/// A text of this length counts as a further value. Units: bytes.
const LONG_TEXT_BYTES: usize = 256;
