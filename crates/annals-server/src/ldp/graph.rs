//! The graph of a resource: reads it from entities, properties and relationships, and passes on each triple.

use annals::{Direction, Entity, Value, ValueRef};
use oxrdf::{NamedNodeRef, NamedOrBlankNode};

use super::facts;
use super::inbound;
use super::membership;
use super::model::Model;
use super::prefer::Selection;
use super::term::term_of;
use super::triples::{Sink, each_value, emit};
use super::types::{CONTAINS, PART, is_predicate};
use super::view::View;
use super::vocabulary::{self, LDP};
use crate::problem::Problem;

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
        for class in model.classes() {
            let class = format!("{LDP}{class}");
            emit(&subject, vocabulary::TYPE, NamedNodeRef::new_unchecked(&class).into(), sink)?;
        }
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

/// The properties whose names are predicates.
fn each_property(
    view: View<'_>,
    entity: &Entity<'_>,
    subject: &NamedOrBlankNode,
    sink: &mut Sink<'_>,
) -> Result<(), Problem> {
    for (name, value) in entity.property_refs().filter(|(name, _)| is_predicate(name)) {
        match value {
            ValueRef::String(text) => {
                let literal = oxrdf::LiteralRef::new_simple_literal(text);
                emit(subject, name, literal.into(), sink)?;
            }
            ValueRef::Other(value) => each_value(&value, |value| match term_of(value, view.base) {
                Some(term) => emit(subject, name, term.as_ref(), sink),
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
            CONTAINS if selection.has_containment => vocabulary::CONTAINS,
            name if is_predicate(name) && selection.has_own => name,
            _ => continue,
        };
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
