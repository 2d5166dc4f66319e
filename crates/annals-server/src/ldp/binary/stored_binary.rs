//! Binaries: an entity with a content. The statements of clients about it are a graph of its own, the description.

use std::sync::Arc;

use annals::{Content, Entity, Snapshot, Value};
use axum::body::Body;
use http::header::{ALLOW, EXPECT, HeaderValue};
use http::{HeaderMap, Method, Response, StatusCode};

use super::external_binary::BinaryBytes;
use crate::bounds::heavy::heavy_read;
use crate::content::send::{Wanted, send};
use crate::content::validators::Validators;
use crate::ldp::mapping::model::Model;
use crate::ldp::mapping::path::Path;
use crate::ldp::mapping::resource_tag::{self, ResourceConditions};
use crate::ldp::mapping::statements::Graph;
use crate::ldp::mapping::view::{Found, View};
use crate::ldp::mapping::writer::Writer;
use crate::ldp::requests::answers::{self, empty, with_head};
use crate::ldp::requests::headers;
use crate::ldp::requests::parent::{check_container, no_container};
use crate::ldp::requests::request::Request;
use crate::ldp::requests::slug;
use crate::protocol::problem::{Outcome, Problem};
use crate::request::call::Weight;
use crate::request::upload::discard;

/// Answers a POST of a binary.
pub async fn post(mut request: Request, container: Path) -> Outcome {
    let conditions = ResourceConditions::of(&request.call.headers);
    // Before the bytes arrive: a client learns at once that they would be refused.
    let (place, early) = (container.clone(), conditions.clone());
    let check = move |view: View<'_>| match place.is_root() {
        true => Ok(()),
        false => check_container(view, &place, &early),
    };
    let weight = match check_early(&request, &container, &conditions, check).await {
        Ok(weight) => weight,
        Err(problem) => return refuse(request, problem).await,
    };
    let bytes = Arc::new(BinaryBytes::of(&mut request).await?);
    // The container may have grown meanwhile.
    let weight = request.weight_with(&container, &conditions, weight)?;
    let named = Arc::clone(&bytes);
    let wanted = slug::wanted(&request.call.headers);
    let work = move |writer: &mut Writer<'_>| {
        let view = writer.view();
        if !(container.is_root() && writer.has_new_root()) {
            check_container(view, &container, &conditions)?;
        }
        let path = slug::choose(view.snapshot, &container, wanted.as_deref())?;
        writer.create_binary(&path, named.properties())?;
        Ok(path)
    };
    let (path, receipt) = request.commit(weight, work).await?;
    let mut response = answers::created(&request, &path, &receipt).await?;
    bytes.add_location(&mut response);
    Ok(response)
}

/// Answers a PUT of a binary.
pub async fn put(mut request: Request, path: Path) -> Outcome {
    let conditions = request.conditions_of_put();
    let (place, early) = (path.clone(), conditions.clone());
    let check_now = move |view: View<'_>| check(view, &place, &early).map(drop);
    let weight = match check_early(&request, &path, &conditions, check_now).await {
        Ok(weight) => weight,
        Err(problem) => return refuse(request, problem).await,
    };
    let bytes = Arc::new(BinaryBytes::of(&mut request).await?);
    let named = Arc::clone(&bytes);
    let target = path.clone();
    let work = move |writer: &mut Writer<'_>| match check(writer.view(), &target, &conditions)? {
        Some(entity) => {
            writer.transaction.update(&entity.instance_id(), named.patch(&entity))?;
            Ok(false)
        }
        None => {
            writer.create_binary(&target, named.properties())?;
            Ok(true)
        }
    };
    let (is_new, receipt) = request.commit(weight, work).await?;
    let mut response = match is_new {
        true => answers::created(&request, &path, &receipt).await?,
        false => answers::changed(&request, &path, false, &receipt).await?,
    };
    bytes.add_location(&mut response);
    Ok(response)
}

