//! Binaries with external contents: takes in what a request names, and answers reads.

use std::sync::Arc;

use annals::{Content, Digest, Entity, Patch, StoredContent, Value};
use axum::body::Body;
use http::header::{
    CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_LOCATION, CONTENT_RANGE, CONTENT_SECURITY_POLICY,
    CONTENT_TYPE, HeaderValue, LOCATION, RANGE, X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderMap, Method, Response, StatusCode};

use super::bytes::CONTENT;
use super::external::{Asked, EXTERNAL, External, Handling, is_media_type, refused};
use super::sources::{self, Opened, Reading};
use crate::bounds::Bounds;
use crate::bounds::patience::FlowWait;
use crate::bounds::sending;
use crate::content::digests::{self, Check};
use crate::content::receive::{about, receive, store};
use crate::content::send::disposition;
use crate::ldp::mapping::model::Model;
use crate::ldp::requests::answers::{empty, with_head};
use crate::ldp::requests::request::Request;
use crate::protocol::problem::{Outcome, Problem};

/// The bytes that a write gives a binary.
pub enum BinaryBytes {
    /// Bytes that the repository has.
    Stored(Arc<StoredContent>),
    /// Bytes that are elsewhere.
    External(External),
}

impl BinaryBytes {
    /// Takes in the body of a request, or the external content that it names.
    ///
    /// Errors: those of [`receive`]; a refusal for an external content that is not allowed, that cannot be read, or that
    /// comes with a body.
    pub async fn of(request: &mut Request) -> Result<BinaryBytes, Problem> {
        let Some(asked) = Asked::of(&request.call.headers)? else {
            let body = request.call.take_body();
            let about = about(&request.call.headers)?;
            let stored =
                receive(&request.call.door, &request.call.headers, body, about, &request.call.peer).await?;
            return Ok(BinaryBytes::Stored(Arc::new(stored)));
        };
        if !request.call.has_no_body() {
            return Err(refused(&asked.url, "expected no body beside it"));
        }
        if let Some(model) =
            Model::asked(&request.call.headers)?.filter(|model| *model != Model::NonRdfSource)
        {
            let reason =
                format!("expected the interaction model ldp:NonRDFSource, found {}", model.type_name());
            return Err(refused(&asked.url, reason));
        }
        BinaryBytes::named(request, asked).await
    }

    async fn named(request: &Request, asked: Asked) -> Result<BinaryBytes, Problem> {
        let refuse = |reason: String| refused(&asked.url, reason);
        let (call, sources) = (&request.call, &request.settings.external);
        let bounds = &call.door.bounds;
        let url = sources.allowed(&asked.url).map_err(refuse)?;
        if sources::is_own_request(&call.headers) {
            return Err(refuse(CIRCLE.into()));
        }
        let mut about = about(&call.headers)?;
        let opened = sources.open(&url, reading(bounds, Method::GET, None)).await.map_err(refuse)?;
        let found = opened.media_type.filter(|media_type| is_media_type(media_type));
        about.media_type = asked.media_type.or(found).unwrap_or_else(|| Content::UNKNOWN.to_owned());
        (about.size, about.bytes_max) = (opened.size, Some(sources.bytes_max()));
        let mut body = opened.body;
        if asked.handling == Handling::Copy {
            let stored = store(&call.door, &mut body, about, &call.peer).await?;
            return Ok(BinaryBytes::Stored(Arc::new(stored)));
        }
        if !about.expected.is_empty() {
            Check::of_stated(about.expected).read(&mut FlowWait::new(bounds), &mut body).await?;
        }
        Ok(BinaryBytes::External(External {
            url: url.to_string().into(),
            handling: asked.handling,
            media_type: about.media_type.into(),
            name: about.name.map(Into::into),
        }))
    }

    /// The properties of a new binary.
    pub fn properties(&self) -> Vec<(Arc<str>, Value)> {
        match self {
            BinaryBytes::Stored(stored) => vec![(CONTENT.into(), stored.value())],
            BinaryBytes::External(external) => vec![(EXTERNAL.into(), external.value())],
        }
    }

    /// The change of a binary that is there: it has either a content or an external one.
    pub fn patch(&self, binary: &Entity<'_>) -> Patch {
        let (set, value, unset) = match self {
            BinaryBytes::Stored(stored) => (CONTENT, stored.value(), EXTERNAL),
            BinaryBytes::External(external) => (EXTERNAL, external.value(), CONTENT),
        };
        let patch = Patch::new().set(set, value);
        if binary.property(unset).is_some() { patch.unset(unset) } else { patch }
    }

