//! Builds answers: JSON with the headers of the door.

use std::fmt::Write;

use annals::{Position, Receipt};
use annals_json::{Form, Members, ObjectOf, json_of};
use axum::body::Body;
use http::header::{CONTENT_TYPE, ETAG, HeaderValue, LINK, LOCATION};
use http::{Response, StatusCode};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value as Json, json};

use crate::bounds::sending::written_in_short;
use crate::protocol::names::POSITION;
use crate::request::call::Call;
use crate::request::etag::Tag;

/// The characters to encode in a segment of a path: all but those that RFC 3986 calls `unreserved`.
pub const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Room for a slash and a UUID.
const LOCATION_ID_BYTES: usize = 37;

/// An answer in JSON that shows a position.
pub fn json(status: StatusCode, body: &impl Form, position: Position) -> Response<Body> {
    let mut response = Response::new(Body::from(json_of(body)));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    with_position(response, position)
}

/// Adds the position header to an answer.
pub fn with_position(mut response: Response<Body>, position: Position) -> Response<Body> {
    response.headers_mut().insert(&POSITION, HeaderValue::from(position.0));
    response
}

/// Adds its entity tag to an answer.
pub fn with_etag(mut response: Response<Body>, tag: &Tag) -> Response<Body> {
    response.headers_mut().insert(ETAG, tag.to_header());
    response
}

/// Adds the address of the new instance to an answer.
pub fn with_location(mut response: Response<Body>, collection: &str, id: &annals::Id) -> Response<Body> {
    let mut location = String::with_capacity(collection.len() + LOCATION_ID_BYTES);
    let written = match id.text() {
        Some(text) => write!(location, "{collection}/{}", utf8_percent_encode(text, SEGMENT)),
        None => write!(location, "{collection}/{id}"),
    };
    written.expect("memory takes what is written");
    if let Ok(location) = HeaderValue::try_from(location) {
        response.headers_mut().insert(LOCATION, location);
    }
    response
}

/// Marks the answer to a write: if there is no room for it, the receipt is sent instead.
pub fn written(response: Response<Body>, receipt: &Receipt) -> Response<Body> {
    written_in_short(response, || receipt_to_json(receipt))
}

/// The JSON form of a receipt.
pub fn receipt_to_json(receipt: &Receipt) -> Json {
    json!({ "position": receipt.position.0, "instant": receipt.instant.to_string() })
}

/// A page: items, the count of all if it was counted, and the link to the next page.
pub fn page(
    call: &Call,
    items: &[impl Form],
    count: Option<usize>,
    next: Option<String>,
    position: Position,
) -> Response<Body> {
    let add = |members: &mut Members| {
        if let Some(count) = count {
            members.add("count", count);
        }
        members.add("items", items);
    };
    parts(call, add, next, position)
}

/// A page with any members, and the link to the next page.
pub fn parts(
    call: &Call,
    add: impl Fn(&mut Members),
    next: Option<String>,
    position: Position,
) -> Response<Body> {
    let body = ObjectOf(|members: &mut Members| {
        add(members);
        members.add("next", &next);
    });
    let mut response = json(StatusCode::OK, &body, position);
    let link =
        next.map(|next| format!("<{}?{}>; rel=\"next\"", call.uri.path(), call.query.following(&next)));
    if let Some(link) = link.and_then(|link| HeaderValue::from_str(&link).ok()) {
        response.headers_mut().insert(LINK, link);
    }
    response
}
