//! PUT: creates a resource at an address, or replaces its graph.

use super::answers;
use super::base::Base;
use super::binary;
use super::bodies::{BodyKind, Received, is_upload, unexpected};
use super::constraints::Refusal;
use super::etag::{self, Conditions};
use super::model::Model;
use super::path::Path;
use super::request::Request;
use super::statements::{Graph, Managed, classes};
use super::view::{Found, View};
use super::writer::Writer;
use crate::call::{Call, Weight};
use crate::problem::{Outcome, Problem};

/// Answers PUT.
pub async fn answer(request: Request, path: Path) -> Outcome {
    let asked = Model::asked(&request.call.headers)?;
    let is_binary = is_binary(&request.call, &request.base, &path)?;
    if is_upload(&request.call, asked) || is_binary {
        if let Some(asked) = asked.filter(|asked| is_binary && *asked != Model::NonRdfSource) {
            let problem = model_stays(Model::NonRdfSource, asked);
            return Box::pin(binary::refuse(request, problem)).await;
        }
        return Box::pin(binary::put(request, path)).await;
    }
    write(request, path, asked).await
}

fn model_stays(model: Model, asked: Model) -> Problem {
    let reason = format!("the resource is an {}, and its interaction model never changes", model.type_name());
    Refusal::new(asked.type_name(), reason).into_problem()
}

/// True if a binary is at the path: its bytes may be of any media type, also one of RDF.
pub fn is_binary(call: &Call, base: &Base, path: &Path) -> Result<bool, Problem> {
    let snapshot = call.door.repository()?.snapshot();
    let view = View { snapshot: &snapshot, base };
    Ok(matches!(view.find(path)?, Found::Live(_, Model::NonRdfSource)))
}

/// Answers PUT of a graph, also that of the description of a binary.
pub async fn write(mut request: Request, path: Path, asked: Option<Model>) -> Outcome {
    let conditions = Conditions::of_put(&request.call);
    let received = Received::of(&mut request).await?;
    if received.kind == BodyKind::Binary {
        return Err(unexpected(&request.call.headers, "a format of RDF"));
    }
    if received.kind == BodyKind::Update {
        return Err(unexpected(&request.call.headers, "a format of RDF; send an update with PATCH"));
    }
    let weight = if received.is_small() { Weight::Light } else { Weight::Heavy };
    let target = path.clone();
    let work = move |writer: &mut Writer<'_>| put(writer, &target, asked, &conditions, &received);
    let (is_new, _) = request.commit(weight, work).await?;
    if is_new {
        return answers::created(&request, &path);
    }
    answers::changed(&request, &path)
}

/// Puts the changes into the transaction; true if the resource is new.
fn put(
    writer: &mut Writer<'_>,
    path: &Path,
    asked: Option<Model>,
    conditions: &Conditions,
    received: &Received,
) -> Result<bool, Problem> {
    let view = writer.view();
    let known = match view.find(path)? {
        Found::Live(entity, model) => Some((entity, model)),
        Found::Gone(_) => return Err(view.gone(path)),
        Found::Placeholder | Found::Missing => None,
    };
    let tag = known.as_ref().map(|(entity, _)| etag::tag_of(view, entity)).transpose()?;
    conditions.check(tag.as_deref())?;
    let triples = match received.kind {
        BodyKind::Graph(format) => received.triples(format, &view.base.iri(path))?,
        _ => Vec::new(),
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
    if let Some(asked) = asked.filter(|asked| *asked != model && *asked != Model::RdfSource) {
        return Err(model_stays(model, asked));
    }
    let graph = Graph::of(&triples, &mut Managed::new(view, path, model, Some(&entity)))?;
    writer.replace(&entity, &graph)?;
    writer.touch_indirect(&entity)?;
    Ok(false)
}