    /// Adds the header that says where the bytes are, if that is elsewhere.
    pub fn add_location(&self, response: &mut Response<Body>) {
        if let BinaryBytes::External(external) = self {
            add_location(response.headers_mut(), external);
        }
    }
}

const CIRCLE: &str = "an external content cannot lead to another one";

fn add_location(headers: &mut HeaderMap, external: &External) {
    headers.extend(HeaderValue::try_from(&*external.url).ok().map(|url| (CONTENT_LOCATION, url)));
}

/// Half of the time of a request, so that the request can still say what is wrong with the source.
fn reading<'r>(bounds: &Bounds, method: Method, range: Option<&'r HeaderValue>) -> Reading<'r> {
    Reading { method, range, time: bounds.limits.request_time / 2 }
}

/// Answers GET and HEAD of a binary with an external content, or of a memento of one. `head` is what the answer says
/// about the resource.
///
/// Errors: `source-unavailable`; `range-not-satisfiable`; `busy` if too many contents are sent.
pub async fn get(request: &Request, mut head: HeaderMap, external: External) -> Outcome {
    let unavailable = |reason: String| {
        Problem::door("source-unavailable", format!("external content {}: {reason}", external.url))
    };
    let (bounds, headers) = (&request.call.door.bounds, &request.call.headers);
    let sources = &request.settings.external;
    if sources::is_own_request(headers) {
        return Err(unavailable(CIRCLE.into()));
    }
    let url = sources.allowed(&external.url).map_err(unavailable)?;
    add_location(&mut head, &external);
    let (place, share) = sending::place_of_download(bounds, &request.call.peer)?;
    let digested = {
        let wanted = digests::wanted_in_all(headers)?;
        if wanted.is_empty() {
            None
        } else {
            let whole = sources.open(&url, reading(bounds, Method::GET, None)).await.map_err(unavailable)?;
            let mut body = whole.body;
            let found = Check::of_wanted(&wanted).read(&mut FlowWait::new(bounds), &mut body).await;
            let found: Vec<Digest> = found.map_err(|problem| unavailable(problem.detail().to_owned()))?;
            digests::answer(|wanted| find(&found, wanted), headers, &mut head)?;
            Some(whole.version)
        }
    };
    if external.handling == Handling::Redirect {
        head.extend(HeaderValue::try_from(&*external.url).ok().map(|url| (LOCATION, url)));
        return Ok(with_head(empty(StatusCode::TEMPORARY_REDIRECT), StatusCode::TEMPORARY_REDIRECT, head));
    }
    let range = headers.get(RANGE);
    let opened = sources.open(&url, reading(bounds, request.method.clone(), range)).await;
    let opened = opened.map_err(unavailable)?;
    if digested.is_some_and(|version| opened.status == StatusCode::OK && version != opened.version) {
        return Err(unavailable("it changed while its digest was computed; try again".into()));
    }
    let mut response = answer(request, head, &external, opened)?;
    sending::hold(&mut response, place);
    sending::hold(&mut response, share);
    Ok(response)
}

fn find(digests: &[Digest], wanted: annals::DigestAlgorithm) -> Option<Digest> {
    digests.iter().find(|digest| digest.algorithm() == wanted).cloned()
}

/// Passes on what a source answers.
fn answer(request: &Request, head: HeaderMap, external: &External, opened: Opened) -> Outcome {
    if opened.status == StatusCode::RANGE_NOT_SATISFIABLE {
        let text = "header range: expected a part of the external content; ask for less";
        let problem = Problem::door("range-not-satisfiable", text);
        return Err(match opened.ranges.get(CONTENT_RANGE) {
            Some(range) => problem.header(CONTENT_RANGE, range.clone()),
            None => problem,
        });
    }
    let body = if request.method == Method::HEAD { Body::empty() } else { opened.body };
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.extend(opened.ranges);
    // A browser must not run what a client has named: pages of this origin may write.
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static("sandbox"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.extend(opened.size.map(|size| (CONTENT_LENGTH, size.into())));
    headers.extend(HeaderValue::try_from(&*external.media_type).ok().map(|value| (CONTENT_TYPE, value)));
    let name = external.name.as_deref().and_then(disposition);
    headers.extend(name.map(|name| (CONTENT_DISPOSITION, name)));
    Ok(with_head(response, opened.status, head))
}
