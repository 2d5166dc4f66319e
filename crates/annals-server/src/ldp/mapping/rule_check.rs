//! The statements of a direct or an indirect container about its members, each of which it must make exactly once.

use std::collections::HashSet;

use annals::{Entity, Value};
use oxrdf::{Term, Triple};

use super::base::Place;
use super::constraints::Refusal;
use super::model::Model;
use super::path::Path;
use super::statements::{Statements, Subject, subject_of};
use super::triples::each_object;
use super::view::View;
use super::vocabulary::{
    HAS_MEMBER_RELATION, INSERTED_CONTENT_RELATION, IS_MEMBER_OF_RELATION, MEMBERSHIP_RESOURCE,
};
use crate::ldp::rdf::Changes;
use crate::protocol::problem::Problem;

const ALL: [&str; 4] =
    [MEMBERSHIP_RESOURCE, HAS_MEMBER_RELATION, IS_MEMBER_OF_RELATION, INSERTED_CONTENT_RELATION];

/// The refusal of a predicate that a container has another number of times than once.
pub fn not_once(predicate: &str, count: usize) -> Problem {
    let reason = format!("expected it once in a container with members, found it {count} times");
    Refusal::new(predicate, reason).into_problem()
}

/// Checks that the statements of a container about its members have IRIs as objects.
///
/// Errors: a refusal.
pub fn check_objects(own: &Statements) -> Result<(), Problem> {
    for predicate in ALL {
        let is_blank = own.blanks.iter().any(|(known, _)| known == predicate);
        let mut values = own.values.get(predicate).into_iter().flatten();
        if is_blank || values.any(|value| !matches!(value, Value::Iri(_))) {
            return Err(no_iri(predicate));
        }
    }
    Ok(())
}

fn no_iri(predicate: &str) -> Problem {
    let reason = "expected an IRI in a container with members, found a literal or a blank node";
    Refusal::new(predicate, reason).into_problem()
}

/// Checks that a container still says each thing about its members once after these changes. Changes of other statements
/// pass.
///
/// Errors: a refusal.
pub fn check_rule(
    view: View<'_>,
    entity: &Entity<'_>,
    path: &Path,
    model: Model,
    changes: &Changes,
) -> Result<(), Problem> {
    let is_about = |triple: &&Triple| {
        ALL.contains(&triple.predicate.as_str())
            && subject_of(view.base, path, &triple.subject) == Subject::Resource
    };
    let removed: Vec<&Triple> = changes.removed.iter().filter(is_about).collect();
    let added: Vec<&Triple> = changes.added.iter().filter(is_about).collect();
    if !model.has_members() || (removed.is_empty() && added.is_empty()) {
        return Ok(());
    }
    let count = |predicate: &str| -> Result<usize, Problem> {
        let mut objects = HashSet::new();
        each_object(view, entity, predicate, |object| {
            objects.insert(object);
            Ok(())
        })?;
        for triple in removed.iter().filter(|triple| triple.predicate.as_str() == predicate) {
            objects.remove(&in_one_form(view, &triple.object));
        }
        let added = added.iter().filter(|triple| triple.predicate.as_str() == predicate);
        objects.extend(added.map(|triple| in_one_form(view, &triple.object)));
        match objects.iter().all(Term::is_named_node) {
            true => Ok(objects.len()),
            false => Err(no_iri(predicate)),
        }
    };
    let once =
        |predicate: &str, count: usize| if count == 1 { Ok(()) } else { Err(not_once(predicate, count)) };
    once(MEMBERSHIP_RESOURCE, count(MEMBERSHIP_RESOURCE)?)?;
    once(HAS_MEMBER_RELATION, count(HAS_MEMBER_RELATION)? + count(IS_MEMBER_OF_RELATION)?)?;
    match model {
        Model::Indirect => once(INSERTED_CONTENT_RELATION, count(INSERTED_CONTENT_RELATION)?),
        _ => Ok(()),
    }
}

/// A term as the server writes it: one resource has several addresses.
fn in_one_form(view: View<'_>, term: &Term) -> Term {
    match term {
        Term::NamedNode(node) => match view.base.place(node.as_str()) {
            Place::Resource(path) => view.base.node(&path).into(),
            _ => term.clone(),
        },
        _ => term.clone(),
    }
}
