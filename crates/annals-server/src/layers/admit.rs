//! Admits requests: those that their principal may send, a bounded number at once.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::IntoResponse;
use http::{Method, Response};

use super::observe::Route;
use crate::access::{Needs, Principal};
use crate::bounds::Bounds;
use crate::bounds::peers::{Kind, Peer, asked_by};
use crate::bounds::sending;
use crate::protocol::problem::Problem;

/// The rules for the requests of one route.
pub struct Admission {
    /// The bounds that they count against.
    pub bounds: Arc<Bounds>,
    /// The route in logs and metrics.
    pub route: &'static str,
    /// The verbs that a principal needs for a method.
    pub needs: Box<dyn Fn(&Method) -> Needs + Send + Sync>,
    /// True if they are admitted however many requests are in progress.
    pub is_operational: bool,
}

/// The layer: admits a bounded number of requests, and gives each answer its room. Endpoints for operators are always admitted.
pub async fn admit(State(admission): State<Arc<Admission>>, request: Request, next: Next) -> Response<Body> {
    let Admission { bounds, route, needs, is_operational } = &*admission;
    let mut response = if let Err(problem) = check(&request, needs(request.method())) {
        problem.into_response()
    } else if *is_operational {
        next.run(request).await
    } else {
        let requests_max = bounds.limits.requests_max;
        let peer: Arc<Peer> = request.extensions().get().cloned().unwrap_or_else(Peer::unbounded);
        let all_taken = || {
            let text = format!("{requests_max} requests are worked on or being answered; try again later");
            Problem::busy(text)
        };
        let permit = Arc::clone(&bounds.gates.requests).try_acquire_owned().map_err(|_| all_taken());
        let share = peer.take(Kind::Requests, 1, requests_max);
        match permit.and_then(|permit| Ok((permit, share?))) {
            Ok((permit, share)) => {
                let response = asked_by(Arc::clone(&peer), next.run(request)).await;
                let response = sending::admit_to(bounds, &peer, share, response);
                sending::admitted(response.unwrap_or_else(IntoResponse::into_response), permit)
            }
            Err(problem) => problem.into_response(),
        }
    };
    response.extensions_mut().insert(Route(route));
    response
}

/// Refuses a request that its principal may not send.
///
/// Errors: `unauthenticated`, `forbidden`.
pub fn check(request: &Request, needs: Needs) -> Result<(), Problem> {
    let principal: Arc<Principal> = request.extensions().get().cloned().unwrap_or_else(Principal::nobody);
    principal.check(needs)
}
