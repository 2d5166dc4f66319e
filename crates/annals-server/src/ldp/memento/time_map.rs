//! Time maps (RFC 7089): the versions of a resource, as links or as a container in RDF. A POST adds a version.

use std::fmt::Write;

use annals::{Patch, Snapshot};
use axum::body::Body;
use http::header::{ALLOW, CONTENT_TYPE, ETAG, HeaderValue, LINK, LOCATION, VARY};
use http::{HeaderMap, Method, Response, StatusCode};
use oxrdf::{NamedNode, NamedOrBlankNode, TripleRef};

use super::mementos::Mementos;
use super::second::Second;
use super::time_gate::address;
use crate::answer::with_position;
use crate::bounds::heavy::heavy_read;
use crate::ldp::mapping::constraints::{DOCUMENT, Refusal};
use crate::ldp::mapping::model::Model;
use crate::ldp::mapping::path::Path;
use crate::ldp::mapping::resource_graph::each_class;
use crate::ldp::mapping::resource_tag::ResourceConditions;
use crate::ldp::mapping::triples::emit;
use crate::ldp::mapping::view::View;
use crate::ldp::mapping::vocabulary::{CONSTRAINED_BY, CONTAINS, LDP, MEMENTO, TYPE, node, node_in};
use crate::ldp::mapping::writer::Writer;
use crate::ldp::rdf::{RdfFormat, RdfWriter};
use crate::ldp::requests::answers::{empty, no_description, with_head};
use crate::ldp::requests::bodies::problem_of;
use crate::ldp::requests::get::media_type_of;
use crate::ldp::requests::headers::{self, ACCEPT_POST, MEMENTO_DATETIME};
use crate::ldp::requests::request::{Original, Request};
use crate::protocol::problem::{Outcome, Problem};
use crate::request::call::Weight;
use crate::request::upload::discard;

/// Methods that a time map takes.
pub const ALLOWED: &str = "GET, HEAD, OPTIONS, POST";
/// The media type of links (RFC 6690).
const LINK_FORMAT: &str = "application/link-format";

/// Answers GET and HEAD of a time map.
pub async fn answer(request: Request, original: Original) -> Outcome {
    let offers: Vec<&'static str> =
        std::iter::once(LINK_FORMAT).chain(RdfFormat::ALL.iter().map(|format| format.media_type())).collect();
    let media_type = media_type_of(&request.call.headers, &offers)?;
    let seconds = seconds(&request, &original).await?;
    let mut head = head(&request, &original);
    head.insert(VARY, HeaderValue::from_static("Accept"));
    let last = seconds.last().map(|second| second.digits()).unwrap_or_default();
    let log = request.call.door.repository()?.snapshot().log_tag();
    let tag = format!("W/\"{}.{last}{log}\"", seconds.len());
    headers::append(&mut head, ETAG, tag.clone());
    if ResourceConditions::of(&request.call.headers).is_known(&tag) {
        return Ok(with_head(empty(StatusCode::NOT_MODIFIED), StatusCode::NOT_MODIFIED, head));
    }
    head.insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
    if request.method == Method::HEAD {
        return Ok(with_head(empty(StatusCode::OK), StatusCode::OK, head));
    }
    let body = match RdfFormat::of_content_type(media_type) {
        None => links(&request, &original, &seconds).into_bytes(),
        Some(format) => graph(&request, &original, &seconds, format)?,
    };
    Ok(with_head(Response::new(Body::from(body)), StatusCode::OK, head))
}

/// Answers OPTIONS of a time map.
pub async fn options(request: Request, original: Original) -> Outcome {
    seconds(&request, &original).await?;
    Ok(with_head(empty(StatusCode::OK), StatusCode::OK, head(&request, &original)))
}

/// Answers POST: adds a version of the present state, also if it is that of the last version. The body is ignored.
///
/// Errors: `constraint-violated` for a version with a time that the client chooses; those for a resource that is not
/// there.
pub async fn add_version(mut request: Request, original: Original) -> Outcome {
    discard(&mut request.call.take_body()).await;
    if request.call.headers.contains_key(&MEMENTO_DATETIME) {
        let reason = "the versions of a resource come from what was committed; leave the header out to add a version \
                      of the present state";
        return Err(Refusal::new("header memento-datetime", reason).into_problem());
    }
    let Original { path, is_description } = original.clone();
    let work = move |writer: &mut Writer<'_>| {
        if path.is_root() && writer.has_new_root() {
            return Ok(Model::Basic);
        }
        let (entity, model) = writer.view().live(&path)?;
        if is_description && model != Model::NonRdfSource {
            return Err(no_description(writer.view().base, &path));
        }
        writer.transaction.always(true).update(&entity.instance_id(), Patch::new())?;
        Ok(model)
    };
    let (model, receipt) = request.commit(Weight::Light, work).await?;
    let second = Second::of(receipt.instant);
    // A client that goes on to change the resource must not change this version.
    second.passed().await;
    // Later writes get a later instant, also if the clock is set back.
    let _ = request.call.door.repository()?.is_settled(second.last());
    let mut head = HeaderMap::new();
    headers::add_memento(&mut head, &request.base, &original.path, model, (second, is_description));
    let iri = address(&request, &original, second);
    headers::append(&mut head, LOCATION, iri.clone());
    head.insert(CONTENT_TYPE, HeaderValue::from_static("text/plain"));
    let response = with_head(Response::new(Body::from(iri)), StatusCode::CREATED, head);
    Ok(with_position(response, receipt.position))
}

