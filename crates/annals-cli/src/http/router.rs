//! The router: every endpoint at its path, and around each one the limits, the clock and the counters.

use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::Arc;
use std::time::Instant as Clock;

use axum::Router;
use axum::body::Body;
use axum::extract::rejection::RawPathParamsRejection;
use axum::extract::{RawPathParams, Request, State};
use axum::http::header::{HOST, HeaderName, HeaderValue, ORIGIN};
use axum::http::{HeaderMap, Method, Response, Uri};
use axum::response::IntoResponse;
use axum::routing::{MethodFilter, MethodRouter, on};
use futures_util::FutureExt;
use tokio::sync::OwnedSemaphorePermit;

use super::call::Call;
use super::door::Door;
use super::endpoint::{Endpoint, Outcome};
use super::parameters::POSITION;
use super::problem::Problem;
use super::query::Query;

/// All endpoints, in the order in which they are described.
pub fn endpoints() -> Vec<Endpoint> {
    let groups: [fn() -> Vec<Endpoint>; 12] = [
        super::instances::endpoints,
        super::lifecycle::endpoints,
        super::versions::endpoints,
        super::neighbors::endpoints,
        super::walks::endpoints,
        super::graph::endpoints,
        super::find::endpoints,
        super::classifications::endpoints,
        super::types::endpoints,
        super::transactions::endpoints,
        super::feed::endpoints,
        super::health::endpoints,
    ];
    groups.into_iter().flat_map(|endpoints| endpoints()).collect()
}

/// The router of all endpoints.
pub fn router(door: Arc<Door>) -> Router {
    let mut router = Router::new();
    for endpoint in endpoints() {
        router = router.route(endpoint.path, method_router(endpoint));
    }
    router.fallback(unknown_path).method_not_allowed_fallback(unknown_method).with_state(door)
}

fn method_router(endpoint: Endpoint) -> MethodRouter<Arc<Door>> {
    let filter = MethodFilter::try_from(endpoint.method.clone()).expect("endpoints use standard methods");
    let endpoint = Arc::new(endpoint);
    on(
        filter,
        move |State(door): State<Arc<Door>>,
              path: Result<RawPathParams, RawPathParamsRejection>,
              request: Request| {
            let endpoint = Arc::clone(&endpoint);
            async move {
                let method = request.method().clone();
                let (route, is_operational) = (endpoint.path, endpoint.is_operational);
                // It stays where it is, however many hands hold it.
                let work = pin!(run(Arc::clone(&door), endpoint, path, request));
                guard(&door, &method, route, is_operational, work).await
            }
        },
    )
}

/// Calls the handler. Of the request nothing else is kept meanwhile.
async fn run(
    door: Arc<Door>,
    endpoint: Arc<Endpoint>,
    path: Result<RawPathParams, RawPathParamsRejection>,
    request: Request,
) -> Outcome {
    let call = unpack(door, &endpoint, path, request)?;
    (endpoint.handler)(call).await
}

fn unpack(
    door: Arc<Door>,
    endpoint: &Endpoint,
    path: Result<RawPathParams, RawPathParamsRejection>,
    request: Request,
) -> Result<Call, Problem> {
    let path = path.map_err(|error| Problem::invalid(format!("path: {error}")))?;
    let (parts, body) = request.into_parts();
    check_origin(&parts.method, &parts.headers)?;
    Ok(Call {
        door,
        path: path.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
        query: Query::parse(parts.uri.query().unwrap_or_default(), &endpoint.parameters)?,
        headers: parts.headers,
        uri: parts.uri,
        body: std::sync::Mutex::new(body),
    })
}

/// A page of another origin, open in a browser on this machine, must not write here.
fn check_origin(method: &Method, headers: &HeaderMap) -> Result<(), Problem> {
    if *method == Method::GET || *method == Method::HEAD {
        return Ok(());
    }
    let Some(origin) = headers.get(ORIGIN) else { return Ok(()) };
    let authority = origin.to_str().ok().and_then(|origin| origin.split_once("://")).map(|(_, rest)| rest);
    let host = headers.get(HOST).and_then(|host| host.to_str().ok());
    if authority.is_some() && authority == host {
        return Ok(());
    }
    Err(Problem::door("cross-origin", format!("origin {origin:?}: expected the origin of this server")))
}

/// Holds a request to the limits, turns a panic into a problem, and counts.
async fn guard(
    door: &Door,
    method: &Method,
    route: &'static str,
    is_operational: bool,
    work: impl Future<Output = Outcome>,
) -> Response<Body> {
    let start = Clock::now();
    let worked = door.traffic.enter();
    let outcome = admit(door, is_operational, work).await;
    drop(worked);
    let mut response = outcome.unwrap_or_else(IntoResponse::into_response);
    if let Some(repository) = door.opened() {
        let position = || HeaderValue::from(repository.snapshot().position().0);
        response.headers_mut().entry(HeaderName::from_static(POSITION)).or_insert_with(position);
    }
    door.metrics.observe(method_name(method), route, response.status().as_u16(), start.elapsed());
    response
}

async fn admit(door: &Door, is_operational: bool, work: impl Future<Output = Outcome>) -> Outcome {
    let _permit = if is_operational { None } else { Some(permit(door)?) };
    let work = AssertUnwindSafe(work).catch_unwind();
    match tokio::time::timeout(door.limits.request_time, work).await {
        Ok(Ok(outcome)) => outcome,
        Ok(Err(_panic)) => {
            Err(Problem::door("internal", "the request made the server panic; please report it"))
        }
        Err(_) => {
            let seconds = door.limits.request_time.as_secs_f32();
            let text =
                format!("no answer within {seconds} s; ask for less. A write may still be done: look first");
            Err(Problem::door("time-out", text))
        }
    }
}

fn permit(door: &Door) -> Result<OwnedSemaphorePermit, Problem> {
    Arc::clone(&door.gates.requests).try_acquire_owned().map_err(|_| {
        let requests_max = door.limits.requests_max;
        Problem::busy(format!("{requests_max} requests are worked on; try again later"))
    })
}

async fn unknown_path(State(door): State<Arc<Door>>, method: Method, uri: Uri) -> Response<Body> {
    let outcome = async {
        Err(Problem::not_found(format!("path {}: see /openapi.json for what there is", uri.path())))
    };
    guard(&door, &method, "unknown", false, outcome).await
}

async fn unknown_method(State(door): State<Arc<Door>>, method: Method, uri: Uri) -> Response<Body> {
    let text = format!("path {}: it does not know {method}; see the header Allow", uri.path());
    guard(&door, &method, "unknown", false, async { Err(Problem::door("method-not-allowed", text)) }).await
}

/// The method as a label: a bounded set.
fn method_name(method: &Method) -> &'static str {
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
