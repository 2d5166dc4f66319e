//! The router: every endpoint at its path, and the layers around them.
//!
//! A request goes through the layers from the outside to the inside, its answer the other way:
//!
//! ```text
//! observe       request id, counters, request log, room for answers without a permit
//! hosts         the name that the request calls the server by, and the origin of the page that sends it
//! CORS          headers for web pages of other origins, if some are allowed
//! compression   gzip, if the client accepts it
//! login         the principal of the request
//!   admit       the verbs that the endpoint needs; one of a bounded number of requests; room for the answer
//!   time-out    the longest time for one request
//!   panic       a panic becomes a problem
//!   handler     what the endpoint does
//! ```

use std::any::Any;
use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use axum::body::Body;
use axum::error_handling::HandleErrorLayer;
use axum::extract::rejection::RawPathParamsRejection;
use axum::extract::{RawPathParams, Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodFilter, MethodRouter, any, on};
use http::header::{
    ACCEPT_ENCODING, ACCEPT_RANGES, ETAG, HeaderMap, HeaderValue, LINK, LOCATION, RETRY_AFTER,
};
use http::{Extensions, Method, StatusCode, Version};
use http_body_util::BodyExt;
use tower::timeout::TimeoutLayer;
use tower::util::option_layer;
use tower::{BoxError, ServiceBuilder};
use tower_http::CompressionLevel;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{DefaultPredicate, Predicate, SizeAbove};
use tower_http::cors::{AllowHeaders, CorsLayer};
use tower_http::request_id::{MakeRequestId, PropagateRequestIdLayer, RequestId, SetRequestIdLayer};

use crate::access::{Needs, Principal};
use crate::bounds::peers::{Kind, Peer, asked_by};
use crate::bounds::sending;
use crate::description::endpoint::Endpoint;
use crate::endpoints::endpoints;
use crate::layers::login::login;
use crate::layers::observe::{Route, observe};
use crate::ldp;
use crate::protocol::names::{POSITION, REQUEST_ID};
use crate::protocol::parameter::Parameter;
use crate::protocol::problem::{Outcome, Problem};
use crate::protocol::query::Query;
use crate::request::call::Call;
use crate::request::door::Door;

/// The route of the LDP door in logs and metrics.
const LDP: &str = "/ldp";
/// Shorter answers are not compressed. Units: bytes.
const COMPRESSED_BYTES_MIN: u64 = 2_048;

/// All endpoints, each at its path, behind the layers.
pub fn router(door: &Arc<Door>) -> axum::Router {
    let mut router = axum::Router::new();
    for endpoint in endpoints() {
        let endpoint = Arc::new(endpoint);
        for path in routes(endpoint.path) {
            router = router.route(&path, method_router(door, &endpoint));
        }
    }
    if let Some(root) = door.ldp.as_ref().map(|ldp| ldp.root.path()) {
        for path in [root.to_string(), format!("{root}/"), format!("{root}/{{*path}}")] {
            router = router.route(&path, ldp_router(door, &root));
        }
    }
    router.fallback(unknown_path).method_not_allowed_fallback(unknown_method).layer(
        ServiceBuilder::new()
            .layer(SetRequestIdLayer::x_request_id(RequestIds::default()))
            .layer(PropagateRequestIdLayer::x_request_id())
            .layer(from_fn_with_state(Arc::clone(door), observe))
            .layer(from_fn_with_state(Arc::clone(door), check_host))
            .layer(option_layer(cors(door)))
            .layer(from_fn_with_state(Arc::clone(door), login))
            .layer(CompressionLayer::new().quality(CompressionLevel::Fastest).compress_when(is_compressed))
            .layer(from_fn_with_state(Arc::clone(door), compress)),
    )
}

async fn check_host(State(door): State<Arc<Door>>, request: Request, next: Next) -> Response<Body> {
    match door.hosts.check(&request) {
        Ok(()) => next.run(request).await,
        Err(problem) => problem.into_response(),
    }
}

/// The rights of web pages of other origins, if the settings name some.
fn cors(door: &Door) -> Option<CorsLayer> {
    const MAX_AGE: Duration = Duration::from_secs(3_600);
    let origins: Vec<HeaderValue> =
        door.hosts.origins().iter().map(|origin| origin.header().clone()).collect();
    let methods = [Method::GET, Method::HEAD, Method::POST, Method::PUT, Method::PATCH, Method::DELETE];
    let exposed = [ETAG, LINK, LOCATION, RETRY_AFTER, POSITION.clone(), REQUEST_ID.clone()];
    (!origins.is_empty()).then(|| {
        CorsLayer::new()
            .allow_origin(origins)
            .allow_methods(methods)
            .allow_headers(AllowHeaders::mirror_request())
            .expose_headers(exposed)
            .max_age(MAX_AGE)
    })
}

