//! ACLs of resources: GET, PUT, PATCH and DELETE of them.

use axum::body::Body;
use http::header::{ALLOW, CONTENT_TYPE, HeaderValue};
use http::{HeaderMap, Method, Response, StatusCode};
use oxrdf::{Literal, NamedNode, NamedOrBlankNode};

use super::answers::{self, empty, with_head};
use super::bodies::{BodyKind, Received, problem_of, unexpected};
use super::get::{self, format_of};
use super::headers;
use super::patch;
use super::request::{Original, Request};
use crate::answer::with_position;
use crate::ldp::acl::acl_rules;
use crate::ldp::acl::modes::ACL;
use crate::ldp::mapping::base::Base;
use crate::ldp::mapping::model::Model;
use crate::ldp::mapping::path::Path;
use crate::ldp::mapping::resource_graph::each_class;
use crate::ldp::mapping::resource_tag::{self, ResourceConditions};
use crate::ldp::mapping::statements::{Graph, Managed};
use crate::ldp::mapping::triples::emit;
use crate::ldp::mapping::view::{Found, View};
use crate::ldp::mapping::vocabulary::{TYPE, node, node_in};
use crate::ldp::mapping::writer::Writer;
use crate::ldp::rdf::RdfWriter;
use crate::protocol::problem::{Outcome, Problem};
use crate::request::call::Weight;

/// The text of the default of the root.
const DEFAULT: &str = "The server gives access by the roles of its clients, until this ACL is written";

/// Answers a request for the ACL of a resource.
pub async fn answer(request: Request, resource: Path) -> Outcome {
    let method = request.method.clone();
    match method.as_str() {
        "GET" | "HEAD" => Box::pin(show(request, resource)).await,
        "OPTIONS" => options(&request, &resource).await,
        "PUT" => Box::pin(put(request, resource)).await,
        "PATCH" => {
            let path = resource.acl()?;
            let snapshot = request.call.snapshot().await?;
            live(View { snapshot: &snapshot, base: &request.base }, &path)?;
            Box::pin(patch::answer(request, path, false)).await
        }
        "DELETE" => Box::pin(delete(request, resource)).await,
        _ => {
            let allowed = headers::allow(Model::Acl, false);
            let problem = Problem::door("method-not-allowed", format!("{method}: expected {allowed}"));
            Err(problem.header(ALLOW, HeaderValue::from_static(allowed)))
        }
    }
}

/// Refuses an ACL that a client chooses for the resource at a path, other than its own one.
///
/// Errors: a refusal.
pub fn refuse_link(headers: &HeaderMap, base: &Base, path: &Path) -> Result<(), Problem> {
    let own = path.acl().map(|acl| base.iri(&acl)).unwrap_or_default();
    match super::link::with_rel(headers, "acl").find(|link| link.target != own) {
        None => Ok(()),
        Some(link) => {
            let reason = "a resource has its ACL at its own address with /fcr:acl behind it, and no other; leave the link \
                          out, and PUT the ACL";
            let statement = format!("header link: <{}>; rel=\"acl\"", link.target);
            Err(crate::ldp::mapping::constraints::Refusal::new(statement, reason).into_problem())
        }
    }
}

/// Checks that there is an ACL at a path.
///
/// Errors: `not-found`, also for one that was deleted.
fn live(view: View<'_>, path: &Path) -> Result<(), Problem> {
    match view.find(path)? {
        Found::Live(_, Model::Acl) => Ok(()),
        _ => Err(Problem::not_found(format!(
            "{}: the resource has no ACL of its own, so that the nearest one above it with acl:default counts; PUT one",
            view.base.iri(path)
        ))),
    }
}

async fn show(request: Request, resource: Path) -> Outcome {
    let path = resource.acl()?;
    let snapshot = request.call.snapshot().await?;
    let view = View { snapshot: &snapshot, base: &request.base };
    let found = live(view, &path);
    if resource.is_root() && found.is_err() {
        return show_default(&request, &path);
    }
    if !resource.is_root() {
        view.live(&resource)?;
    }
    found?;
    get::show(request, Original { path, is_description: false }, None, snapshot).await
}