/// The versions of a resource.
///
/// Errors: `not-found` if there was never a resource.
async fn seconds(request: &Request, original: &Original) -> Result<Vec<Second>, Problem> {
    let snapshot = request.call.snapshot().await?;
    let view = View { snapshot: &snapshot, base: &request.base };
    if original.is_description
        && let Ok((_, model)) = view.live(&original.path)
        && model != Model::NonRdfSource
    {
        return Err(no_description(&request.base, &original.path));
    }
    let path = original.path.clone();
    let work = move |snapshot: Snapshot| Mementos::of(&snapshot, &path).seconds();
    let seconds = Box::pin(heavy_read(&request.call.door.bounds, snapshot.clone(), work)).await?;
    if seconds.is_empty() {
        let missing = view.live(&original.path).err();
        return Err(missing.unwrap_or_else(|| Problem::not_found("the resource has no versions")));
    }
    Ok(seconds)
}

fn head(request: &Request, original: &Original) -> HeaderMap {
    let base = &request.base;
    let mut head = HeaderMap::new();
    for class in Model::Basic.classes() {
        headers::append(&mut head, LINK, format!("<{LDP}{class}>; rel=\"type\""));
    }
    headers::append(&mut head, LINK, format!("<{MEMENTO}TimeMap>; rel=\"type\""));
    headers::append(
        &mut head,
        LINK,
        format!("<{}{DOCUMENT}>; rel=\"{CONSTRAINED_BY}\"", base.iri(&Path::root())),
    );
    headers::add_time_gate(&mut head, &headers::address(base, &original.path, original.is_description));
    head.insert(ALLOW, HeaderValue::from_static(ALLOWED));
    head.insert(&ACCEPT_POST, HeaderValue::from_static("*/*"));
    head
}

/// Source: RFC 7089, section 5.
fn links(request: &Request, original: &Original, seconds: &[Second]) -> String {
    let iri = headers::address(&request.base, &original.path, original.is_description);
    let map = headers::time_map(&iri);
    let mut text =
        format!("<{iri}>; rel=\"original timegate\",\n<{map}>; rel=\"self\"; type=\"{LINK_FORMAT}\"");
    if let (Some(first), Some(last)) = (seconds.first(), seconds.last()) {
        let _ = write!(text, "; from=\"{}\"; until=\"{}\"", first.date(), last.date());
    }
    for (index, second) in seconds.iter().enumerate() {
        let rel = match (index == 0, index + 1 == seconds.len()) {
            (true, true) => "first last memento",
            (true, false) => "first memento",
            (false, true) => "last memento",
            (false, false) => "memento",
        };
        let _ = write!(text, ",\n<{map}/{}>; rel=\"{rel}\"; datetime=\"{}\"", second.digits(), second.date());
    }
    text.push('\n');
    text
}

/// The time map as a container of mementos.
fn graph(
    request: &Request,
    original: &Original,
    seconds: &[Second],
    format: RdfFormat,
) -> Result<Vec<u8>, Problem> {
    let map = headers::time_map(&headers::address(&request.base, &original.path, original.is_description));
    let named = |iri: &str| NamedNode::new(iri).map_err(|error| Problem::invalid(format!("{iri}: {error}")));
    let subject: NamedOrBlankNode = named(&map)?.into();
    let (mut writer, mut body) = (RdfWriter::new(format), Vec::new());
    let mut sink = |triple: TripleRef<'_>| writer.write(triple, &mut body).map_err(problem_of);
    each_class(Model::Basic, &subject, &mut sink)?;
    emit(&subject, node(TYPE), node_in(MEMENTO, "TimeMap").as_ref().into(), &mut sink)?;
    for second in seconds {
        let memento = named(&format!("{map}/{}", second.digits()))?;
        emit(&subject, node(CONTAINS), memento.as_ref().into(), &mut sink)?;
    }
    writer.finish(&mut body);
    Ok(body)
}
