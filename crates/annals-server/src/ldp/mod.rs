//! The LDP door: W3C LDP 1.0 after the Fedora API specification. One resource is one entity.
//!
//! [docs/ldp.md](../../../../docs/ldp.md) maps triples to entities, properties and relationships.

// In the order a newcomer should read them.
mod root;
mod vocabulary;
mod path;
mod base;
pub mod link;
mod external;
mod source_url;
mod sources;
mod model;
mod types;
mod term;
mod view;
mod constraints;
mod triples;
mod membership;
mod facts;
mod statements;
mod rule_check;
mod inbound;
mod prefer;
mod graph;
mod bytes;
mod etag;
mod second;
mod headers;
mod writer;
mod changes;
mod removal;
mod slug;
mod bodies;
mod request;
mod answers;
mod parent;
mod external_binary;
mod binary;
mod mementos;
mod get;
mod time_map;
mod memento;
mod put;
mod post;
mod patch;
mod delete;
mod activities;
mod events;
pub mod rdf;

use http::header::{ALLOW, HeaderMap, HeaderValue};
use http::{Method, StatusCode};

pub use external::EXTERNAL;
pub use root::{LdpRoot, LdpSettings};
pub use source_url::SourcePrefix;
pub use sources::Sources;

use base::Base;
use path::Path;
use request::{Request, Target};
use view::View;

use crate::call::Call;
use crate::content::receive::refuse_part;
use crate::problem::{Outcome, Problem};

/// Answers a request below the root of the door. `root` is the path of the root, without a slash at its end.
pub async fn answer(call: Box<Call>, method: Method, root: &str) -> Outcome {
    let base = Base::of(&call.headers, &call.uri, root, call.door.hosts.public());
    let known = base.clone();
    let is_write = [Method::POST, Method::PUT, Method::PATCH].contains(&method);
    let asked = model::Model::asked(&call.headers).unwrap_or(None);
    let is_upload =
        is_write && (bodies::is_upload(&call, asked) || replaces_binary(&call, &method, &base, root));
    let request_time = call.door.limits.request_time;
    let work = Box::pin(dispatch(Request { is_over: request::Over::default(), call, method, base }, root));
    let outcome = match is_upload {
        // A binary may take any time: the server waits only for each part of it.
        true => work.await,
        false => {
            let late = |_| Err(Problem::too_late(request_time));
            tokio::time::timeout(request_time, work).await.unwrap_or_else(late)
        }
    };
    match outcome {
        // Each refused write says where the constraints are.
        Err(problem) if is_write && problem.status().is_client_error() => {
            Err(constraints::constrained(problem, &known))
        }
        outcome => outcome,
    }
}

/// True if a request replaces the bytes of a binary, of whatever media type.
fn replaces_binary(call: &Call, method: &Method, base: &Base, root: &str) -> bool {
    let path = call.uri.path();
    match Target::of(path.strip_prefix(root).unwrap_or(path)) {
        Ok(Target::Resource(path)) if method == Method::PUT => {
            put::is_binary(call, base, &path).unwrap_or(false)
        }
        _ => false,
    }
}

