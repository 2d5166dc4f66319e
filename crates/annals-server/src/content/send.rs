//! Sends a binary, or a part of it, in pieces: a slow client holds neither a thread nor more than one piece.

use std::io::{Read, Seek, SeekFrom};
use std::sync::Arc;

use annals::storage::StoreReader;
use annals::{Cancel, Content, Error, ErrorKind};
use axum::body::Body;
use http::header::{
    ACCEPT_RANGES, CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_SECURITY_POLICY, CONTENT_TYPE,
    ETAG, LAST_MODIFIED, RANGE, X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderMap, HeaderValue, Method, Response, StatusCode};
use hyper::body::Bytes;

use super::digests;
use super::part::Part;
use super::validators::Validators;
use crate::answer;
use crate::bounds::Bounds;
use crate::bounds::heavy::{CancelOnDrop, heavy};
use crate::bounds::peers::Peer;
use crate::bounds::sending::{self, bytes_with};
use crate::protocol::problem::{Outcome, Problem};
use crate::request::conditions::Conditions;
use crate::request::door::Door;

/// Units: bytes read at once.
const PIECE_BYTES: usize = 256 << 10;

/// A request for a content.
pub struct Wanted<'r> {
    /// GET or HEAD.
    pub method: &'r Method,
    /// Its headers.
    pub headers: &'r HeaderMap,
    /// `If-Match` and `If-None-Match`.
    pub conditions: &'r Conditions,
    /// The client.
    pub peer: &'r Arc<Peer>,
}

/// Answers a request for a content: 200, 206, 304, 412 or 416.
///
/// Errors: `busy` if too many are sent; `corrupted` if the store does not have the content as it was stored; `io`.
pub async fn send(
    door: &Arc<Door>,
    content: Arc<Content>,
    validators: &Validators,
    wanted: Wanted<'_>,
) -> Outcome {
    let Wanted { method, headers, conditions, peer } = wanted;
    match validators.refusal(conditions, headers) {
        None => {}
        Some(StatusCode::NOT_MODIFIED) => {
            let mut response = Response::new(Body::empty());
            *response.status_mut() = StatusCode::NOT_MODIFIED;
            add_validators(response.headers_mut(), validators);
            return Ok(response);
        }
        Some(_) => {
            let text = format!("the content is {}; read it again and decide again", content.sha256);
            return Err(Error::new(ErrorKind::PreconditionFailed, text).into());
        }
    }
    let range = headers.get(RANGE).filter(|_| validators.admits_range(headers));
    let part = Part::of(range, content.size).ok_or_else(|| {
        let text = format!("header range: expected a part of {} bytes; ask for less", content.size);
        Problem::door("range-not-satisfiable", text).header(CONTENT_RANGE, Part::none_of(content.size))
    })?;
    let digested = with_digests(door, &content, headers).await?;
    let contents = door.repository()?.contents()?;
    // Order: before the file is opened, because the system has a bounded number of open files.
    let (place, share) = sending::place_of_download(&door.bounds, peer)?;
    let reader = {
        let content = Arc::clone(&content);
        blocking(move || contents.open(&content).map_err(|error| of_store(error, &content))).await?
    };
    let body = if *method == Method::HEAD { Body::empty() } else { body_of(&door.bounds, reader, &part) };
    let mut response = Response::new(body);
    sending::hold(&mut response, place);
    sending::hold(&mut response, share);
    let headers_out = response.headers_mut();
    add_validators(headers_out, validators);
    // A browser must not run what a client has stored: pages of this origin may write.
    headers_out.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static("sandbox"));
    headers_out.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers_out.insert(ACCEPT_RANGES, HeaderValue::from_static("bytes"));
    headers_out.insert(CONTENT_LENGTH, part.length.into());
    headers_out.insert(CONTENT_TYPE, media_type(&content));
    if let Some(disposition) = content.name.as_deref().and_then(disposition) {
        headers_out.insert(CONTENT_DISPOSITION, disposition);
    }
    digests::answer(|algorithm| digested.digest(algorithm), headers, headers_out)?;
    if !part.is_whole {
        headers_out.insert(CONTENT_RANGE, part.range_of(content.size));
        *response.status_mut() = StatusCode::PARTIAL_CONTENT;
    }
    Ok(response)
}

