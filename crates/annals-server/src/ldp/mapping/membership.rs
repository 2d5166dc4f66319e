//! Membership triples: they are computed from the containers that name a resource as their membership resource.

use annals::{Direction, Entity};
use oxrdf::{NamedNode, NamedOrBlankNode, Term};

use super::model::Model;
use super::triples::{Sink, each_object, emit, iri_property};
use super::view::View;
use super::vocabulary::{
    HAS_MEMBER_RELATION, INSERTED_CONTENT_RELATION, IS_MEMBER_OF_RELATION, MEMBER_SUBJECT,
    MEMBERSHIP_RESOURCE,
};
use crate::ldp_types::CONTAINS;
use crate::protocol::problem::Problem;

/// The statements of a direct or an indirect container about its members.
pub struct Rule {
    /// The predicate from the membership resource to a member.
    pub has_member: Option<NamedNode>,
    /// The predicate from a member to the membership resource.
    pub is_member_of: Option<NamedNode>,
    /// The predicate of a child whose objects are the members; `None` if the child itself is.
    pub inserted: Option<NamedNode>,
}

impl Rule {
    /// The rule of a container; `None` for other resources.
    pub fn of(view: View<'_>, container: &Entity<'_>) -> Option<Rule> {
        let model = Model::of_entity(container).filter(|model| model.has_members())?;
        let inserted = iri_property(view, container, INSERTED_CONTENT_RELATION)
            .filter(|relation| model == Model::Indirect && relation.as_str() != MEMBER_SUBJECT);
        Some(Rule {
            has_member: iri_property(view, container, HAS_MEMBER_RELATION),
            is_member_of: iri_property(view, container, IS_MEMBER_OF_RELATION),
            inserted,
        })
    }

    /// The members that a child of the container makes.
    pub fn each_member(
        &self,
        view: View<'_>,
        child: &Entity<'_>,
        mut take: impl FnMut(Term) -> Result<(), Problem>,
    ) -> Result<(), Problem> {
        match &self.inserted {
            None => view.node(child).map_or(Ok(()), |node| take(node.into())),
            Some(relation) => each_object(view, child, relation.as_str(), take),
        }
    }
}

/// The triples with a resource as subject: its members, and the resources that it is a member of.
pub fn each_triple(
    view: View<'_>,
    entity: &Entity<'_>,
    subject: &NamedOrBlankNode,
    sink: &mut Sink<'_>,
) -> Result<(), Problem> {
    for container in entity.neighbors(Direction::In, Some(MEMBERSHIP_RESOURCE)).entities() {
        let container = container?;
        let Some(rule) = Rule::of(view, &container) else { continue };
        if !view.is_readable(&container)? {
            continue;
        }
        if let Some(relation) = &rule.has_member {
            each_of_container(view, &container, &rule, |member| {
                emit(subject, relation.as_ref(), member.as_ref(), sink)
            })?;
        }
    }
    let Some(container) = view.container(entity)? else { return Ok(()) };
    let Some(rule) = Rule::of(view, &container).filter(|rule| rule.inserted.is_none()) else { return Ok(()) };
    if !view.is_readable(&container)? {
        return Ok(());
    }
    if let Some(relation) = &rule.is_member_of {
        each_object(view, &container, MEMBERSHIP_RESOURCE, |resource| match view.shows(&resource)? {
            true => emit(subject, relation.as_ref(), resource.as_ref(), sink),
            false => Ok(()),
        })?;
    }
    Ok(())
}

/// All members that the children of a container make.
fn each_of_container(
    view: View<'_>,
    container: &Entity<'_>,
    rule: &Rule,
    mut take: impl FnMut(Term) -> Result<(), Problem>,
) -> Result<(), Problem> {
    for child in container.neighbors(Direction::Out, Some(CONTAINS)).entities() {
        let child = child?;
        if view.is_readable(&child)? {
            rule.each_member(
                view,
                &child,
                |member| if view.shows(&member)? { take(member) } else { Ok(()) },
            )?;
        }
    }
    Ok(())
}
