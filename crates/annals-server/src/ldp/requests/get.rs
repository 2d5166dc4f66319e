//! GET and HEAD of resources.

use annals::{Entity, Id, Snapshot};
use axum::body::Body;
use http::header::{ACCEPT, CONTENT_TYPE, ETAG, HeaderValue};
use http::{HeaderMap, Method, Response, StatusCode};

use super::answers::{no_description, with_head};
use super::bodies::problem_of;
use super::headers;
use super::request::{Original, Request};
use crate::answer::lines;
use crate::bounds::heavy::heavy_answer;
use crate::content::digests;
use crate::content::validators::Validators;
use crate::ldp::binary::bytes;
use crate::ldp::binary::external::External;
use crate::ldp::binary::external_binary;
use crate::ldp::binary::stored_binary;
use crate::ldp::mapping::base::Base;
use crate::ldp::mapping::constraints;
use crate::ldp::mapping::model::Model;
use crate::ldp::mapping::path::Path;
use crate::ldp::mapping::prefer::Selection;
use crate::ldp::mapping::resource_graph;
use crate::ldp::mapping::resource_tag::{self, ResourceConditions};
use crate::ldp::mapping::view::{Found, View};
use crate::ldp::memento::second::Second;
use crate::ldp::memento::time_gate;
use crate::ldp::rdf::{RdfFormat, RdfWriter, negotiate};
use crate::protocol::header_text::texts;
use crate::protocol::names::POSITION;
use crate::protocol::problem::{Outcome, Problem};

/// Parts of an answer that is streamed. Units: bytes.
const PART_BYTES: usize = 8 << 10;

/// Answers GET and HEAD.
pub async fn answer(request: Request, path: Path, is_description: bool) -> Outcome {
    let snapshot = request.call.snapshot().await?;
    if let Some(value) = request.call.headers.get(&headers::ACCEPT_DATETIME) {
        let original = Original { path, is_description };
        return time_gate::choose(&request, &snapshot, &original, value);
    }
    let view = View { snapshot: &snapshot, base: &request.base };
    if path.is_root() && matches!(view.find(&path)?, Found::Missing) {
        return show_unstored_root(&request);
    }
    show(request, Original { path, is_description }, None, snapshot).await
}

/// Shows the root of a repository to which no write of this door has come: an empty container.
fn show_unstored_root(request: &Request) -> Outcome {
    let (model, root) = (Model::Basic, Path::root());
    let selection = Selection::asked(&request.call.headers);
    let format = format_of(&request.call.headers)?;
    let mut head = HeaderMap::new();
    headers::add_resource(&mut head, &request.base, &root, model);
    headers::add_selection(&mut head, &selection);
    headers::append(&mut head, ETAG, resource_tag::UNSTORED_ROOT.to_owned());
    if ResourceConditions::of(&request.call.headers).is_known(resource_tag::UNSTORED_ROOT) {
        return Ok(with_head(Response::new(Body::empty()), StatusCode::NOT_MODIFIED, head));
    }
    head.insert(CONTENT_TYPE, HeaderValue::from_static(format.media_type()));
    let mut body = Vec::new();
    if request.method != Method::HEAD {
        let mut writer = RdfWriter::new(format);
        let mut sink = |triple: oxrdf::TripleRef<'_>| writer.write(triple, &mut body).map_err(problem_of);
        if selection.has_managed {
            resource_graph::each_class(model, &request.base.node(&root).into(), &mut sink)?;
        }
        writer.finish(&mut body);
    }
    Ok(with_head(Response::new(Body::from(body)), StatusCode::OK, head))
}

