//! Answers about a resource that is there.

use annals::{AsOf, Entity, Receipt, Snapshot};
use axum::body::Body;
use http::header::{CONTENT_TYPE, HeaderMap, HeaderValue, LOCATION};
use http::{Response, StatusCode};

use super::headers;
use super::request::Request;
use crate::answer::with_position;
use crate::ldp::mapping::base::Base;
use crate::ldp::mapping::path::Path;
use crate::ldp::mapping::prefer::Selection;
use crate::ldp::mapping::resource_tag;
use crate::ldp::mapping::view::View;
use crate::protocol::problem::{Outcome, Problem};

/// The answer for a new resource, made by a write: its address, also as body.
pub async fn created(request: &Request, path: &Path, receipt: &Receipt) -> Outcome {
    let iri = request.base.iri(path);
    let mut head = state(request, path, false, receipt).await;
    if let Ok(location) = HeaderValue::try_from(&iri) {
        head.insert(LOCATION, location);
    }
    head.insert(CONTENT_TYPE, HeaderValue::from_static("text/plain"));
    let response = with_head(Response::new(Body::from(iri)), StatusCode::CREATED, head);
    Ok(with_position(response, receipt.position))
}

/// The answer for a resource, or the description of a binary, that a write changed.
pub async fn changed(request: &Request, path: &Path, is_description: bool, receipt: &Receipt) -> Outcome {
    let head = state(request, path, is_description, receipt).await;
    let response = with_head(empty(StatusCode::NO_CONTENT), StatusCode::NO_CONTENT, head);
    Ok(with_position(response, receipt.position))
}

/// The headers of a resource in the state that a write made. Later writes do not count: with a tag of theirs, the client
/// would overwrite what it never saw. The write is done, so headers that cannot be made are left out: an error, such as
/// `busy`, would let the client write it again.
async fn state(request: &Request, path: &Path, is_description: bool, receipt: &Receipt) -> HeaderMap {
    let mut head = HeaderMap::new();
    let Ok(snapshot) = snapshot_of(request, receipt) else { return head };
    let view = View { snapshot: &snapshot, base: &request.base };
    let Ok((entity, model)) = view.live(path) else { return head };
    match is_description {
        true => headers::add_description(&mut head, &request.base, path),
        false => headers::add_resource(&mut head, &request.base, path, model),
    }
    let tag = match resource_tag::binary_tag(&entity).filter(|_| !is_description) {
        Some(tag) => Ok(tag),
        None => statements_tag(request, view, &entity).await,
    };
    if let Ok(tag) = tag {
        headers::add_state(&mut head, &tag, &entity);
    }
    head
}

async fn statements_tag(request: &Request, view: View<'_>, entity: &Entity<'_>) -> Result<String, Problem> {
    let all = Selection::default();
    let size = resource_tag::size(view, entity, &all)?;
    Box::pin(resource_tag::tag_of_selection(&request.call.door.bounds, view, entity, &all, size)).await
}

/// The state that a write made.
pub fn snapshot_of(request: &Request, receipt: &Receipt) -> Result<Snapshot, Problem> {
    let snapshot = request.call.door.snapshot()?;
    Ok(snapshot.as_of(AsOf { position: Some(receipt.position), ..AsOf::default() })?)
}

/// An answer without body.
pub fn empty(status: StatusCode) -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = status;
    response
}

/// Gives an answer its status and its headers.
pub fn with_head(mut response: Response<Body>, status: StatusCode, head: HeaderMap) -> Response<Body> {
    *response.status_mut() = status;
    let mut last = None;
    for (name, value) in head {
        match name {
            // The headers of the answer itself make room for these.
            Some(name) => {
                response.headers_mut().insert(name.clone(), value);
                last = Some(name);
            }
            None => {
                if let Some(name) = &last {
                    response.headers_mut().append(name.clone(), value);
                }
            }
        }
    }
    response
}

/// The answer for the description of what is no binary.
pub fn no_description(base: &Base, path: &Path) -> Problem {
    Problem::not_found(format!("{}: the resource is no binary, so it has no description", base.iri(path)))
}
