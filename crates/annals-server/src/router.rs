//! The router: every endpoint at its path, and around each one the limits, the clock and the counters.

use std::collections::BTreeMap;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant as Clock};

use axum_core::body::Body;
use futures_util::FutureExt;
use http::header::{ALLOW, CONTENT_LENGTH, HeaderValue};
use http::{Method, Request, Response, StatusCode};
use http_body::Body as _;
use tokio::sync::OwnedSemaphorePermit;

use super::call::Call;
use super::door::Door;
use super::endpoint::Endpoint;
use super::endpoints::endpoints;
use super::names::POSITION;
use super::problem::{Outcome, Problem};
use super::query::{Query, decode_percent};
use super::sending;

/// All endpoints, each at its path.
pub struct Router {
    door: Arc<Door>,
    paths: matchit::Router<Methods>,
}

/// The endpoints at one path.
#[derive(Clone)]
struct Methods {
    endpoints: Vec<Endpoint>,
    /// Their methods, as the header `Allow` has them.
    allow: HeaderValue,
}

impl Router {
    /// The router of all endpoints.
    pub fn new(door: Arc<Door>) -> Router {
        let mut by_path: BTreeMap<&str, Vec<Endpoint>> = BTreeMap::new();
        for endpoint in endpoints() {
            by_path.entry(endpoint.path).or_default().push(endpoint);
        }
        let mut paths = matchit::Router::new();
        for (path, endpoints) in by_path {
            let methods = Methods::new(endpoints);
            for path in routes(path) {
                paths.insert(path, methods.clone()).expect("no two paths of endpoints fit the same request");
            }
        }
        Router { door, paths }
    }

    /// Answers a request, whatever it is, that came at `start`. The permit is held until the answer is sent.
    pub async fn answer(
        &self,
        request: Request<Body>,
        start: Clock,
    ) -> (Response<Body>, Option<OwnedSemaphorePermit>) {
        let method = request.method().clone();
        let found = self.door.hosts.check(&request).and_then(|()| self.find(&request));
        let endpoint = found.as_ref().ok().map(|(endpoint, _)| *endpoint);
        // It stays where it is, however many hands hold it.
        let work = pin!(async move {
            let (endpoint, path) = found?;
            // Of the request nothing else is kept meanwhile.
            let call = unpack(Arc::clone(&self.door), endpoint, path?, request)?;
            // What was parsed of the body goes from hand to hand; its room is given back when all are done with it.
            let _body_room = call.body_room.clone();
            (endpoint.handler)(call).await
        });
        let (response, permit) = guard(&self.door, &method, endpoint, start, work).await;
        if method == Method::HEAD { (without_body(response), permit) } else { (response, permit) }
    }

    /// The endpoint of a request, and the parameters of its path.
    fn find(&self, request: &Request<Body>) -> Result<(&Endpoint, Result<PathParameters, Problem>), Problem> {
        let path = request.uri().path();
        let at = self
            .paths
            .at(path)
            .map_err(|_| Problem::not_found(format!("path {path}: see /openapi.json for what there is")))?;
        let endpoint = at.value.endpoint(request.method()).ok_or_else(|| {
            let text = format!("path {path}: it does not know {}; see the header Allow", request.method());
            Problem::door("method-not-allowed", text).header(ALLOW, at.value.allow.clone())
        })?;
        let decoded =
            at.params.iter().map(|(name, value)| Ok((name.to_owned(), decode_percent(value, "path")?)));
        Ok((endpoint, decoded.collect()))
    }
}

/// What requests for an endpoint ask for: its path. Steps of a tree are any number of segments, and none.
fn routes(path: &str) -> Vec<String> {
    match path.strip_suffix("/{steps}") {
        Some(above) => vec![above.to_owned(), format!("{above}/"), format!("{above}/{{*steps}}")],
        None => vec![path.to_owned()],
    }
}

/// Names and values, decoded.
type PathParameters = Vec<(String, String)>;

impl Methods {
    fn new(endpoints: Vec<Endpoint>) -> Methods {
        let mut names: Vec<&str> = endpoints.iter().map(|endpoint| endpoint.method.as_str()).collect();
        if names.contains(&"GET") {
            names.push("HEAD");
        }
        let allow = HeaderValue::try_from(names.join(",")).expect("methods are valid in a header");
        Methods { endpoints, allow }
    }

