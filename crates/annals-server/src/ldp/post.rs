//! POST: creates a resource in a container.

use axum::body::Body;
use http::header::{ALLOW, CONTENT_TYPE, HeaderMap, HeaderValue, LOCATION};
use http::{Response, StatusCode};

use super::binary;
use super::bodies::{BodyKind, Received};
use super::constraints::Refusal;
use super::etag::{self, Conditions};
use super::get::with_head;
use super::headers;
use super::model::Model;
use super::patch;
use super::path::Path;
use super::put::empty;
use super::request::Request;
use super::slug;
use super::statements::{Graph, Managed, classes};
use super::view::View;
use super::writer::Writer;
use crate::call::{Call, Weight};
use crate::problem::{Outcome, Problem};

/// Answers POST.
pub async fn answer(mut request: Request, path: Path) -> Outcome {
    let asked = Model::asked(&request.call.headers)?;
    let wanted = slug::wanted(&request.call.headers);
    let conditions = Conditions::of(&request.call.headers);
    if is_upload(&request.call, asked) {
        return Box::pin(binary::post(request, path)).await;
    }
    let received = Received::of(&mut request).await?;
    let weight = if received.is_small() { Weight::Light } else { Weight::Heavy };
    let work =
        move |writer: &mut Writer<'_>| post(writer, &path, asked, wanted.as_deref(), &conditions, &received);
    let (path, _) = request.commit(weight, work).await?;
    created(&request, &path)
}

/// Puts the changes into the transaction; gives the path of the new resource.
fn post(
    writer: &mut Writer<'_>,
    container: &Path,
    asked: Option<Model>,
    wanted: Option<&str>,
    conditions: &Conditions,
    received: &Received,
) -> Result<Path, Problem> {
    let view = writer.view();
    if !(container.is_root() && writer.has_new_root()) {
        check_container(view, container, conditions)?;
    }
    let path = slug::choose(view.snapshot, container, wanted)?;
    let iri = view.base.iri(&path);
    let triples = match received.kind {
        BodyKind::Graph(format) => received.triples(format, &iri)?,
        BodyKind::Update => patch::triples_of_new(received, &iri)?,
        BodyKind::Nothing | BodyKind::Binary => Vec::new(),
    };
    let in_body = Model::in_body(classes(view.base, &path, &triples)).map_err(Refusal::into_problem)?;
    let model = asked.or(in_body).unwrap_or(Model::Basic);
    let graph = Graph::of(&triples, &mut Managed::new(view, &path, model, None))?;
    writer.create(&path, model, &graph)?;
    Ok(path)
}

/// Checks that a resource can get a child.
///
/// Errors: `not-found`; `deleted`; `method-not-allowed`; `precondition-failed`.
pub fn check_container(view: View<'_>, container: &Path, conditions: &Conditions) -> Result<(), Problem> {
    let (entity, model) = view.live(container)?;
    if !model.is_container() {
        let text = format!("{}: expected a container, found {}", view.base.iri(container), model.type_name());
        let allowed = HeaderValue::from_static(headers::allow(model, false));
        return Err(Problem::door("method-not-allowed", text).header(ALLOW, allowed));
    }
    conditions.check(Some(&etag::tag_of(view, &entity)?))
}

/// True if the body of a request is a binary: its media type says so, or the client does.
pub fn is_upload(call: &Call, asked: Option<Model>) -> bool {
    asked == Some(Model::NonRdfSource) || BodyKind::of(call) == BodyKind::Binary
}

/// The answer for a new resource: its address, also as body.
pub fn created(request: &Request, path: &Path) -> Outcome {
    let iri = request.base.iri(path);
    let mut head = state(request, path)?;
    if let Ok(location) = HeaderValue::try_from(&iri) {
        head.insert(LOCATION, location);
    }
    head.insert(CONTENT_TYPE, HeaderValue::from_static("text/plain"));
    Ok(with_head(Response::new(Body::from(iri)), StatusCode::CREATED, head))
}

/// The answer for a changed resource.
pub fn changed(request: &Request, path: &Path) -> Outcome {
    let head = state(request, path)?;
    Ok(with_head(empty(StatusCode::NO_CONTENT), StatusCode::NO_CONTENT, head))
}

/// The headers of a resource after a write. Another request may have deleted it since.
fn state(request: &Request, path: &Path) -> Result<HeaderMap, Problem> {
    let snapshot = request.call.door.repository()?.snapshot();
    let view = View { snapshot: &snapshot, base: &request.base };
    let mut head = HeaderMap::new();
    if let Ok((entity, model)) = view.live(path) {
        headers::add_resource(&mut head, &request.base, path, model);
        let tag = match binary::binary_tag(&entity) {
            Some(tag) => tag,
            None => etag::tag_of(view, &entity)?,
        };
        headers::add_state(&mut head, &tag, &entity);
    }
    Ok(head)
}
