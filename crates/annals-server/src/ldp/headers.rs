//! The headers of answers about a resource.

use std::time::{Duration, UNIX_EPOCH};

use annals::{Entity, Instant};
use http::header::{ALLOW, ETAG, HeaderMap, HeaderName, HeaderValue, LAST_MODIFIED, LINK, VARY};

use super::base::Base;
use super::constraints::DOCUMENT;
use super::model::Model;
use super::path::Path;
use super::prefer::{PREFERENCE_APPLIED, Selection};
use super::vocabulary::{CONSTRAINED_BY, LDP};

/// Header: the media types that a POST takes.
pub static ACCEPT_POST: HeaderName = HeaderName::from_static("accept-post");
/// Header: the media types that a PATCH takes.
pub static ACCEPT_PATCH: HeaderName = HeaderName::from_static("accept-patch");

const POST_TYPES: &str = "text/turtle, application/ld+json, application/n-triples, application/rdf+xml, application/sparql-update, */*";
/// The media type of an update.
pub const UPDATE_TYPE: &str = "application/sparql-update";

/// Methods that a resource takes.
pub fn allow(model: Model, is_root: bool) -> &'static str {
    match (model, is_root) {
        (Model::RdfSource, _) => "GET, HEAD, OPTIONS, PUT, PATCH, DELETE",
        (Model::NonRdfSource, _) => "GET, HEAD, OPTIONS, PUT, DELETE",
        (_, true) => "GET, HEAD, OPTIONS, POST, PUT, PATCH",
        (_, false) => "GET, HEAD, OPTIONS, POST, PUT, PATCH, DELETE",
    }
}

/// Adds the headers that say what a resource is and takes.
pub fn add_resource(headers: &mut HeaderMap, base: &Base, path: &Path, model: Model) {
    for class in model.classes() {
        append(headers, LINK, format!("<{LDP}{class}>; rel=\"type\""));
    }
    append(headers, LINK, format!("<{}{DOCUMENT}>; rel=\"{CONSTRAINED_BY}\"", base.iri(&Path::root())));
    headers.insert(ALLOW, HeaderValue::from_static(allow(model, path.is_root())));
    if model != Model::NonRdfSource {
        headers.insert(&ACCEPT_PATCH, HeaderValue::from_static(UPDATE_TYPE));
    }
    if model == Model::NonRdfSource {
        let iri = base.iri(path);
        let link = format!("<{iri}/{DESCRIPTION_SEGMENT}>; rel=\"describedby\"; anchor=\"{iri}\"");
        append(headers, LINK, link);
    }
    if model.is_container() {
        headers.insert(&ACCEPT_POST, HeaderValue::from_static(POST_TYPES));
    }
}

/// The segment of the description, below the binary.
pub const DESCRIPTION_SEGMENT: &str = "fcr:metadata";
/// Methods that a description takes.
pub const DESCRIPTION_ALLOW: &str = "GET, HEAD, OPTIONS, PUT, PATCH";

/// Adds the headers of the description of the binary at a path.
pub fn add_description(headers: &mut HeaderMap, base: &Base, path: &Path) {
    for class in Model::RdfSource.classes() {
        append(headers, LINK, format!("<{LDP}{class}>; rel=\"type\""));
    }
    append(headers, LINK, format!("<{}>; rel=\"describes\"", base.iri(path)));
    append(headers, LINK, format!("<{}{DOCUMENT}>; rel=\"{CONSTRAINED_BY}\"", base.iri(&Path::root())));
    headers.insert(ALLOW, HeaderValue::from_static(DESCRIPTION_ALLOW));
    headers.insert(&ACCEPT_PATCH, HeaderValue::from_static(UPDATE_TYPE));
}

/// Adds the tag and the time of a resource.
pub fn add_state(headers: &mut HeaderMap, tag: &str, entity: &Entity<'_>) {
    if let Ok(tag) = HeaderValue::try_from(tag) {
        headers.insert(ETAG, tag);
    }
    append(headers, LAST_MODIFIED, date(entity.updated().instant));
}

/// Adds what an answer depends on, and the preference that it follows.
pub fn add_selection(headers: &mut HeaderMap, selection: &Selection) {
    headers.insert(VARY, HeaderValue::from_static("Accept, Prefer"));
    if selection.is_asked {
        headers.insert(&PREFERENCE_APPLIED, HeaderValue::from_static("return=representation"));
    }
}

/// Adds a header whose text is made here; leaves out what cannot be in a header.
pub fn append(headers: &mut HeaderMap, name: HeaderName, text: String) {
    if let Ok(value) = HeaderValue::try_from(text) {
        headers.append(name, value);
    }
}

/// An instant as HTTP writes it, in whole seconds.
pub fn date(instant: Instant) -> String {
    let micros = u64::try_from(instant.micros()).unwrap_or(0);
    httpdate::fmt_http_date(UNIX_EPOCH + Duration::from_micros(micros))
}
