//! The headers of answers about a resource.

use annals::Entity;
use http::header::{ALLOW, ETAG, HeaderMap, HeaderName, HeaderValue, LAST_MODIFIED, LINK, VARY};

use crate::ldp::mapping::base::Base;
use crate::ldp::mapping::constraints::DOCUMENT;
use crate::ldp::mapping::model::Model;
use crate::ldp::mapping::path::Path;
use crate::ldp::mapping::prefer::{PREFERENCE_APPLIED, Selection};
use crate::ldp::mapping::vocabulary::{CONSTRAINED_BY, LDP, MEMENTO};
use crate::ldp::memento::second::{Second, date};

/// Header: the media types that a POST takes.
pub static ACCEPT_POST: HeaderName = HeaderName::from_static("accept-post");
/// Header: the media types that a PATCH takes.
pub static ACCEPT_PATCH: HeaderName = HeaderName::from_static("accept-patch");

/// Header: what the server can do with external contents.
pub static ACCEPT_EXTERNAL_CONTENT_HANDLING: HeaderName =
    HeaderName::from_static("accept-external-content-handling");

const POST_TYPES: &str = "text/turtle, application/ld+json, application/n-triples, application/rdf+xml, application/sparql-update, */*";
/// The media type of an update.
pub const UPDATE_TYPE: &str = "application/sparql-update";

/// Methods that a resource takes.
pub fn allow(model: Model, is_root: bool) -> &'static str {
    match (model, is_root) {
        (Model::RdfSource | Model::Acl, _) => "GET, HEAD, OPTIONS, PUT, PATCH, DELETE",
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
    add_original(headers, &base.iri(path));
    if model != Model::NonRdfSource {
        headers.insert(&ACCEPT_PATCH, HeaderValue::from_static(UPDATE_TYPE));
    }
    if model == Model::NonRdfSource {
        append(headers, LINK, described_by(base, path));
    }
    if model.is_container() {
        headers.insert(&ACCEPT_POST, HeaderValue::from_static(POST_TYPES));
    }
}

fn described_by(base: &Base, path: &Path) -> String {
    let iri = base.iri(path);
    format!("<{iri}/{DESCRIPTION_SEGMENT}>; rel=\"describedby\"; anchor=\"{iri}\"")
}

/// The segment of the time map, below the resource.
pub const VERSIONS_SEGMENT: &str = "fcr:versions";
/// The segment of the notifications, below the root.
pub const EVENTS_SEGMENT: &str = "fcr:events";
/// Methods that a memento takes.
pub const MEMENTO_ALLOW: &str = "GET, HEAD, OPTIONS";
/// Header: the time of a memento.
pub static MEMENTO_DATETIME: HeaderName = HeaderName::from_static("memento-datetime");
/// Header: the time whose memento a client wants.
pub static ACCEPT_DATETIME: HeaderName = HeaderName::from_static("accept-datetime");

/// The address of a resource, or of the description of a binary.
pub fn address(base: &Base, path: &Path, is_description: bool) -> String {
    let iri = base.iri(path);
    // The address of the root ends with a slash.
    let iri = iri.strip_suffix('/').map(str::to_owned).unwrap_or(iri);
    match (is_description, path.is_root()) {
        (true, _) => format!("{iri}/{DESCRIPTION_SEGMENT}"),
        (false, true) => format!("{iri}/"),
        (false, false) => iri,
    }
}

/// The address of the time map of a resource.
pub fn time_map(iri: &str) -> String {
    format!("{}/{VERSIONS_SEGMENT}", iri.strip_suffix('/').unwrap_or(iri))
}

/// Adds what says that a resource has versions, and is its own time gate (RFC 7089).
pub fn add_original(headers: &mut HeaderMap, iri: &str) {
    for class in ["OriginalResource", "TimeGate"] {
        append(headers, LINK, format!("<{MEMENTO}{class}>; rel=\"type\""));
    }
    add_time_gate(headers, iri);
    headers.insert(VARY, HeaderValue::from_static("Accept-Datetime"));
}

/// Adds the links to a resource as the original, and to its time map.
pub fn add_time_gate(headers: &mut HeaderMap, iri: &str) {
    append(headers, LINK, format!("<{iri}>; rel=\"original timegate\""));
    append(headers, LINK, format!("<{}>; rel=\"timemap\"; type=\"application/link-format\"", time_map(iri)));
}

/// Adds the headers of a memento of a resource, or of the description of a binary.
pub fn add_memento(
    headers: &mut HeaderMap,
    base: &Base,
    path: &Path,
    model: Model,
    (second, is_description): (Second, bool),
) {
    let model = if is_description { Model::RdfSource } else { model };
    for class in model.classes() {
        append(headers, LINK, format!("<{LDP}{class}>; rel=\"type\""));
    }
    append(headers, LINK, format!("<{MEMENTO}Memento>; rel=\"type\""));
    append(headers, LINK, format!("<{}{DOCUMENT}>; rel=\"{CONSTRAINED_BY}\"", base.iri(&Path::root())));
    if is_description {
        append(headers, LINK, format!("<{}>; rel=\"describes\"", base.iri(path)));
    } else if model == Model::NonRdfSource {
        append(headers, LINK, described_by(base, path));
    }
    add_time_gate(headers, &address(base, path, is_description));
    append(headers, MEMENTO_DATETIME.clone(), second.date());
    headers.insert(ALLOW, HeaderValue::from_static(MEMENTO_ALLOW));
    headers.insert(VARY, HeaderValue::from_static("Accept, Prefer"));
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
    add_original(headers, &address(base, path, true));
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
    if !headers.contains_key(&MEMENTO_DATETIME) {
        headers.insert(VARY, HeaderValue::from_static("Accept, Prefer, Accept-Datetime"));
    }
    if selection.is_applied {
        headers.insert(&PREFERENCE_APPLIED, HeaderValue::from_static("return=representation"));
    }
}

/// Adds a header whose text is made here; leaves out what cannot be in a header.
pub fn append(headers: &mut HeaderMap, name: HeaderName, text: String) {
    if let Ok(value) = HeaderValue::try_from(text) {
        headers.append(name, value);
    }
}
