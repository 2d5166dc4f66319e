//! Triples one by one: passes them on, and reads the objects of one predicate.

use annals::{Direction, Entity, Value};
use oxrdf::{NamedNode, NamedNodeRef, NamedOrBlankNode, NamedOrBlankNodeRef, Term, TermRef, TripleRef};

use super::term::term_of;
use super::view::View;
use crate::protocol::problem::Problem;

/// Receives triples, one by one.
pub type Sink<'s> = dyn FnMut(TripleRef<'_>) -> Result<(), Problem> + 's;

/// Passes on a triple.
pub fn emit(
    subject: &NamedOrBlankNode,
    predicate: NamedNodeRef<'_>,
    object: TermRef<'_>,
    sink: &mut Sink<'_>,
) -> Result<(), Problem> {
    let subject: NamedOrBlankNodeRef<'_> = subject.as_ref();
    sink(TripleRef::new(subject, predicate, object))
}

/// The values of a property, one by one.
pub fn each_value(value: &Value, mut take: impl FnMut(&Value) -> Result<(), Problem>) -> Result<(), Problem> {
    match value {
        Value::Set(set) => set.iter().try_for_each(|value| take(&value)),
        other => take(other),
    }
}

/// The objects of a predicate of a resource.
pub fn each_object(
    view: View<'_>,
    entity: &Entity<'_>,
    predicate: &str,
    mut take: impl FnMut(Term) -> Result<(), Problem>,
) -> Result<(), Problem> {
    if let Some(value) = entity.property(predicate) {
        each_value(&value, |value| term_of(value, view.base).map_or(Ok(()), &mut take))?;
    }
    for target in entity.neighbors(Direction::Out, Some(predicate)).entities() {
        if let Some(node) = view.node(&target?) {
            take(node.into())?;
        }
    }
    Ok(())
}

/// An IRI that a property of a resource holds.
pub fn iri_property(view: View<'_>, entity: &Entity<'_>, predicate: &str) -> Option<NamedNode> {
    match entity.property(predicate)? {
        Value::Iri(iri) => NamedNode::new(view.base.restored(&iri)).ok(),
        _ => None,
    }
}
