//! The login: gives each request the principal that its credentials prove.

use std::sync::Arc;
use std::time::Instant as Clock;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::IntoResponse;
use http::header::{AUTHORIZATION, CONNECTION};
use http::{HeaderValue, Response, StatusCode, Version};

use crate::access::{Client, Unknown};
use crate::bounds::limits::FAILED_LOGINS_MAX;
use crate::bounds::peers::{Kind, Peer, enter};
use crate::protocol::problem::{Problem, is_refusal};
use crate::reporting::refusals::Asker;
use crate::reporting::request_log::Entry;
use crate::request::door::Door;

/// The layer: gives each request its principal, and refuses credentials that prove nothing. The answers of a
/// bounded number wait, longer after each failure of the same address.
pub async fn login(State(door): State<Arc<Door>>, mut request: Request, next: Next) -> Response<Body> {
    let client = request.extensions().get::<Client>().cloned();
    let principal = match door.access.prove(client.as_ref(), request.headers()).await {
        Ok(principal) => principal,
        Err(problem) => {
            let (peer, version) = (request.extensions().get().cloned(), request.version());
            let is_slow = match client.filter(|_| problem.status() == StatusCode::UNAUTHORIZED) {
                Some(client) => slow_down(&door, &client, peer, &problem).await,
                None => true,
            };
            let mut response = problem.into_response();
            // HTTP/2 knows no such header.
            if !is_slow && version < Version::HTTP_2 {
                response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
            }
            response.extensions_mut().insert(Unknown);
            return response;
        }
    };
    if principal.is_named() {
        // Nothing behind the login sees the secret.
        request.headers_mut().remove(AUTHORIZATION);
        if let Some(entry) = request.extensions().get::<Arc<Entry>>() {
            entry.note_author(&principal.name);
        }
        // It counts by its name from here on, and not by its address.
        let peer = door.bounds.peers.named(&principal.name);
        if let Some(max) = door.bounds.limits.client_rate_max
            && let Err(problem) = peer.begin(max, Clock::now())
        {
            return problem.into_response();
        }
        request.extensions_mut().insert(peer);
    }
    let is_unknown = principal.is_nobody();
    request.extensions_mut().insert(Arc::clone(&principal));
    let mut response = next.run(request).await;
    if is_refusal(response.status()) {
        response.extensions_mut().insert(Asker(principal.shown().to_owned()));
    }
    if is_unknown {
        response.extensions_mut().insert(Unknown);
    }
    response
}

/// Waits before the answer to a failed login. False if too many wait already, so that this one does not.
async fn slow_down(door: &Door, client: &Client, peer: Option<Arc<Peer>>, problem: &Problem) -> bool {
    let failure = door.access.count_failure(client.address);
    door.metrics.failed_logins.inc();
    if failure.is_logged() {
        tracing::warn!(
            target: "annals::access", address = %client.address, failures = failure.count, "failed login: {}",
            problem.detail()
        );
    }
    if failure.delay.is_zero() {
        return true;
    }
    let peer = peer.unwrap_or_else(Peer::unbounded);
    let place =
        enter(&door.bounds.gates.failed_logins, (&peer, Kind::FailedLogins, FAILED_LOGINS_MAX), String::new);
    match place {
        Ok(_place) => {
            tokio::time::sleep(failure.delay).await;
            true
        }
        Err(_) => false,
    }
}
