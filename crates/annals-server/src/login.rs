//! The gate in front of all doors: gives each request its principal.

use std::sync::Arc;
use std::time::Instant as Clock;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::IntoResponse;
use http::header::AUTHORIZATION;
use http::{Response, StatusCode};

use super::access::{Client, Unknown};
use super::door::Door;
use super::problem::Problem;
use super::refusals::{Asker, is_refusal};
use super::request_log::Entry;

/// The layer: gives each request its principal, and refuses credentials that prove nothing. Their answers wait, longer
/// after each failure of the same address.
pub async fn login(State(door): State<Arc<Door>>, mut request: Request, next: Next) -> Response<Body> {
    let client = request.extensions().get::<Client>().cloned();
    let principal = match door.access.prove(client.as_ref(), request.headers()).await {
        Ok(principal) => principal,
        Err(problem) => {
            if let Some(client) = client.filter(|_| problem.status() == StatusCode::UNAUTHORIZED) {
                slow_down(&door, &client, &problem).await;
            }
            let mut response = problem.into_response();
            response.extensions_mut().insert(Unknown);
            return response;
        }
    };
    if principal.is_named() {
        // Nothing behind the gate sees the secret.
        request.headers_mut().remove(AUTHORIZATION);
        if let Some(entry) = request.extensions().get::<Arc<Entry>>() {
            entry.note_author(&principal.name);
        }
        // It counts by its name from here on, and not by its address.
        let peer = door.peers.named(&principal.name);
        if let Some(max) = door.limits.client_rate_max
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

async fn slow_down(door: &Door, client: &Client, problem: &Problem) {
    let failure = door.access.count_failure(client.address);
    door.metrics.failed_logins.inc();
    if failure.is_logged() {
        tracing::warn!(
            target: "annals::access", address = %client.address, failures = failure.count, "failed login: {}",
            problem.detail()
        );
    }
    tokio::time::sleep(failure.delay).await;
}
