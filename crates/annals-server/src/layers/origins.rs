//! The names that requests may call the server by, and the web pages that may send them.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::IntoResponse;
use http::header::{ETAG, HeaderValue, LINK, LOCATION, RETRY_AFTER};
use http::{Method, Response};
use tower_http::cors::{AllowHeaders, CorsLayer};

use crate::protocol::names::{POSITION, REPLAYED, REQUEST_ID, WRITER};
use crate::request::door::Door;
use crate::request::hosts::Hosts;

/// The layer: refuses a request that calls the server by a name that it was not given, or comes from a page of another origin.
pub async fn check_host(State(door): State<Arc<Door>>, request: Request, next: Next) -> Response<Body> {
    match door.hosts.check(&request) {
        Ok(()) => next.run(request).await,
        Err(problem) => problem.into_response(),
    }
}

/// The rights of web pages of other origins, if the settings name some.
pub fn cors(hosts: &Hosts) -> Option<CorsLayer> {
    const MAX_AGE: Duration = Duration::from_secs(3_600);
    let origins: Vec<HeaderValue> = hosts.origins().iter().map(|origin| origin.header().clone()).collect();
    let methods = [Method::GET, Method::HEAD, Method::POST, Method::PUT, Method::PATCH, Method::DELETE];
    let own = [&POSITION, &REPLAYED, &REQUEST_ID, &WRITER].map(Clone::clone);
    let exposed = [ETAG, LINK, LOCATION, RETRY_AFTER].into_iter().chain(own).collect::<Vec<_>>();
    (!origins.is_empty()).then(|| {
        CorsLayer::new()
            .allow_origin(origins)
            .allow_methods(methods)
            .allow_headers(AllowHeaders::mirror_request())
            .expose_headers(exposed)
            .max_age(MAX_AGE)
    })
}
