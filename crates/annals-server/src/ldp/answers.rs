//! Answers about a resource that is there.

use axum::body::Body;
use http::header::{CONTENT_TYPE, HeaderMap, HeaderValue, LOCATION};
use http::{Response, StatusCode};

use super::etag;
use super::headers;
use super::path::Path;
use super::request::Request;
use super::view::View;
use crate::problem::{Outcome, Problem};

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
        headers::add_state(&mut head, &etag::state_tag(view, &entity)?, &entity);
    }
    Ok(head)
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
