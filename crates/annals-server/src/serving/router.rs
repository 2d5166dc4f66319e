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

use axum::body::Body;
use axum::error_handling::HandleErrorLayer;
use axum::extract::rejection::RawPathParamsRejection;
use axum::extract::{RawPathParams, Request};
#[cfg(feature = "explorer")]
use axum::middleware::from_fn;
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodFilter, MethodRouter, any, on};
use http::Method;
use tower::timeout::TimeoutLayer;
use tower::util::option_layer;
use tower::{BoxError, ServiceBuilder};
use tower_http::CompressionLevel;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::compression::CompressionLayer;
use tower_http::request_id::{PropagateRequestIdLayer, SetRequestIdLayer};

use crate::access::{Client, Needs, Principal};
use crate::bounds::peers::Peer;
use crate::description::endpoint::Endpoint;
use crate::endpoints::endpoints;
use crate::layers::admit::{Admission, admit, check};
use crate::layers::compression::{compress, is_compressed};
use crate::layers::login::login;
use crate::layers::observe::observe;
use crate::layers::origins::{check_host, cors};
use crate::layers::request_ids::{RequestIds, drop_tokens};
use crate::ldp::{self, LdpSettings};
use crate::protocol::names::IDEMPOTENCY_KEY;
use crate::protocol::parameter::Parameter;
use crate::protocol::problem::{Outcome, Problem};
use crate::protocol::query::Query;
use crate::request::body::Room;
use crate::request::call::Call;
use crate::request::door::Door;
#[cfg(feature = "explorer")]
use crate::serving::explorer;
use crate::serving::repeats::{key_of, once};

/// The route of the LDP door in logs and metrics.
const LDP: &str = "/ldp";

/// All endpoints, each at its path, behind the layers.
pub fn router(door: &Arc<Door>, ldp: Option<LdpSettings>) -> axum::Router {
    let mut router = axum::Router::new();
    for endpoint in endpoints() {
        let endpoint = Arc::new(endpoint);
        for path in routes(endpoint.path) {
            router = router.route(&path, method_router(door, &endpoint));
        }
    }
    #[cfg(feature = "explorer")]
    let mut router = with_explorer(router, door);
    if let Some(settings) = ldp.map(Arc::new) {
        let root = settings.root.path();
        for path in [root.to_string(), format!("{root}/"), format!("{root}/{{*path}}")] {
            router = router.route(&path, ldp_router(door, &settings));
        }
    }
    router.fallback(unknown_path).method_not_allowed_fallback(unknown_method).layer(
        ServiceBuilder::new()
            .map_request(drop_tokens::<Body>)
            .layer(SetRequestIdLayer::x_request_id(RequestIds::default()))
            .layer(PropagateRequestIdLayer::x_request_id())
            .layer(from_fn_with_state(Arc::clone(door), observe))
            .layer(from_fn_with_state(Arc::clone(door), check_host))
            .layer(option_layer(cors(&door.hosts)))
            .layer(from_fn_with_state(Arc::clone(door), login))
            .layer(CompressionLayer::new().quality(CompressionLevel::Fastest).compress_when(is_compressed))
            .layer(from_fn_with_state(Arc::clone(&door.bounds), compress)),
    )
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
    let needs = endpoint.needs;
    let admission = Admission {
        bounds: Arc::clone(&door.bounds),
        route: endpoint.path,
        needs: Box::new(move |_| needs),
        is_operational: endpoint.is_operational,
    };
    let router = router.route_layer(from_fn_with_state(Arc::new(admission), admit));
    #[cfg(feature = "explorer")]
    if endpoint.path == "/" {
        return router.route_layer(from_fn(explorer::lead));
    }
    router
}

/// The explorer page inside the same layers. It is not in the description: it is no part of the API.
#[cfg(feature = "explorer")]
fn with_explorer(mut router: axum::Router, door: &Arc<Door>) -> axum::Router {
    let admission = Arc::new(Admission {
        bounds: Arc::clone(&door.bounds),
        route: explorer::PATH,
        needs: Box::new(|_| Needs::Nothing),
        // Its answers are in memory already, and it is what shows that the server is busy.
        is_operational: true,
    });
    for path in [explorer::PATH, explorer::FILE_PATH] {
        let files = on(MethodFilter::GET, explorer::answer);
        router = router.route(path, files.route_layer(from_fn_with_state(Arc::clone(&admission), admit)));
    }
    router
}

/// The LDP door inside the same layers. It is not in the description: the specification of LDP describes it.
fn ldp_router(door: &Arc<Door>, settings: &Arc<LdpSettings>) -> MethodRouter {
    let handler = {
        let (door, settings) = (Arc::clone(door), Arc::clone(settings));
        move |request: Request| {
            let (door, settings) = (Arc::clone(&door), Arc::clone(&settings));
            async move {
                let method = request.method().clone();
                let call = call_of(&door, Vec::new(), &[], request)?;
                key_of(&call, false)?;
                let _body_room = call.body_room.clone();
                Box::pin(ldp::answer(Box::new(call), method, &settings)).await
            }
        }
    };
    let settings = Arc::clone(settings);
    let admission = Admission {
        bounds: Arc::clone(&door.bounds),
        route: LDP,
        needs: Box::new(move |method| ldp::needs(settings.web_access.as_ref(), method)),
        is_operational: false,
    };
    any(handler)
        .layer::<_, Infallible>(CatchPanicLayer::custom(report_panic))
        .layer(from_fn_with_state(Arc::new(admission), admit))
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
    let keeps_key = endpoint.parameters.iter().any(|known| known.name == IDEMPOTENCY_KEY.as_str());
    match key_of(&call, keeps_key)? {
        None => (endpoint.handler)(Box::new(call)).await,
        Some(key) => once(&endpoint, Call { key: Some(key), ..call }, key).await,
    }
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
        key: None,
        body_room: Room::of(&peer),
        // Without the layer that proves it, a request may do nothing.
        principal: parts.extensions.get().cloned().unwrap_or_else(Principal::nobody),
        peer,
        reached: parts.extensions.get::<Client>().and_then(|client| client.reached),
        entry: parts.extensions.get().cloned(),
    })
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
