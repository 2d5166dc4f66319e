//! The outermost layer, which every request passes.

use std::sync::Arc;
use std::time::Instant as Clock;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::middleware::Next;
use http::header::HeaderValue;
use http::{Method, Response, StatusCode};

use crate::access::{Client, Unknown};
use crate::bounds::sending::{self, Admitted};
use crate::protocol::names::POSITION;
use crate::protocol::problem::is_refusal;
use crate::reporting::refusals::Refused;
use crate::reporting::request_log::Entry;
use crate::request::door::Door;

/// The path of the endpoint that answered; an extension of the response.
#[derive(Clone, Copy)]
pub struct Route(pub &'static str);

/// Counts a request, writes it to the request log when its answer is sent, and gives room to answers of requests that
/// were not admitted.
pub async fn observe(State(door): State<Arc<Door>>, mut request: Request, next: Next) -> Response<Body> {
    let start = Clock::now();
    let _in_flight = door.metrics.request_begins();
    let method = method_name(request.method());
    let entry = Entry::begin(&door.bounds.limits, method, &request);
    if let Some(entry) = &entry {
        request.extensions_mut().insert(Arc::clone(entry));
    }
    // Clones share the text.
    let uri = request.uri().clone();
    let address = request.extensions().get::<Client>().map(|client| client.address);
    let mut response = next.run(request).await;
    if is_refusal(response.status()) {
        let refused = Refused { address, method, path: uri.path(), status: response.status() };
        let extensions = response.extensions();
        door.refusals.note(&refused, extensions.get(), extensions.get());
    }
    if response.extensions().get::<Admitted>().is_none() {
        response = sending::admit_aside(&door.bounds, response);
    }
    // A page of an unknown host, and an unknown client, learn nothing, not even that there is a new position.
    if let Some(snapshot) = door.opened().and_then(|repository| repository.try_snapshot().ok())
        && response.status() != StatusCode::MISDIRECTED_REQUEST
        && response.extensions().get::<Unknown>().is_none()
    {
        let position = || HeaderValue::from(snapshot.position().0);
        response.headers_mut().entry(&POSITION).or_insert_with(position);
    }
    let route = response.extensions().get::<Route>().map_or("unknown", |route| route.0);
    let status = response.status().as_u16();
    door.metrics.observe(method, route, status, start.elapsed());
    if let Some(entry) = entry {
        entry.answered(route, status);
        response.extensions_mut().insert(entry);
    }
    response
}

/// The method as a label: a bounded set.
pub fn method_name(method: &Method) -> &'static str {
    match method.as_str() {
        "GET" => "GET",
        "HEAD" => "HEAD",
        "POST" => "POST",
        "PUT" => "PUT",
        "PATCH" => "PATCH",
        "DELETE" => "DELETE",
        "OPTIONS" => "OPTIONS",
        _ => "other",
    }
}
