//! PUT: creates a resource at an address, or replaces its graph.

use super::answers;
use super::bodies::{BodyKind, Received, is_upload, no_rdf, unexpected};
use super::request::Request;
use crate::ldp::binary::stored_binary;
use crate::ldp::mapping::base::Base;
use crate::ldp::mapping::constraints::Refusal;
use crate::ldp::mapping::model::Model;
use crate::ldp::mapping::path::Path;
use crate::ldp::mapping::resource_tag::{self, ResourceConditions};
use crate::ldp::mapping::statements::{Graph, Managed, classes};
use crate::ldp::mapping::view::{Found, View};
use crate::ldp::mapping::writer::Writer;
use crate::protocol::problem::{Outcome, Problem};
use crate::request::call::{Call, Weight};

/// Answers PUT.
pub async fn answer(request: Request, path: Path) -> Outcome {
    let known = model_at(&request.call, &request.base, &path)?;
    // A resource that is there keeps its kind, so nothing is asked for.
    let asked = match known {
        Some(model) => model.check_stays(&request.call.headers).map(|()| None),
        None => Model::asked(&request.call.headers),
    };
    let asked = match asked {
        Ok(asked) => asked,
        Err(problem) => return Box::pin(stored_binary::refuse(request, problem)).await,
    };
    if known == Some(Model::NonRdfSource) || is_upload(&request.call, asked) {
        return match no_rdf(&request.call, asked) {
            Some(problem) => Box::pin(stored_binary::refuse(request, problem)).await,
            None => Box::pin(stored_binary::put(request, path)).await,
        };
    }
    write(request, path, asked, false).await
}

/// Answers PUT of the description of a binary, which is there already.
pub async fn describe(request: Request, path: Path) -> Outcome {
    let snapshot = request.call.snapshot().await?;
    View { snapshot: &snapshot, base: &request.base }.live(&path)?;
    Model::RdfSource.check_stays(&request.call.headers)?;
    write(request, path, None, true).await
}

/// The interaction model of what is at a path, if something is.
fn model_at(call: &Call, base: &Base, path: &Path) -> Result<Option<Model>, Problem> {
    let snapshot = call.door.snapshot()?;
    let view = View { snapshot: &snapshot, base };
    Ok(match view.find(path)? {
        Found::Live(_, model) => Some(model),
        _ => None,
    })
}

/// True if a binary is at the path: its bytes may be of any media type, also one of RDF.
pub fn is_binary(call: &Call, base: &Base, path: &Path) -> Result<bool, Problem> {
    Ok(model_at(call, base, path)? == Some(Model::NonRdfSource))
}

/// Answers PUT of a graph, also that of the description of a binary.
async fn write(mut request: Request, path: Path, asked: Option<Model>, is_description: bool) -> Outcome {
    let conditions = request.conditions_of_put();
    let received = Received::of(&mut request).await?;
    if received.kind == BodyKind::Binary {
        return Err(unexpected(&request.call.headers, "a format of RDF"));
    }
    if received.kind == BodyKind::Update {
        return Err(unexpected(&request.call.headers, "a format of RDF; send an update with PATCH"));
    }
    let weight = if received.is_small() { Weight::Light } else { Weight::Heavy };
    let weight = request.weight_with(&path, &conditions, weight)?;
    let target = path.clone();
    let work = move |writer: &mut Writer<'_>| put(writer, &target, asked, &conditions, &received);
    let (is_new, receipt) = request.commit(weight, work).await?;
    match is_new {
        true => answers::created(&request, &path, &receipt).await,
        false => answers::changed(&request, &path, is_description, &receipt).await,
    }
}

/// Puts the changes into the transaction; true if the resource is new.
fn put(
    writer: &mut Writer<'_>,
    path: &Path,
    asked: Option<Model>,
    conditions: &ResourceConditions,
    received: &Received,
) -> Result<bool, Problem> {
    let view = writer.view();
    let known = match view.find(path)? {
        Found::Live(entity, model) => Some((entity, model)),
        Found::Gone(_) => return Err(view.gone(path)),
        Found::Placeholder | Found::Missing => None,
    };
    match &known {
        Some((entity, _)) => conditions.check_with(|| resource_tag::tag_of(view, entity))?,
        None => conditions.check(None)?,
    }
    let (triples, _memory) = match received.kind {
        BodyKind::Graph(format) => received.triples(format, &view.base.iri(path))?,
        _ => (Vec::new(), Vec::new()),
    };
    let in_body = || Model::in_body(classes(view.base, path, &triples)).map_err(Refusal::into_problem);
    let Some((entity, model)) = known else {
        let model = asked.map_or_else(in_body, |asked| Ok(Some(asked)))?.unwrap_or(Model::Basic);
        let graph = Graph::of(&triples, &mut Managed::new(view, path, model, None))?;
        writer.create(path, model, &graph)?;
        return Ok(true);
    };
    if received.kind == BodyKind::Nothing {
        let reason = "the resource is there already; to empty its graph, send an empty body with Content-Type: text/turtle";
        return Err(Refusal::new(view.base.iri(path), reason).into_problem());
    }
    // Another request made it since.
    if let Some(asked) = asked.filter(|asked| *asked != model && *asked != Model::RdfSource) {
        return Err(model.stays(asked.type_name()));
    }
    let graph = Graph::of(&triples, &mut Managed::new(view, path, model, Some(&entity)))?;
    writer.replace(&entity, &graph)?;
    writer.touch_indirect(&entity)?;
    Ok(false)
}