/// Marks an answer that may be compressed if the client accepts that.
#[derive(Clone, Copy)]
struct Compressed;

/// Compresses a bounded number of answers at once. It leaves out short answers, and events, which compression would
/// delay.
async fn compress(State(door): State<Arc<Door>>, request: Request, next: Next) -> Response<Body> {
    let accepted = request.headers().get_all(ACCEPT_ENCODING).iter();
    let is_accepted =
        accepted.into_iter().any(|value| value.as_bytes().windows(4).any(|part| part == b"gzip"));
    let response = next.run(request).await;
    // A part of a compressed answer is no part of the bytes.
    if !is_accepted
        || response.headers().contains_key(ACCEPT_RANGES)
        || !DefaultPredicate::new().and(SizeAbove::new(COMPRESSED_BYTES_MIN)).should_compress(&response)
    {
        return response;
    }
    let Ok(permit) = Arc::clone(&door.bounds.gates.compressions).try_acquire_owned() else { return response };
    let mut response = response.map(|body| {
        Body::new(body.map_frame(move |frame| {
            let _held = &permit;
            frame
        }))
    });
    response.extensions_mut().insert(Compressed);
    response
}

fn is_compressed(_: StatusCode, _: Version, _: &HeaderMap, extensions: &Extensions) -> bool {
    extensions.get::<Compressed>().is_some()
}

/// Numbers requests without an id: the second in which the server started, and a count.
#[derive(Clone)]
struct RequestIds {
    started: u64,
    count: Arc<AtomicU64>,
}

impl Default for RequestIds {
    fn default() -> RequestIds {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        RequestIds { started: since.map_or(0, |since| since.as_secs()), count: Arc::default() }
    }
}

impl MakeRequestId for RequestIds {
    fn make_request_id<B>(&mut self, _: &http::Request<B>) -> Option<RequestId> {
        let count = self.count.fetch_add(1, Ordering::Relaxed);
        let id = format!("{:x}-{count:x}", self.started);
        HeaderValue::try_from(id).ok().map(RequestId::new)
    }
}

/// The routes of an endpoint's path. The steps of a tree are any number of segments, also none.
fn routes(path: &str) -> Vec<String> {
    match path.strip_suffix("/{steps}") {
        Some(above) => vec![above.to_owned(), format!("{above}/"), format!("{above}/{{*steps}}")],
        None => vec![path.to_owned()],
    }
}

/// One endpoint inside the layers that depend on it.
fn method_router(door: &Arc<Door>, endpoint: &Arc<Endpoint>) -> MethodRouter {
    let filter = MethodFilter::try_from(endpoint.method.clone()).expect("endpoints have usual methods");
    let handler = {
        let (door, endpoint) = (Arc::clone(door), Arc::clone(endpoint));
        move |path: Result<RawPathParams, RawPathParamsRejection>, request: Request| {
            handle(Arc::clone(&door), Arc::clone(&endpoint), path, request)
        }
    };
    let request_time = door.bounds.limits.request_time;
    let late = HandleErrorLayer::new(move |_: BoxError| async move { Problem::too_late(request_time) });
    let panic = CatchPanicLayer::custom(report_panic);
    let mut router = on(filter, handler).route_layer(panic);
    if !endpoint.is_streaming {
        router = router.route_layer(ServiceBuilder::new().layer(late).layer(TimeoutLayer::new(request_time)));
    }
    router.route_layer(from_fn_with_state((Arc::clone(door), Arc::clone(endpoint)), admit))
}

/// The LDP door inside the same layers.
fn ldp_router(door: &Arc<Door>, root: &Arc<str>) -> MethodRouter {
    let handler = {
        let (door, root) = (Arc::clone(door), Arc::clone(root));
        move |request: Request| {
            let (door, root) = (Arc::clone(&door), Arc::clone(&root));
            async move {
                let method = request.method().clone();
                let call = call_of(&door, Vec::new(), &[], request)?;
                let _body_room = call.body_room.clone();
                Box::pin(ldp::answer(Box::new(call), method, &root)).await
            }
        }
    };
    // It is not in the description: the specification of LDP describes it.
    let endpoint = Arc::new(Endpoint::new(Method::GET, LDP, "", |_| async {
        Err(Problem::not_found("the LDP door answers"))
    }));
    any(handler)
        .layer::<_, Infallible>(CatchPanicLayer::custom(report_panic))
        .layer(from_fn_with_state((Arc::clone(door), endpoint), admit))
}