/// Shows the ACL of a root that has none.
fn show_default(request: &Request, path: &Path) -> Outcome {
    let format = format_of(&request.call.headers)?;
    let mut head = head(&request.base, path);
    head.insert(CONTENT_TYPE, HeaderValue::from_static(format.media_type()));
    let mut body = Vec::new();
    if request.method != Method::HEAD {
        let mut writer = RdfWriter::new(format);
        let mut sink = |triple: oxrdf::TripleRef<'_>| writer.write(triple, &mut body).map_err(problem_of);
        let document: NamedOrBlankNode = request.base.node(path).into();
        each_class(Model::Acl, &document, &mut sink)?;
        let address = format!("{}#default", request.base.iri(path));
        let subject: NamedOrBlankNode = NamedNode::new_unchecked(address).into();
        let root = request.base.node(&Path::root());
        emit(&subject, node(TYPE), node_in(ACL, "Authorization").as_ref().into(), &mut sink)?;
        for name in ["accessTo", "default"] {
            emit(&subject, node_in(ACL, name).as_ref(), root.as_ref().into(), &mut sink)?;
        }
        let label = node("http://www.w3.org/2000/01/rdf-schema#label");
        emit(&subject, label, Literal::new_simple_literal(DEFAULT).as_ref().into(), &mut sink)?;
        writer.finish(&mut body);
    }
    Ok(with_head(Response::new(Body::from(body)), StatusCode::OK, head))
}

fn head(base: &Base, path: &Path) -> HeaderMap {
    let mut head = HeaderMap::new();
    headers::add_resource(&mut head, base, path, Model::Acl);
    head
}

async fn options(request: &Request, resource: &Path) -> Outcome {
    let path = resource.acl()?;
    Ok(with_head(empty(StatusCode::OK), StatusCode::OK, head(&request.base, &path)))
}

async fn put(mut request: Request, resource: Path) -> Outcome {
    let conditions = request.conditions_of_put();
    Model::Acl.check_stays(&request.call.headers)?;
    let received = Received::of(&mut request).await?;
    let BodyKind::Graph(format) = received.kind else {
        return Err(unexpected(&request.call.headers, "a format of RDF: an ACL is an RDF source"));
    };
    let path = resource.acl()?;
    let target = path.clone();
    let work = move |writer: &mut Writer<'_>| {
        let view = writer.view();
        if !(resource.is_root() && writer.has_new_root()) {
            view.live(&resource)?;
        }
        let (triples, _memory) = received.triples(format, &view.base.iri(&target))?;
        acl_rules::check(view.base, &resource, &triples)?;
        match view.find(&target)? {
            Found::Live(entity, Model::Acl) => {
                conditions.check_with(|| resource_tag::tag_of(view, &entity))?;
                let graph = Graph::of(&triples, &mut Managed::new(view, &target, Model::Acl, Some(&entity)))?;
                writer.replace(&entity, &graph)?;
                Ok(false)
            }
            Found::Live(..) => {
                let text = format!(
                    "{}: expected an ACL, found an entity that another door made; delete it",
                    view.base.iri(&target)
                );
                Err(Problem::door("constraint-violated", text))
            }
            _ => {
                conditions.check(None)?;
                let graph = Graph::of(&triples, &mut Managed::new(view, &target, Model::Acl, None))?;
                writer.create_acl(&resource, &graph)?;
                Ok(true)
            }
        }
    };
    let (is_new, receipt) = request.commit(Weight::Heavy, work).await?;
    match is_new {
        true => answers::created(&request, &path, &receipt).await,
        false => answers::changed(&request, &path, false, &receipt).await,
    }
}

async fn delete(request: Request, resource: Path) -> Outcome {
    let conditions = ResourceConditions::of(&request.call.headers);
    let path = resource.acl()?;
    let work = move |writer: &mut Writer<'_>| {
        let view = writer.view();
        live(view, &path)?;
        let (entity, _) = view.live(&path)?;
        conditions.check_with(|| resource_tag::tag_of(view, &entity))?;
        writer.delete(&entity)
    };
    let ((), receipt) = request.commit(Weight::Heavy, work).await?;
    Ok(with_position(empty(StatusCode::NO_CONTENT), receipt.position))
}
