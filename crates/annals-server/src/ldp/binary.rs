//! Binaries: an entity with a content. What clients say about it is a graph of its own, the description.

use std::sync::Arc;

use annals::{Content, Entity, Patch, StoredContent, Value};
use axum::body::Body;
use http::header::{ALLOW, HeaderValue, LINK};
use http::{HeaderMap, Method, Response, StatusCode};

use super::etag::Conditions;
use super::get::with_head;
use super::headers;
use super::model::Model;
use super::path::Path;
use super::post::{self, check_container};
use super::put::empty;
use super::request::Request;
use super::slug;
use super::statements::Graph;
use super::view::{Found, View};
use super::writer::Writer;
use crate::call::Weight;
use crate::content::conditions::{Validators, tag_of};
use crate::content::receive::{about, receive};
use crate::content::send::{Wanted, send};
use crate::problem::{Outcome, Problem};

/// The property that holds the content; the JSON door reads it under the same name.
pub const CONTENT: &str = "content";
/// The segment of the description, below the binary.
pub const DESCRIPTION_SEGMENT: &str = "fcr:metadata";

/// The content of a binary.
pub fn content_of(entity: &Entity<'_>) -> Option<Arc<Content>> {
    match entity.property(CONTENT) {
        Some(Value::Content(content)) => Some(content),
        _ => None,
    }
}

/// The tag of a binary: the digest of its bytes.
pub fn binary_tag(entity: &Entity<'_>) -> Option<String> {
    content_of(entity).and_then(|content| tag_of(&content).to_str().ok().map(str::to_owned))
}

/// Answers a POST of a binary.
pub async fn post(mut request: Request, container: Path) -> Outcome {
    let conditions = Conditions::of(&request.call.headers);
    {
        // Before the bytes arrive: a client learns at once that they would be refused.
        let snapshot = request.call.snapshot().await?;
        let view = View { snapshot: &snapshot, base: &request.base };
        if !container.is_root() {
            check_container(view, &container, &conditions)?;
        }
    }
    let stored = store(&mut request).await?;
    let wanted = slug::wanted(&request.call.headers);
    let work = move |writer: &mut Writer<'_>| {
        let view = writer.view();
        if !(container.is_root() && writer.has_new_root()) {
            check_container(view, &container, &conditions)?;
        }
        let path = slug::choose(view.snapshot, &container, wanted.as_deref())?;
        writer.create_binary(&path, stored.value())?;
        Ok(path)
    };
    let (path, _) = request.commit(Weight::Light, work).await?;
    post::created(&request, &path)
}

/// Answers a PUT of a binary.
pub async fn put(mut request: Request, path: Path) -> Outcome {
    let conditions = Conditions::of(&request.call.headers);
    {
        let snapshot = request.call.snapshot().await?;
        check(View { snapshot: &snapshot, base: &request.base }, &path, &conditions)?;
    }
    let stored = store(&mut request).await?;
    let target = path.clone();
    let work = move |writer: &mut Writer<'_>| match check(writer.view(), &target, &conditions)? {
        Some(entity) => {
            let patch = Patch::new().set(CONTENT, stored.value());
            writer.transaction.update(&entity.instance_id(), patch)?;
            Ok(false)
        }
        None => {
            writer.create_binary(&target, stored.value())?;
            Ok(true)
        }
    };
    let (is_new, _) = request.commit(Weight::Light, work).await?;
    if is_new { post::created(&request, &path) } else { post::changed(&request, &path) }
}

/// The binary at a path, if one is there.
///
/// Errors: `deleted`; `precondition-failed`; `conflict` for a resource in RDF.
fn check<'v>(view: View<'v>, path: &Path, conditions: &Conditions) -> Result<Option<Entity<'v>>, Problem> {
    match view.find(path)? {
        Found::Live(entity, Model::NonRdfSource) => {
            conditions.check(binary_tag(&entity).as_deref())?;
            Ok(Some(entity))
        }
        Found::Live(_, model) => {
            let text = format!(
                "{}: the resource is an {}, and its interaction model never changes; send a format of RDF",
                view.base.iri(path),
                model.type_name()
            );
            Err(Problem::door("constraint-violated", text))
        }
        Found::Gone(_) => Err(view.gone(path)),
        Found::Placeholder | Found::Missing => {
            conditions.check(None)?;
            Ok(None)
        }
    }
}

async fn store(request: &mut Request) -> Result<Arc<StoredContent>, Problem> {
    let body = request.call.take_body();
    let about = about(&request.call.headers)?;
    Ok(Arc::new(receive(&request.call.door, &request.call.headers, body, about).await?))
}

/// Answers GET and HEAD of a binary. Whatever the client accepts, it gets the bytes.
pub async fn get(request: &Request, path: &Path, content: Arc<Content>, validators: Validators) -> Outcome {
    let mut head = HeaderMap::new();
    headers::add_resource(&mut head, &request.base, path, Model::NonRdfSource);
    let conditions = crate::etag::Conditions::of(&request.call)?;
    let wanted = Wanted { method: &request.method, headers: &request.call.headers, conditions: &conditions };
    let response = send(&request.call.door, content, &validators, wanted).await?;
    let status = response.status();
    Ok(with_head(response, status, head))
}

/// Answers a request for the description of a binary, other than a read or a write of its graph.
pub fn description_options(request: &Request, path: &Path) -> Response<Body> {
    let mut head = HeaderMap::new();
    headers::add_description(&mut head, &request.base, path);
    with_head(empty(StatusCode::OK), StatusCode::OK, head)
}

/// The answer for a method that a description does not take: it is there as long as its binary is.
pub fn description_refuses(method: &Method) -> Problem {
    let text = format!("{method}: a description is created and deleted with its binary");
    Problem::door("method-not-allowed", text)
        .header(ALLOW, HeaderValue::from_static(headers::DESCRIPTION_ALLOW))
}

/// The link from a binary to its description.
pub fn describedby(iri: &str) -> (http::HeaderName, String) {
    (LINK, format!("<{iri}/{DESCRIPTION_SEGMENT}>; rel=\"describedby\""))
}

impl Writer<'_> {
    /// Creates a binary in its container.
    pub fn create_binary(&mut self, path: &Path, content: Value) -> Result<(), Problem> {
        self.create_with(path, Model::NonRdfSource, &Graph::default(), vec![(CONTENT.into(), content)])
    }
}