    /// The endpoint for a method; `HEAD` asks for what `GET` does.
    fn endpoint(&self, method: &Method) -> Option<&Endpoint> {
        let method = if *method == Method::HEAD { &Method::GET } else { method };
        self.endpoints.iter().find(|endpoint| endpoint.method == *method)
    }
}

/// The answer to `HEAD`: the headers alone.
fn without_body(response: Response<Body>) -> Response<Body> {
    let length = response.body().size_hint().exact();
    let mut response = response.map(|_| Body::empty());
    if let Some(length) = length {
        response.headers_mut().entry(CONTENT_LENGTH).or_insert_with(|| length.into());
    }
    response
}

fn unpack(
    door: Arc<Door>,
    endpoint: &Endpoint,
    path: PathParameters,
    request: Request<Body>,
) -> Result<Box<Call>, Problem> {
    let (parts, body) = request.into_parts();
    Ok(Box::new(Call {
        door,
        path,
        query: Query::parse(parts.uri.query().unwrap_or_default(), &endpoint.parameters)?,
        headers: parts.headers,
        uri: parts.uri,
        body: std::sync::Mutex::new(body),
        body_room: super::body::Room::default(),
    }))
}

/// Holds a request to the limits, turns a panic into a problem, and counts.
async fn guard(
    door: &Door,
    method: &Method,
    endpoint: Option<&Endpoint>,
    start: Clock,
    work: impl Future<Output = Outcome>,
) -> (Response<Body>, Option<OwnedSemaphorePermit>) {
    let worked = door.traffic.enter(start);
    let (outcome, permit) = admit(door, endpoint, work).await;
    drop(worked);
    let response = outcome.unwrap_or_else(Problem::into_response);
    let is_aside = permit.is_none();
    let (mut response, aside) =
        if is_aside { sending::admit_aside(door, response) } else { (response, None) };
    // What is made while it is sent has permits of its own, and may go on for ever.
    let permit = permit.or(aside).filter(|_| response.body().size_hint().exact().is_some());
    // A page of an unknown host learns nothing, not even that something was written.
    if let Some(repository) = door.opened()
        && response.status() != StatusCode::MISDIRECTED_REQUEST
    {
        let position = || HeaderValue::from(repository.snapshot().position().0);
        response.headers_mut().entry(&POSITION).or_insert_with(position);
    }
    let route = endpoint.map_or("unknown", |endpoint| endpoint.path);
    door.metrics.observe(method_name(method), route, response.status().as_u16(), start.elapsed());
    (response, permit)
}

/// Works on a request; also gives the permit that its answer holds until it is sent.
async fn admit(
    door: &Door,
    endpoint: Option<&Endpoint>,
    work: impl Future<Output = Outcome>,
) -> (Outcome, Option<OwnedSemaphorePermit>) {
    let time = match endpoint {
        Some(endpoint) if endpoint.is_streaming => None,
        _ => Some(door.limits.request_time),
    };
    if endpoint.is_some_and(|endpoint| endpoint.is_operational) {
        return (in_time(time, work).await, None);
    }
    let permit = match permit(door) {
        Ok(permit) => permit,
        Err(problem) => return (Err(problem), None),
    };
    let outcome = in_time(time, work).await.and_then(|response| sending::admit(door, response));
    (outcome, Some(permit))
}

/// Works on a request for so long at most, if there is a bound.
async fn in_time(time: Option<Duration>, work: impl Future<Output = Outcome>) -> Outcome {
    let work = AssertUnwindSafe(work).catch_unwind();
    let worked = match time {
        Some(time) => tokio::time::timeout(time, work).await,
        None => Ok(work.await),
    };
    match worked {
        Ok(Ok(outcome)) => outcome,
        Ok(Err(_panic)) => {
            Err(Problem::door("internal", "the request made the server panic; please report it"))
        }
        Err(_) => {
            let seconds = time.unwrap_or_default().as_secs_f32();
            let text =
                format!("no answer within {seconds} s; ask for less. A write may still be done: look first");
            Err(Problem::door("time-out", text))
        }
    }
}

fn permit(door: &Door) -> Result<OwnedSemaphorePermit, Problem> {
    Arc::clone(&door.gates.requests).try_acquire_owned().map_err(|_| {
        let requests_max = door.limits.requests_max;
        Problem::busy(format!("{requests_max} requests are worked on or being answered; try again later"))
    })
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