/// Checks a write before its bytes arrive. Gives its weight: the conditions may need the tag of the resource at a path.
async fn check_early(
    request: &Request,
    path: &Path,
    conditions: &ResourceConditions,
    check: impl FnOnce(View<'_>) -> Result<(), Problem> + Send + 'static,
) -> Result<Weight, Problem> {
    let snapshot = request.call.snapshot().await?;
    let weight = match has_short_tag(View { snapshot: &snapshot, base: &request.base }, path)? {
        true => Weight::Light,
        false => request.weight_with(path, conditions, Weight::Light)?,
    };
    let base = request.base.clone();
    let check = move |snapshot: Snapshot| check(View { snapshot: &snapshot, base: &base });
    match weight {
        Weight::Light => check(snapshot)?,
        Weight::Heavy => Box::pin(heavy_read(&request.call.door.bounds, snapshot, check)).await?,
    }
    Ok(weight)
}

/// True if the tag at a path is the digest of bytes that are stored, which need not be read for it.
fn has_short_tag(view: View<'_>, path: &Path) -> Result<bool, Problem> {
    let found = view.find(path)?;
    Ok(
        matches!(found, Found::Live(entity, Model::NonRdfSource) if resource_tag::binary_tag(&entity).is_some()),
    )
}

/// The binary at a path, if one is there.
///
/// Errors: `deleted`; `precondition-failed`; `conflict` for a resource in RDF.
fn check<'v>(
    view: View<'v>,
    path: &Path,
    conditions: &ResourceConditions,
) -> Result<Option<Entity<'v>>, Problem> {
    match view.find(path)? {
        Found::Live(entity, Model::NonRdfSource) => {
            conditions.check_with(|| resource_tag::state_tag(view, &entity))?;
            Ok(Some(entity))
        }
        Found::Live(_, model) => {
            let text = format!(
                "{}: the resource is an {}, and its interaction model never changes; send a format of RDF",
                view.base.iri(path),
                model.type_name()
            );
            Err(Problem::door("constraint-violated", text))
        }
        Found::Gone(_) => Err(view.gone(path)),
        Found::Placeholder | Found::Missing => {
            conditions.check(None)?;
            check_parents(view, path)?;
            Ok(None)
        }
    }
}

/// Refuses a binary below something that is no container, before its bytes arrive. Missing containers are made later.
fn check_parents(view: View<'_>, path: &Path) -> Result<(), Problem> {
    let mut next = path.parent();
    while let Some(parent) = next {
        match view.find(&parent)? {
            Found::Live(_, model) if model.is_container() => return Ok(()),
            Found::Live(_, model) => return Err(no_container(view, &parent, model)),
            Found::Gone(_) => return Err(view.gone(&parent)),
            Found::Placeholder | Found::Missing => next = parent.parent(),
        }
    }
    Ok(())
}

/// Refuses a binary before it is received. A client that sends it all the same must still be able to read the answer.
pub async fn refuse(mut request: Request, problem: Problem) -> Outcome {
    if !request.call.headers.contains_key(EXPECT) {
        discard(&mut request.call.take_body()).await;
    }
    Err(problem)
}

/// Answers GET and HEAD of a binary, or of a memento of one. Whatever the client accepts, it gets the bytes. `head` is
/// what the answer says about the resource.
pub async fn get(
    request: &Request,
    head: HeaderMap,
    content: Arc<Content>,
    validators: Validators,
) -> Outcome {
    let conditions = crate::request::conditions::Conditions::of(&request.call)?;
    let (method, headers, peer) = (&request.method, &request.call.headers, &request.call.peer);
    let wanted = Wanted { method, headers, conditions: &conditions, peer };
    let response = send(&request.call.door, content, &validators, wanted).await?;
    let status = response.status();
    Ok(with_head(response, status, head))
}

/// Answers a request for the description of a binary, other than a read or a write of its graph.
pub fn description_options(request: &Request, path: &Path) -> Response<Body> {
    let mut head = HeaderMap::new();
    headers::add_description(&mut head, &request.base, path);
    with_head(empty(StatusCode::OK), StatusCode::OK, head)
}

/// True for a method that a description takes.
pub fn takes(method: &Method) -> bool {
    [Method::GET, Method::HEAD, Method::OPTIONS, Method::PUT, Method::PATCH].contains(method)
}

/// The answer for a method that a description does not take: it is there as long as its binary is.
pub fn description_refuses(method: &Method) -> Problem {
    let text =
        format!("{method}: a description is created and deleted with its resource; name the resource itself");
    Problem::door("method-not-allowed", text)
        .header(ALLOW, HeaderValue::from_static(headers::DESCRIPTION_ALLOW))
}

impl Writer<'_> {
    /// Creates a binary in its container.
    pub fn create_binary(&mut self, path: &Path, properties: Vec<(Arc<str>, Value)>) -> Result<(), Problem> {
        self.create_with(path, Model::NonRdfSource, &Graph::default(), properties)
    }
}
