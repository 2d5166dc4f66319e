//! The time gate (RFC 7089): chooses the memento of a time.

use annals::Snapshot;
use axum::body::Body;
use http::header::{HeaderValue, LOCATION, VARY};
use http::{HeaderMap, Response, StatusCode};

use super::mementos::Mementos;
use super::second::Second;
use crate::ldp::mapping::model::Model;
use crate::ldp::mapping::view::View;
use crate::ldp::requests::answers::{no_description, with_head};
use crate::ldp::requests::headers::{self, ACCEPT_DATETIME};
use crate::ldp::requests::request::{Original, Request};
use crate::protocol::problem::{Outcome, Problem};

/// Answers a request with `Accept-Datetime`: it redirects to the memento of that time.
///
/// Errors: `invalid-argument` for a malformed date; those for a resource that was never there.
pub fn choose(request: &Request, snapshot: &Snapshot, original: &Original, wanted: &HeaderValue) -> Outcome {
    let second = wanted.to_str().ok().and_then(Second::of_date).ok_or_else(|| {
        let text = format!(
            "header accept-datetime: expected a date such as Wed, 25 Nov 2026 22:15:30 GMT, found {wanted:?}"
        );
        Problem::invalid(text).with("header", ACCEPT_DATETIME.as_str())
    })?;
    let view = View { snapshot, base: &request.base };
    if original.is_description
        && view.live(&original.path).is_ok_and(|(_, model)| model != Model::NonRdfSource)
    {
        return Err(no_description(&request.base, &original.path));
    }
    let Some(second) = Mementos::of(snapshot, &original.path).second_for(second)? else {
        let missing = view.live(&original.path).err();
        return Err(missing.unwrap_or_else(|| Problem::not_found("the resource has no versions")));
    };
    let mut head = HeaderMap::new();
    headers::add_time_gate(
        &mut head,
        &headers::address(&request.base, &original.path, original.is_description),
    );
    headers::append(&mut head, LOCATION, address(request, original, second));
    head.insert(VARY, HeaderValue::from_static("Accept-Datetime"));
    Ok(with_head(Response::new(Body::empty()), StatusCode::FOUND, head))
}

/// The address of a memento.
pub fn address(request: &Request, original: &Original, second: Second) -> String {
    let iri = headers::address(&request.base, &original.path, original.is_description);
    format!("{}/{}", headers::time_map(&iri), second.digits())
}
