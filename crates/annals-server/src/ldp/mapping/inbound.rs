//! The statements of other resources about a resource: their own statements, and the membership that containers make of them.

use annals::{Direction, Entity};
use oxrdf::NamedOrBlankNode;

use super::membership::Rule;
use super::stored_names::predicate;
use super::triples::{Sink, each_object, emit};
use super::view::View;
use super::vocabulary::MEMBERSHIP_RESOURCE;
use crate::ldp_types::CONTAINS;
use crate::protocol::problem::Problem;

/// Passes on the triples of other resources with this one as object.
pub fn each_triple(
    view: View<'_>,
    entity: &Entity<'_>,
    object: &NamedOrBlankNode,
    sink: &mut Sink<'_>,
) -> Result<(), Problem> {
    for neighbor in entity.neighbors(Direction::In, None) {
        let neighbor = neighbor?;
        let type_name = neighbor.relationship.type_name();
        if !view.is_readable(&neighbor.entity)? {
            continue;
        }
        if type_name == CONTAINS {
            // The resource is a child: a direct container makes it a member.
            if let Some(rule) = Rule::of(view, &neighbor.entity).filter(|rule| rule.inserted.is_none()) {
                each_membership(view, &neighbor.entity, &rule, object, sink)?;
            }
        }
        let Some(predicate) = predicate(type_name) else { continue };
        if let Some(subject) = view.node(&neighbor.entity) {
            emit(&subject, predicate, object.as_ref().into(), sink)?;
        }
        // The other resource may be a proxy of this one in an indirect container.
        let Some(container) = view.container(&neighbor.entity)? else { continue };
        let Some(rule) = Rule::of(view, &container) else { continue };
        if !view.is_readable(&container)? {
            continue;
        }
        if rule.inserted.as_ref().is_some_and(|relation| relation.as_str() == type_name) {
            each_membership(view, &container, &rule, object, sink)?;
        }
    }
    Ok(())
}

/// The triple from the membership resource of a container to a member.
fn each_membership(
    view: View<'_>,
    container: &Entity<'_>,
    rule: &Rule,
    member: &NamedOrBlankNode,
    sink: &mut Sink<'_>,
) -> Result<(), Problem> {
    let Some(relation) = &rule.has_member else { return Ok(()) };
    each_object(view, container, MEMBERSHIP_RESOURCE, |resource| {
        match view.shows(&resource)?.then_some(resource) {
            None => Ok(()),
            Some(resource) => match NamedOrBlankNode::try_from(resource) {
                Ok(resource) => emit(&resource, relation.as_ref(), member.as_ref().into(), sink),
                Err(_) => Ok(()),
            },
        }
    })
}
