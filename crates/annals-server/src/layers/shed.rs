//! Sheds load: refuses a request before it is routed when no more are taken. An overloaded server spends its time on the
//! requests that it has taken, so a refusal must cost little.

use std::sync::OnceLock;
use std::time::Duration;

use axum::body::Body;
use http::header::{CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use http::{Request, Response, StatusCode};
use hyper::body::Bytes;

use super::observe::method_name;
use crate::protocol::names::REQUEST_ID;
use crate::protocol::problem::{PROBLEM_JSON, Problem};
use crate::request::door::Door;

/// Paths for operators. The server answers them however many requests it works on.
const OPERATIONAL: [&str; 3] = ["/health/", "/metrics", "/openapi.json"];
/// The route of refusals in the metrics.
const ROUTE: &str = "refused";

/// The answer to a request that the server does not take, because it works on as many as it may.
pub fn refusal<B>(door: &Door, request: &Request<B>) -> Option<Response<Body>> {
    if door.bounds.gates.requests.available_permits() > 0 {
        return None;
    }
    let path = request.uri().path();
    if OPERATIONAL.iter().any(|start| path.starts_with(start)) {
        return None;
    }
    door.metrics.observe(
        method_name(request.method()),
        ROUTE,
        StatusCode::SERVICE_UNAVAILABLE.as_u16(),
        Duration::ZERO,
    );
    let mut response = Response::new(Body::from(text()));
    *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(PROBLEM_JSON));
    headers.insert(RETRY_AFTER, HeaderValue::from_static("1"));
    if let Some(id) = request.headers().get(&REQUEST_ID) {
        headers.insert(REQUEST_ID.clone(), id.clone());
    }
    Some(response)
}

/// The problem document, made once.
fn text() -> Bytes {
    static TEXT: OnceLock<Bytes> = OnceLock::new();
    let make = || {
        let problem = Problem::busy("the server works on as many requests as it takes; try again later");
        problem.to_json().to_string().into()
    };
    TEXT.get_or_init(make).clone()
}
