//! Bodies of requests: what they are, and the triples in them.

use std::sync::{Arc, OnceLock};

use annals::ReservedMemory;
use http::HeaderMap;
use oxrdf::Triple;

use super::headers::UPDATE_TYPE;
use super::request::Request;
use crate::bounds::heavy::heavy;
use crate::content::digests::{self, Check};
use crate::ldp::binary::external;
use crate::ldp::mapping::model::Model;
use crate::ldp::rdf::update::{self, Update};
use crate::ldp::rdf::{RdfError, RdfErrorKind, RdfFormat, RdfLimits, expanded_bytes, read};
use crate::protocol::header_text::content_type;
use crate::protocol::problem::Problem;
use crate::request::body::{Bytes, Room};
use crate::request::call::Call;
use crate::request::door::Door;

/// Terms of a small body that need no room of their own. Units: bytes.
const SMALL_EXPANDED_BYTES_MAX: usize = 1 << 20;
/// Terms take up to this many times their bytes until they are committed: parsed, as changes, as a record.
const TERMS_FACTOR: usize = 6;
/// Memory for a triple with resources of its own until it is committed. Units: bytes.
const TRIPLE_BYTES: usize = 2_560;
/// So many triples need no reservation.
const TRIPLES_FEW: usize = 1_000;

/// The kind of a body, by its media type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyKind {
    /// There is no media type, and no body.
    Nothing,
    /// A graph.
    Graph(RdfFormat),
    /// An update of a graph.
    Update,
    /// Bytes of another media type.
    Binary,
}

/// A body.
pub struct Received {
    /// Its kind.
    pub kind: BodyKind,
    /// The bounds of its RDF. They also end the work when the request is over.
    pub limits: RdfLimits,
    bytes: Bytes,
    door: Arc<Door>,
    room: Room,
    /// The bytes of the expanded terms, once the room for them is reserved, which a second attempt must not do again.
    expanded: OnceLock<usize>,
}

/// Memory that is reserved until the changes are made.
pub type Reserved = Vec<ReservedMemory>;

impl BodyKind {
    /// The kind of the body of a request, before it is received.
    pub fn of(call: &Call) -> BodyKind {
        let declared = content_type(&call.headers);
        if declared.is_empty() {
            return if call.has_no_body() { BodyKind::Nothing } else { BodyKind::Binary };
        }
        let media_type = declared.split(';').next().unwrap_or_default().trim();
        match RdfFormat::of_content_type(declared) {
            Some(format) => BodyKind::Graph(format),
            None if media_type.eq_ignore_ascii_case(UPDATE_TYPE) => BodyKind::Update,
            None => BodyKind::Binary,
        }
    }
}

impl Received {
    /// Receives the body of a request, and compares it with the digests that the request states.
    ///
    /// Errors: `too-large`; `slow-request`; `busy`; `digest-mismatch`; `invalid-argument` for malformed digests.
    pub async fn of(request: &mut Request) -> Result<Received, Problem> {
        let kind = BodyKind::of(&request.call);
        let call = &mut request.call;
        let stated = digests::stated(&call.headers)?;
        let body = call.take_body();
        let bytes =
            Bytes::receive_any(&call.door.bounds, &call.headers, body, call.body_room.clone()).await?;
        let limits = RdfLimits { is_given_up: Some(Arc::clone(&request.is_over.0)), ..RdfLimits::default() };
        let (door, room) = (Arc::clone(&call.door), call.body_room.clone());
        let received = Received { kind, limits, bytes, door, room, expanded: OnceLock::new() };
        if stated.is_empty() {
            return Ok(received);
        }
        let check = Check::of_stated(stated);
        if received.is_small() {
            return check.check(received.bytes()).map(|()| received);
        }
        heavy(&call.door.bounds, move || check.check(received.bytes()).map(|()| received)).await
    }

    /// True if it is parsed fast enough for the thread of the connection.
    pub fn is_small(&self) -> bool {
        const SMALL_BYTES: usize = 4 << 10;
        self.bytes.as_slice().len() <= SMALL_BYTES
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        self.bytes.as_slice()
    }

    /// The triples, with relative IRIs resolved against the address of the resource.
    ///
    /// Shape: the triples, and the memory that is reserved for them until the changes are made.
    /// Errors: `unsupported-media-type`; `invalid-argument` with the place; `too-large`; `busy`; `no-room`.
    pub fn triples(&self, format: RdfFormat, iri: &str) -> Result<(Vec<Triple>, Reserved), Problem> {
        let parsed = self.reserve_expanded(|| expanded_bytes(self.bytes(), format, iri, &self.limits))?;
        let triples = read(self.bytes(), format, iri, &self.limits).map_err(problem_of)?;
        let made = self.reserve_triples(triples.len())?;
        Ok((triples, parsed.into_iter().chain(made).collect()))
    }