/// Shows a resource as a snapshot has it; as a memento, if a second is given.
pub async fn show(
    request: Request,
    original: Original,
    second: Option<Second>,
    snapshot: Snapshot,
) -> Outcome {
    let Original { path, is_description } = original;
    let view = View { snapshot: &snapshot, base: &request.base };
    let (entity, model) = view.live(&path)?;
    let mut head = HeaderMap::new();
    match second {
        Some(second) => {
            headers::add_memento(&mut head, &request.base, &path, model, (second, is_description));
        }
        None if is_description => headers::add_description(&mut head, &request.base, &path),
        None => headers::add_resource(&mut head, &request.base, &path, model),
    }
    let content = bytes::content_of(&entity).filter(|_| model == Model::NonRdfSource);
    let external = External::of(&entity).filter(|_| model == Model::NonRdfSource);
    if is_description && content.is_none() && external.is_none() {
        return Err(no_description(&request.base, &path));
    }
    if request.method == Method::OPTIONS {
        return Ok(with_head(Response::new(Body::empty()), StatusCode::OK, head));
    }
    if let Some(content) = content.filter(|_| !is_description) {
        digests::check_wanted(&request.call.headers)?;
        let validators = Validators::new(&content, entity.updated().instant);
        return Box::pin(stored_binary::get(&request, head, content, validators)).await;
    }
    if let Some(external) = external.filter(|_| !is_description) {
        digests::check_wanted(&request.call.headers)?;
        // Weak, and without a date: the bytes may change while the resource does not.
        headers::append(&mut head, ETAG, resource_tag::tag_of(view, &entity)?);
        return Box::pin(external_binary::get(&request, head, external)).await;
    }
    let selection = Selection::asked(&request.call.headers);
    let format = format_of(&request.call.headers)?;
    let size = resource_tag::size(view, &entity, &selection)?;
    let tag =
        resource_tag::tag_of_selection(&request.call.door.bounds, view, &entity, &selection, size).await?;
    headers::add_state(&mut head, &tag, &entity);
    if second.is_none() {
        head.insert(&POSITION, snapshot.position().0.into());
    }
    headers::add_selection(&mut head, &selection);
    if ResourceConditions::of(&request.call.headers).is_known(&tag) {
        return Ok(with_head(Response::new(Body::empty()), StatusCode::NOT_MODIFIED, head));
    }
    head.insert(CONTENT_TYPE, HeaderValue::from_static(format.media_type()));
    if request.method == Method::HEAD {
        return Ok(with_head(Response::new(Body::empty()), StatusCode::OK, head));
    }
    let shown = Shown { base: request.base.clone(), id: entity.id().clone(), model, selection, format };
    let response = match size {
        // A few triples: at once.
        0..TRIPLES_FEW => shown.whole(&snapshot)?,
        TRIPLES_FEW..resource_tag::TRIPLES_MANY => {
            let door = std::sync::Arc::clone(&request.call.door);
            Box::pin(heavy_answer(&door.bounds, snapshot.clone(), move |snapshot| shown.whole(&snapshot)))
                .await?
        }
        _ => {
            let work =
                move |_: &crate::request::call::Call, snapshot: &Snapshot, lines: &mut lines::Lines| {
                    shown.write(snapshot, |buffer| {
                        let outcome = lines.part(buffer);
                        buffer.clear();
                        outcome
                    })
                };
            Box::pin(lines::send_whole(request.call, snapshot.clone(), work)).await?
        }
    };
    Ok(with_head(response, StatusCode::OK, head))
}

/// Units: triples.
const TRIPLES_FEW: usize = 128;

/// The parts that an answer shows.
struct Shown {
    base: Base,
    id: Id,
    model: Model,
    selection: Selection,
    format: RdfFormat,
}

impl Shown {
    /// The answer, made as a whole.
    fn whole(&self, snapshot: &Snapshot) -> Outcome {
        let mut body = Vec::new();
        self.write(snapshot, |buffer| {
            body.append(buffer);
            Ok(())
        })?;
        Ok(Response::new(Body::from(body)))
    }

    /// Writes the graph in parts. `send` empties the buffer.
    fn write(
        &self,
        snapshot: &Snapshot,
        mut send: impl FnMut(&mut Vec<u8>) -> Result<(), Problem>,
    ) -> Result<(), Problem> {
        let view = View { snapshot, base: &self.base };
        let entity: Option<Entity<'_>> = snapshot.entity(&self.id)?;
        let entity = entity.ok_or_else(|| Problem::not_found("the resource is not there any more"))?;
        let mut writer = RdfWriter::new(self.format);
        let mut buffer = Vec::with_capacity(PART_BYTES);
        let mut sink = |triple: oxrdf::TripleRef<'_>| {
            writer.write(triple, &mut buffer).map_err(problem_of)?;
            if buffer.len() >= PART_BYTES { send(&mut buffer) } else { Ok(()) }
        };
        resource_graph::each_triple(view, &entity, self.model, self.selection, &mut sink)?;
        writer.finish(&mut buffer);
        send(&mut buffer)
    }
}

/// Answers GET and HEAD of the document with the constraints.
pub fn constraints(method: &Method) -> Response<Body> {
    let body = if *method == Method::HEAD { Body::empty() } else { Body::from(constraints::TEXT) };
    let mut response = Response::new(body);
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(RdfFormat::Turtle.media_type()));
    response
}

/// The format of an answer.
///
/// Errors: `not-acceptable`.
pub fn format_of(headers: &HeaderMap) -> Result<RdfFormat, Problem> {
    let offers: Vec<&'static str> = RdfFormat::ALL.iter().map(|format| format.media_type()).collect();
    let chosen = media_type_of(headers, &offers)?;
    Ok(RdfFormat::of_content_type(chosen).unwrap_or(RdfFormat::Turtle))
}

/// The media type of an answer, of those that are offered.
///
/// Errors: `not-acceptable`.
pub fn media_type_of(headers: &HeaderMap, offers: &[&'static str]) -> Result<&'static str, Problem> {
    let accept = texts(headers, &ACCEPT).collect::<Vec<_>>().join(",");
    let accept = (!accept.is_empty()).then_some(&*accept);
    negotiate(accept, offers).ok_or_else(|| {
        let text = format!("accept {:?}: expected one of {}", accept.unwrap_or_default(), offers.join(", "));
        Problem::door("not-acceptable", text)
    })
}