async fn dispatch(request: Request, root: &str) -> Outcome {
    if request.method == Method::PUT {
        refuse_part(&request.call.headers)?;
    }
    let path = request.call.uri.path();
    let target = Target::of(path.strip_prefix(root).unwrap_or(path))?;
    let method = request.method.clone();
    match (target, method.as_str()) {
        (Target::Resource(path), "GET" | "HEAD") => Box::pin(get::answer(request, path, false)).await,
        (Target::Resource(path), "PUT") => Box::pin(put::answer(request, path)).await,
        (Target::Resource(path), "POST") => Box::pin(post::answer(request, path)).await,
        (Target::Resource(path), "PATCH") => Box::pin(patch::answer(request, path, false)).await,
        (Target::Resource(path), "DELETE") => Box::pin(delete::answer(request, path)).await,
        (Target::Resource(path), "OPTIONS") => options(&request, &path).await,
        (Target::Description(path), "GET" | "HEAD") => Box::pin(get::answer(request, path, true)).await,
        (Target::Description(path), "PUT") => Box::pin(put_description(request, path)).await,
        (Target::Description(path), "PATCH") => Box::pin(patch::answer(request, path, true)).await,
        (Target::Description(path), "OPTIONS") => Ok(binary::description_options(&request, &path)),
        (Target::Description(_), _) => Err(binary::description_refuses(&method)),
        (Target::Tombstone(path), "DELETE") => Box::pin(delete::bury(request, path)).await,
        (Target::Tombstone(_), _) => Err(not_allowed(&method, "DELETE")),
        (Target::TimeMap(original), "GET" | "HEAD") => Box::pin(time_map::answer(request, original)).await,
        (Target::TimeMap(original), "OPTIONS") => Box::pin(time_map::options(request, original)).await,
        (Target::TimeMap(original), "POST") => Box::pin(time_map::add_version(request, original)).await,
        (Target::TimeMap(_), _) => Err(not_allowed(&method, time_map::ALLOWED)),
        (Target::Memento(original, second), "GET" | "HEAD" | "OPTIONS") => {
            Box::pin(memento::answer(request, original, second)).await
        }
        (Target::Memento(..), _) => Err(not_allowed(&method, headers::MEMENTO_ALLOW)),
        (Target::Events, "GET") => events::answer(&request),
        (Target::Events, _) => Err(not_allowed(&method, "GET")),
        (Target::Constraints, "GET" | "HEAD") => Ok(get::constraints(&method)),
        (Target::Constraints, _) => Err(not_allowed(&method, "GET, HEAD")),
        (Target::Reserved(_, name), "GET" | "HEAD") => {
            Err(Problem::not_found(format!("{name}: there is no such thing about a resource")))
        }
        (Target::Reserved(_, name), _) => {
            let text =
                format!("path segment {name:?}: segments that begin with {} are reserved", path::RESERVED);
            Err(Problem::door("constraint-violated", text))
        }
        (Target::Resource(_), _) => Err(not_allowed(&method, "GET, HEAD, OPTIONS, POST, PUT, PATCH, DELETE")),
    }
}

/// Answers PUT of the description of a binary, which is there already.
async fn put_description(request: Request, path: Path) -> Outcome {
    let snapshot = request.call.snapshot().await?;
    let (_, model) = View { snapshot: &snapshot, base: &request.base }.live(&path)?;
    if model != model::Model::NonRdfSource {
        return Err(get::no_description(&request.base, &path));
    }
    put::write(request, path, None).await
}

fn not_allowed(method: &Method, allowed: &'static str) -> Problem {
    Problem::door("method-not-allowed", format!("{method}: expected {allowed}"))
        .header(ALLOW, HeaderValue::from_static(allowed))
}

/// Answers OPTIONS: what the resource takes.
async fn options(request: &Request, path: &Path) -> Outcome {
    let snapshot = request.call.snapshot().await?;
    let view = View { snapshot: &snapshot, base: &request.base };
    let model = match view.live(path) {
        Ok((_, model)) => model,
        Err(_) if path.is_root() => model::Model::Basic,
        Err(problem) => return Err(problem),
    };
    let mut head = HeaderMap::new();
    headers::add_resource(&mut head, &request.base, path, model);
    let has_external = request.call.door.ldp.as_ref().is_some_and(|ldp| ldp.external.are_allowed());
    if has_external && model != model::Model::RdfSource {
        let handlings = HeaderValue::from_static(external::Handling::NAMES);
        head.insert(&headers::ACCEPT_EXTERNAL_CONTENT_HANDLING, handlings);
    }
    Ok(answers::with_head(answers::empty(StatusCode::OK), StatusCode::OK, head))
}