fn report_panic(panic: Box<dyn Any + Send>) -> Response<Body> {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let message = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or_default();
    tracing::error!(message, "a request panicked");
    Problem::panicked().into_response()
}

async fn handle(
    door: Arc<Door>,
    endpoint: Arc<Endpoint>,
    path: Result<RawPathParams, RawPathParamsRejection>,
    request: Request,
) -> Outcome {
    let path = path.map_err(|_| Problem::invalid("path: expected UTF-8, percent-encoded"))?;
    let path = path.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    let call = call_of(&door, path, &endpoint.parameters, request)?;
    // The parsed body moves between tasks; its room is released when all are done with it.
    let _body_room = call.body_room.clone();
    (endpoint.handler)(Box::new(call)).await
}

/// A request as handlers see it.
fn call_of(
    door: &Arc<Door>,
    path: Vec<(String, String)>,
    parameters: &[Parameter],
    request: Request,
) -> Result<Call, Problem> {
    let (parts, body) = request.into_parts();
    // No handler reads such a body, which would be in memory until the request is done.
    let is_unread = [Method::GET, Method::HEAD, Method::DELETE].contains(&parts.method);
    let body = if is_unread { Body::empty() } else { body };
    let peer: Arc<Peer> = parts.extensions.get().cloned().unwrap_or_else(Peer::unbounded);
    Ok(Call {
        door: Arc::clone(door),
        path,
        query: Query::parse(parts.uri.query().unwrap_or_default(), parameters)?,
        headers: parts.headers,
        method: parts.method,
        uri: parts.uri,
        body: std::sync::Mutex::new(body),
        body_room: crate::request::body::Room::of(&peer),
        // Without the layer that proves it, a request may do nothing.
        principal: parts.extensions.get().cloned().unwrap_or_else(Principal::nobody),
        peer,
        entry: parts.extensions.get().cloned(),
    })
}

/// Admits a bounded number of requests, and gives each answer its room. Endpoints for operators are always admitted.
async fn admit(
    State((door, endpoint)): State<(Arc<Door>, Arc<Endpoint>)>,
    request: Request,
    next: Next,
) -> Response<Body> {
    let web_access = door.ldp.as_ref().and_then(|ldp| ldp.web_access.as_ref());
    let needs = if endpoint.path == LDP { ldp::needs(web_access, request.method()) } else { endpoint.needs };
    let mut response = if let Err(problem) = check(&request, needs) {
        problem.into_response()
    } else if endpoint.is_operational {
        next.run(request).await
    } else {
        let requests_max = door.bounds.limits.requests_max;
        let peer: Arc<Peer> = request.extensions().get().cloned().unwrap_or_else(Peer::unbounded);
        let all_taken = || {
            let text = format!("{requests_max} requests are worked on or being answered; try again later");
            Problem::busy(text)
        };
        let permit = Arc::clone(&door.bounds.gates.requests).try_acquire_owned().map_err(|_| all_taken());
        let share = peer.take(Kind::Requests, 1, requests_max);
        match permit.and_then(|permit| Ok((permit, share?))) {
            Ok((permit, share)) => {
                let response = asked_by(Arc::clone(&peer), next.run(request)).await;
                let response = sending::admit_to(&door.bounds, &peer, share, response);
                sending::admitted(response.unwrap_or_else(IntoResponse::into_response), permit)
            }
            Err(problem) => problem.into_response(),
        }
    };
    response.extensions_mut().insert(Route(endpoint.path));
    response
}

/// Refuses a request that its principal may not send.
///
/// Errors: `unauthenticated`, `forbidden`.
fn check(request: &Request, needs: Needs) -> Result<(), Problem> {
    let principal: Arc<Principal> = request.extensions().get().cloned().unwrap_or_else(Principal::nobody);
    principal.check(needs)
}

async fn unknown_path(request: Request) -> Problem {
    if let Err(problem) = check(&request, Needs::Name) {
        return problem;
    }
    let path = request.uri().path();
    Problem::not_found(format!("path {path}: not found; see /openapi.json for all paths"))
}

async fn unknown_method(request: Request) -> Problem {
    if let Err(problem) = check(&request, Needs::Name) {
        return problem;
    }
    let (path, method) = (request.uri().path(), request.method());
    Problem::door(
        "method-not-allowed",
        format!("path {path}: it does not know {method}; see the header Allow"),
    )
}
