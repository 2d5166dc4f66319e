//! PATCH: changes the graph of a resource with a SPARQL update.

use std::collections::HashSet;

use annals::{Direction, Entity};
use http::header::{ALLOW, HeaderValue};
use oxrdf::{Term, Triple, TripleRef};

use super::answers;
use super::bodies::{BodyKind, Received, Reserved, problem_of, unexpected};
use super::headers::{self, UPDATE_TYPE};
use super::request::Request;
use crate::ldp::acl::acl_rules;
use crate::ldp::mapping::model::Model;
use crate::ldp::mapping::path::Path;
use crate::ldp::mapping::prefer::Selection;
use crate::ldp::mapping::resource_graph;
use crate::ldp::mapping::resource_tag::{self, ResourceConditions};
use crate::ldp::mapping::rule_check::check_rule;
use crate::ldp::mapping::statements::Managed;
use crate::ldp::mapping::view::View;
use crate::ldp::mapping::writer::Writer;
use crate::ldp::rdf::{Changes, Update};
use crate::ldp_types::PART;
use crate::protocol::problem::{Outcome, Problem};
use crate::request::call::Weight;

/// The parts of a graph that an update changes.
const OWN: Selection = Selection {
    has_own: true,
    has_managed: false,
    has_containment: false,
    has_membership: false,
    has_inbound: false,
    is_applied: false,
};

/// Answers PATCH of a resource, or of the description of a binary.
pub async fn answer(mut request: Request, path: Path, is_description: bool) -> Outcome {
    let conditions = ResourceConditions::of(&request.call.headers);
    let received = Received::of(&mut request).await?;
    if received.kind != BodyKind::Update {
        return Err(unexpected(&request.call.headers, UPDATE_TYPE));
    }
    let iri = request.base.iri(&path);
    // A long update is parsed where it is evaluated: here it would hold up the other requests of this thread.
    let parsed = if received.is_small() { Some(received.update(&iri)?) } else { None };
    let is_light = parsed.as_ref().is_some_and(|(update, _)| update.is_ground());
    let weight = if is_light { Weight::Light } else { Weight::Heavy };
    let weight = request.weight_with(&path, &conditions, weight)?;
    let (target, permit) = (path.clone(), request.permit.clone());
    let check = move |update: &Update| match &permit {
        Some(permit) => permit.check_update(update.is_adding(), update.is_ground()),
        None => Ok(()),
    };
    if let Some((update, _)) = &parsed {
        check(update)?;
    }
    let work = move |writer: &mut Writer<'_>| match &parsed {
        Some((update, _)) => patch(writer, &target, is_description, &conditions, update, &received),
        None => {
            let (update, _memory) = received.update(&iri)?;
            check(&update)?;
            patch(writer, &target, is_description, &conditions, &update, &received)
        }
    };
    let ((), receipt) = request.commit(weight, work).await?;
    answers::changed(&request, &path, is_description, &receipt).await
}

fn patch(
    writer: &mut Writer<'_>,
    path: &Path,
    is_description: bool,
    conditions: &ResourceConditions,
    update: &Update,
    received: &Received,
) -> Result<(), Problem> {
    let view = writer.view();
    let (entity, model) = view.live(path)?;
    if (model == Model::NonRdfSource) != is_description {
        let text =
            format!("{}: a binary is replaced with PUT, and its description is changed", view.base.iri(path));
        let allowed = HeaderValue::from_static(headers::allow(model, path.is_root()));
        return Err(Problem::door("method-not-allowed", text).header(ALLOW, allowed));
    }
    conditions.check_with(|| resource_tag::tag_of(view, &entity))?;
    let mut managed = Managed::new(view, path, model, Some(&entity));
    if let Some(changes) = update.ground() {
        check_rule(view, &entity, path, model, &changes)?;
        if model == Model::Acl {
            acl_rules::check_changed(view.base, path, own_triples(view, &entity, model)?, &changes)?;
        }
        let _memory = received.reserve_triples(changes.added.len())?;
        writer.change(&entity, &mut managed, path, &changes.removed, &changes.added)?;
    } else {
        let triples = own_triples(view, &entity, model)?;
        let changes = update.evaluate(&triples, &received.limits).map_err(problem_of)?;
        check_rule(view, &entity, path, model, &changes)?;
        if model == Model::Acl {
            acl_rules::check_changed(view.base, path, triples.clone(), &changes)?;
        }
        let _memory = received.reserve_triples(changes.added.len())?;
        writer.change(&entity, &mut managed, path, &changes.removed, &changes.added)?;
        delete_unused(writer, &entity, &triples, &changes)?;
    }
    writer.touch_indirect(&entity)
}

/// Deletes the nodes that are in no triple any more.
fn delete_unused(
    writer: &mut Writer<'_>,
    entity: &Entity<'_>,
    before: &[Triple],
    changes: &Changes,
) -> Result<(), Problem> {
    let Changes { removed, added } = changes;
    if removed.is_empty() {
        return Ok(());
    }
    let removed: HashSet<&Triple> = removed.iter().collect();
    let left = before.iter().filter(|triple| !removed.contains(triple)).chain(added);
    let mut used = HashSet::new();
    for triple in left {
        used.insert(Term::from(triple.subject.clone()));
        if matches!(triple.object, Term::BlankNode(_)) {
            used.insert(triple.object.clone());
        }
    }
    let view = writer.view();
    for node in entity.neighbors(Direction::Out, Some(PART)).entities() {
        let node = node?;
        let Some(term) = view.node(&node) else { continue };
        if !used.contains(&Term::from(term)) {
            writer.delete_node(&node)?;
        }
    }
    Ok(())
}

/// The triples that clients stated about a resource.
fn own_triples(view: View<'_>, entity: &Entity<'_>, model: Model) -> Result<Vec<Triple>, Problem> {
    let mut triples = Vec::new();
    let mut sink = |triple: TripleRef<'_>| {
        triples.push(triple.into_owned());
        Ok(())
    };
    resource_graph::each_triple(view, entity, model, OWN, &mut sink)?;
    Ok(triples)
}

/// The triples that an update makes in an empty graph, and the memory that is reserved for them.
pub fn triples_of_new(received: &Received, iri: &str) -> Result<(Vec<Triple>, Reserved), Problem> {
    let (update, parsed) = received.update(iri)?;
    let changes = update.evaluate(&[], &received.limits).map_err(problem_of)?;
    let made = received.reserve_triples(changes.added.len())?;
    Ok((changes.added, parsed.into_iter().chain(made).collect()))
}