    /// Reserves memory for triples until the changes are made; few need none.
    ///
    /// Errors: `no-room`.
    pub fn reserve_triples(&self, count: usize) -> Result<Option<ReservedMemory>, Problem> {
        if count <= TRIPLES_FEW {
            return Ok(None);
        }
        Ok(Some(self.door.repository()?.reserve_memory(TRIPLE_BYTES.saturating_mul(count))?))
    }

    /// The update, with relative IRIs resolved against the address of the resource.
    ///
    /// Shape: the update, and the memory that is reserved for its terms until the changes are made.
    /// Errors: `invalid-argument` with the place; `constraint-violated`; `too-large`; `busy`; `no-room`.
    pub fn update(&self, iri: &str) -> Result<(Update, Option<ReservedMemory>), Problem> {
        let text = std::str::from_utf8(self.bytes())
            .map_err(|_| Problem::invalid("body: expected an update in UTF-8"))?;
        let reserved = self.reserve_expanded(|| update::expanded_bytes(text, iri, &self.limits))?;
        let update = Update::parse(text, iri, &self.limits).map_err(problem_of)?;
        Ok((update, reserved))
    }

    /// Reserves room for terms that are longer than the text, as for the body itself, and memory to parse them. A small
    /// body with short terms needs none.
    ///
    /// Errors: `too-large`; `busy`; `no-room`; those of `expanded_bytes`.
    fn reserve_expanded(
        &self,
        expanded_bytes: impl FnOnce() -> Result<usize, RdfError>,
    ) -> Result<Option<ReservedMemory>, Problem> {
        let terms_bytes = |bytes: usize| TERMS_FACTOR.saturating_mul(bytes.max(self.bytes().len()));
        if let Some(bytes) = self.expanded.get() {
            return Ok(Some(self.door.repository()?.reserve_memory(terms_bytes(*bytes))?));
        }
        let bytes = expanded_bytes().map_err(problem_of)?;
        if self.is_small() && bytes <= SMALL_EXPANDED_BYTES_MAX {
            return Ok(None);
        }
        let bytes_max = self.door.bounds.limits.bodies_bytes_max;
        if bytes > bytes_max.saturating_sub(self.bytes().len()) {
            let text = format!(
                "body: expected at most {bytes_max} bytes of memory when prefixes are resolved; send it in parts"
            );
            return Err(Problem::too_large(text).with("bytesMax", bytes_max));
        }
        let reserved = self.door.repository()?.reserve_memory(terms_bytes(bytes))?;
        self.room.reserve(&self.door.bounds, bytes)?;
        let _ = self.expanded.set(bytes);
        Ok(Some(reserved))
    }
}

/// True if the body of a request is a binary: its media type says so, or the client does. So is an external content.
pub fn is_upload(call: &Call, asked: Option<Model>) -> bool {
    asked == Some(Model::NonRdfSource)
        || external::is_asked(&call.headers)
        || BodyKind::of(call) == BodyKind::Binary
}

/// The refusal of a body that is no RDF if the client asks for a resource in RDF; `None` if there is nothing to refuse.
pub fn no_rdf(call: &Call, asked: Option<Model>) -> Option<Problem> {
    let is_asked = asked.is_some_and(|asked| asked != Model::NonRdfSource);
    let is_refused = is_asked && BodyKind::of(call) == BodyKind::Binary && !external::is_asked(&call.headers);
    is_refused.then(|| unexpected(&call.headers, "a format of RDF, as the header Link says"))
}

/// The answer for a media type that a method does not take.
pub fn unexpected(headers: &HeaderMap, expected: &str) -> Problem {
    let declared = content_type(headers);
    Problem::door("unsupported-media-type", format!("content type {declared:?}: expected {expected}"))
}

/// An error of RDF as an answer.
pub fn problem_of(error: RdfError) -> Problem {
    let text = format!("body: {error}");
    let problem = match error.kind {
        RdfErrorKind::Syntax => Problem::invalid(text),
        RdfErrorKind::TooLarge => Problem::too_large(text),
        RdfErrorKind::TimedOut => Problem::too_large(text),
        RdfErrorKind::Unsupported => Problem::door("constraint-violated", text),
    };
    match (error.line, error.column) {
        (Some(line), Some(column)) => problem.with("line", line).with("column", column),
        _ => problem,
    }
}