/// The content with the digests that the client wants. Those that were not kept are computed from the bytes.
///
/// Errors: as [`annals::Contents::digests`].
async fn with_digests(
    door: &Arc<Door>,
    content: &Arc<Content>,
    headers: &HeaderMap,
) -> Result<Arc<Content>, Problem> {
    let mut wanted = digests::wanted_in_all(headers)?;
    wanted.retain(|algorithm| content.digest(*algorithm).is_none());
    if wanted.is_empty() {
        return Ok(Arc::clone(content));
    }
    let contents = door.repository()?.contents()?;
    // Called off when the client has gone, or the time of the request is over.
    let cancel = CancelOnDrop(Cancel::new());
    let (known, cancelled) = (Arc::clone(content), cancel.0.clone());
    let computed = heavy(&door.bounds, move || Ok(contents.digests(&known, &wanted, &cancelled)?)).await?;
    let digests = content.digests.iter().cloned().chain(computed).collect();
    Ok(Arc::new(Content { digests, ..Content::clone(content) }))
}

/// A version names a content that the store does not have: the store has lost it, and the address is right.
fn of_store(error: Error, content: &Content) -> Problem {
    if error.kind() != ErrorKind::NotFound {
        return error.into();
    }
    let text = format!(
        "content {}: it is missing in the store; restore it from a backup, or put it again",
        content.sha256
    );
    Error::new(ErrorKind::Corrupted, text).with("content", content.sha256).into()
}

fn add_validators(answer: &mut HeaderMap, validators: &Validators) {
    answer.insert(ETAG, validators.tag.clone());
    let modified = HeaderValue::try_from(httpdate::fmt_http_date(validators.modified));
    answer.insert(LAST_MODIFIED, modified.expect("a date is valid in a header"));
}

fn media_type(content: &Content) -> HeaderValue {
    HeaderValue::from_str(&content.media_type).unwrap_or(HeaderValue::from_static(Content::UNKNOWN))
}

/// The header that names the file: in UTF-8, percent-encoded.
pub fn disposition(name: &str) -> Option<HeaderValue> {
    let encoded = percent_encoding::utf8_percent_encode(name, answer::SEGMENT);
    HeaderValue::try_from(format!("attachment; filename*=UTF-8''{encoded}")).ok()
}

fn body_of(bounds: &Arc<Bounds>, reader: Box<dyn StoreReader>, part: &Part) -> Body {
    let state = (Arc::clone(bounds), Some(reader), part.start, part.length);
    Body::from_stream(futures_util::stream::unfold(state, |(bounds, reader, at, left)| async move {
        let mut reader = reader.filter(|_| left > 0)?;
        let length = usize::try_from(left).unwrap_or(usize::MAX).min(PIECE_BYTES);
        // Room first: a piece is in memory until the client has taken it.
        let room = sending::room_of_piece(&bounds, length).await;
        let read = blocking(move || {
            let mut piece = vec![0; length];
            let outcome = reader.seek(SeekFrom::Start(at)).and_then(|_| reader.read_exact(&mut piece));
            Ok((reader, outcome.map(|()| piece)))
        });
        let count = u64::try_from(length).unwrap_or(u64::MAX);
        match read.await {
            Ok((reader, Ok(piece))) => {
                let piece = bytes_with(Bytes::from(piece), room);
                Some((Ok::<_, std::io::Error>(piece), (bounds, Some(reader), at + count, left - count)))
            }
            // Cut off, so that no client takes it for the whole.
            Ok((_, Err(error))) => Some((Err(error), (bounds, None, at, 0))),
            Err(_) => Some((Err(std::io::Error::other("the answer is cut off")), (bounds, None, at, 0))),
        }
    }))
}

/// Does short work that may wait for a disk, on a thread for such work.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Problem> + Send + 'static,
) -> Result<T, Problem> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(error) => std::panic::resume_unwind(error.into_panic()),
    }
}
