//! POST: creates a resource in a container.

use super::answers;
use super::bodies::{BodyKind, Received, is_upload, no_rdf};
use super::parent::check_container;
use super::patch;
use super::request::Request;
use super::slug;
use crate::ldp::binary::stored_binary;
use crate::ldp::mapping::constraints::Refusal;
use crate::ldp::mapping::model::Model;
use crate::ldp::mapping::path::Path;
use crate::ldp::mapping::resource_tag::ResourceConditions;
use crate::ldp::mapping::statements::{Graph, Managed, classes};
use crate::ldp::mapping::writer::Writer;
use crate::protocol::problem::{Outcome, Problem};
use crate::request::call::Weight;

/// Answers POST.
pub async fn answer(mut request: Request, path: Path) -> Outcome {
    let asked = Model::asked(&request.call.headers)?;
    let wanted = slug::wanted(&request.call.headers);
    let conditions = ResourceConditions::of(&request.call.headers);
    if let Some(problem) = no_rdf(&request.call, asked) {
        return Box::pin(stored_binary::refuse(request, problem)).await;
    }
    if is_upload(&request.call, asked) {
        return Box::pin(stored_binary::post(request, path)).await;
    }
    let received = Received::of(&mut request).await?;
    // An update may have a long way to its triples.
    let is_light = received.is_small() && received.kind != BodyKind::Update;
    let weight = if is_light { Weight::Light } else { Weight::Heavy };
    let weight = request.weight_with(&path, &conditions, weight)?;
    let work =
        move |writer: &mut Writer<'_>| post(writer, &path, asked, wanted.as_deref(), &conditions, &received);
    let (path, receipt) = request.commit(weight, work).await?;
    answers::created(&request, &path, &receipt).await
}

/// Puts the changes into the transaction; gives the path of the new resource.
fn post(
    writer: &mut Writer<'_>,
    container: &Path,
    asked: Option<Model>,
    wanted: Option<&str>,
    conditions: &ResourceConditions,
    received: &Received,
) -> Result<Path, Problem> {
    let view = writer.view();
    if !(container.is_root() && writer.has_new_root()) {
        check_container(view, container, conditions)?;
    }
    let path = slug::choose(view.snapshot, container, wanted)?;
    let iri = view.base.iri(&path);
    let (triples, _memory) = match received.kind {
        BodyKind::Graph(format) => received.triples(format, &iri)?,
        BodyKind::Update => patch::triples_of_new(received, &iri)?,
        BodyKind::Nothing | BodyKind::Binary => (Vec::new(), Vec::new()),
    };
    let in_body = Model::in_body(classes(view.base, &path, &triples)).map_err(Refusal::into_problem)?;
    let model = asked.or(in_body).unwrap_or(Model::Basic);
    let graph = Graph::of(&triples, &mut Managed::new(view, &path, model, None))?;
    writer.create(&path, model, &graph)?;
    Ok(path)
}
