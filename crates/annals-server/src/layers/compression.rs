//! Compression by gzip, of a bounded number of answers at once.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::middleware::Next;
use http::header::{ACCEPT_ENCODING, ACCEPT_RANGES, HeaderMap};
use http::{Extensions, Response, StatusCode, Version};
use http_body_util::BodyExt;
use tower_http::compression::predicate::{DefaultPredicate, Predicate, SizeAbove};

use crate::bounds::Bounds;

/// Shorter answers are not compressed. Units: bytes.
const COMPRESSED_BYTES_MIN: u64 = 2_048;

/// Marks an answer that may be compressed if the client accepts that.
#[derive(Clone, Copy)]
struct Compressed;

/// The layer: marks a bounded number of answers at once to be compressed. It leaves out short answers, and events, which compression would
/// delay.
pub async fn compress(State(bounds): State<Arc<Bounds>>, request: Request, next: Next) -> Response<Body> {
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
    let Ok(permit) = Arc::clone(&bounds.gates.compressions).try_acquire_owned() else { return response };
    let mut response = response.map(|body| {
        Body::new(body.map_frame(move |frame| {
            let _held = &permit;
            frame
        }))
    });
    response.extensions_mut().insert(Compressed);
    response
}

/// True for a marked answer.
pub fn is_compressed(_: StatusCode, _: Version, _: &HeaderMap, extensions: &Extensions) -> bool {
    extensions.get::<Compressed>().is_some()
}
