//! The LDP door: W3C LDP 1.0 after the Fedora API specification. One resource is one entity. Must not know the endpoints
//! beside it.
//!
//! [docs/ldp.md](../../../../docs/ldp.md) maps triples to entities, properties and relationships.

// In the order a newcomer should read them.
mod root;
mod mapping;
mod binary;
mod memento;
mod acl;
mod requests;
pub mod rdf;

use std::sync::Arc;

use http::header::{ALLOW, HeaderMap, HeaderValue, IF_MATCH};
use http::{Method, StatusCode};

pub use acl::admission::needs;
pub use acl::web_ids::{WebAc, WebIdPrefix};
pub use binary::external::EXTERNAL;
pub use binary::source_url::SourcePrefix;
pub use binary::sources::Sources;
pub use requests::link;
pub use root::{LdpRoot, LdpSettings};

use acl::admission;
use binary::{external, stored_binary};
use mapping::base::Base;
use mapping::path::{self, Path};
use mapping::resource_tag::{self, ResourceConditions};
use mapping::view::{Found, View};
use mapping::{constraints, model};
use memento::{at_second, time_map};
use requests::acl as acl_requests;
use requests::request::{self, Request, Target};
use requests::{answers, bodies, delete, events, get, headers, patch, post, put};

use crate::content::receive::refuse_part;
use crate::protocol::problem::{Outcome, Problem};
use crate::request::call::{Call, Weight};

/// Answers a request below the root of the door.
pub async fn answer(call: Box<Call>, method: Method, settings: &Arc<LdpSettings>) -> Outcome {
    let root = settings.root.path();
    let public = call.door.hosts.public();
    let mut base = Base::of(&call.headers, &call.uri, &root, public);
    if public.is_none() && call.door.access.tls.is_some() {
        base = base.over_tls();
    }
    let root_iri = base.iri(&Path::root());
    if !annals::is_iri(&root_iri) {
        let text = format!("header host: expected a host and perhaps a port, found {root_iri:?}");
        return Err(Problem::invalid(text));
    }
    let known = base.clone();
    let is_write = [Method::POST, Method::PUT, Method::PATCH].contains(&method);
    let path = call.uri.path();
    let target = Target::of(path.strip_prefix(&*root).unwrap_or(path))?;
    let settings = Arc::clone(settings);
    let mut request =
        Request { is_over: request::Over::default(), settings, call, method, base, permit: None };
    let web_access = request.settings.web_access.clone();
    let outcome = match &web_access {
        None => work(request, target.clone(), is_write).await,
        Some(web_access) => {
            let admitted = Box::pin(admission::admit(&mut request, &target, web_access)).await;
            let permit = request.permit.clone();
            let outcome = match admitted {
                Ok(()) => work(request, target.clone(), is_write).await,
                Err(problem) if is_write => Box::pin(stored_binary::refuse(request, problem)).await,
                Err(problem) => Err(problem),
            };
            admission::finish(outcome, &known, &target, permit.as_ref())
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

/// Answers a request that its client may send, within the time for one request.
async fn work(request: Request, target: Target, is_write: bool) -> Outcome {
    let call = &request.call;
    let asked = model::Model::asked(&call.headers).unwrap_or(None);
    let is_upload = is_write && (bodies::is_upload(call, asked) || replaces_binary(&request, &target));
    let request_time = call.door.bounds.limits.request_time;
    let work = Box::pin(dispatch(request, target));
    match is_upload {
        // A binary may take any time: the server waits only for each part of it.
        true => work.await,
        false => {
            let late = |_| Err(Problem::too_late(request_time));
            tokio::time::timeout(request_time, work).await.unwrap_or_else(late)
        }
    }
}

/// True if a request replaces the bytes of a binary, of whatever media type.
fn replaces_binary(request: &Request, target: &Target) -> bool {
    match target {
        Target::Resource(path) if request.method == Method::PUT => {
            put::is_binary(&request.call, &request.base, path).unwrap_or(false)
        }
        _ => false,
    }
}

async fn dispatch(mut request: Request, target: Target) -> Outcome {
    if request.method == Method::PUT {
        refuse_part(&request.call.headers)?;
    }
    let method = request.method.clone();
    let target = match target {
        // A resource is the statements of clients about it.
        Target::Description(path) if stored_binary::takes(&method) && is_in_rdf(&request, &path).await? => {
            Target::Resource(path)
        }
        // ACLs are there where they are in force.
        Target::Acl(_) if request.settings.web_access.is_none() => {
            Target::Reserved(path::ACL_SEGMENT.to_owned())
        }
        target => target,
    };
    if let Target::Resource(path) = &target
        && [Method::PUT, Method::POST].contains(&method)
    {
        acl_requests::refuse_link(&request.call.headers, &request.base, path)?;
    }
    if let Target::Resource(path) = &target
        && path.is_root()
        && [Method::PUT, Method::POST, Method::PATCH].contains(&method)
    {
        store_root(&mut request).await?;
    }
    match (target, method.as_str()) {
        (Target::Resource(path), "GET" | "HEAD") => Box::pin(get::answer(request, path, false)).await,
        (Target::Resource(path), "PUT") => Box::pin(put::answer(request, path)).await,
        (Target::Resource(path), "POST") => Box::pin(post::answer(request, path)).await,
        (Target::Resource(path), "PATCH") => Box::pin(patch::answer(request, path, false)).await,
        (Target::Resource(path), "DELETE") => Box::pin(delete::answer(request, path)).await,
        (Target::Resource(path), "OPTIONS") => options(&request, &path).await,
        (Target::Description(path), "GET" | "HEAD") => Box::pin(get::answer(request, path, true)).await,
        (Target::Description(path), "PUT") => Box::pin(put::describe(request, path)).await,
        (Target::Description(path), "PATCH") => Box::pin(patch::answer(request, path, true)).await,
        (Target::Description(path), "OPTIONS") => Ok(stored_binary::description_options(&request, &path)),
        (Target::Description(_), _) => Err(stored_binary::description_refuses(&method)),
        (Target::Tombstone(path), "DELETE") => Box::pin(delete::bury(request, path)).await,
        (Target::Tombstone(_), _) => Err(not_allowed(&method, "DELETE")),
        (Target::TimeMap(original), "GET" | "HEAD") => Box::pin(time_map::answer(request, original)).await,
        (Target::TimeMap(original), "OPTIONS") => Box::pin(time_map::options(request, original)).await,
        (Target::TimeMap(original), "POST") => Box::pin(time_map::add_version(request, original)).await,
        (Target::TimeMap(_), _) => Err(not_allowed(&method, time_map::ALLOWED)),
        (Target::Memento(original, second), "GET" | "HEAD" | "OPTIONS") => {
            Box::pin(at_second::answer(request, original, second)).await
        }
        (Target::Memento(..), _) => Err(not_allowed(&method, headers::MEMENTO_ALLOW)),
        (Target::Acl(path), _) => Box::pin(acl_requests::answer(request, path)).await,
        (Target::Events, "GET") => events::answer(&request).await,
        (Target::Events, _) => Err(not_allowed(&method, "GET")),
        (Target::Constraints, "GET" | "HEAD") => Ok(get::constraints(&method)),
        (Target::Constraints, _) => Err(not_allowed(&method, "GET, HEAD")),
        (Target::Reserved(name), "GET" | "HEAD") => Err(Problem::not_found(reserved(&name))),
        (Target::Reserved(name), _) => Err(Problem::door("constraint-violated", reserved(&name))),
        (Target::Resource(_), _) => Err(not_allowed(&method, "GET, HEAD, OPTIONS, POST, PUT, PATCH, DELETE")),
    }
}

/// True for a resource in RDF: it is its own description.
async fn is_in_rdf(request: &Request, path: &Path) -> Result<bool, Problem> {
    let snapshot = request.call.snapshot().await?;
    let found = View { snapshot: &snapshot, base: &request.base }.find(path)?;
    Ok(match found {
        Found::Live(_, model) => model != model::Model::NonRdfSource,
        _ => path.is_root(),
    })
}

/// Stores the root of a new repository before a write of it. Reads show it all the time, so the conditions of the request
/// may name the tag of what they showed.
async fn store_root(request: &mut Request) -> Result<(), Problem> {
    let root = Path::root();
    let base = request.base.clone();
    if !matches!(View { snapshot: &request.call.snapshot().await?, base: &base }.find(&root)?, Found::Missing)
    {
        return Ok(());
    }
    let conditions = match request.method {
        Method::PUT => request.conditions_of_put(),
        _ => ResourceConditions::of(&request.call.headers),
    };
    conditions.check(Some(resource_tag::UNSTORED_ROOT))?;
    let ((), receipt) = request.commit(Weight::Light, |_| Ok(())).await?;
    let snapshot = answers::snapshot_of(request, &receipt)?;
    let view = View { snapshot: &snapshot, base: &base };
    // If another request changed it meanwhile, the condition does not hold any more.
    if let Found::Live(entity, _) = view.find(&root)?
        && entity.version() == 1
        && request.call.headers.contains_key(IF_MATCH)
        && let Ok(tag) = HeaderValue::try_from(resource_tag::tag_of(view, &entity)?)
    {
        request.call.headers.insert(IF_MATCH, tag);
    }
    Ok(())
}

/// The text of the answer about a segment that only the server uses.
fn reserved(name: &str) -> String {
    match name {
        "fcr:tx" => "fcr:tx: this door has no transactions over several requests; one PATCH changes all statements of \
                     a resource together, and POST /v1/transactions changes several resources together"
            .to_owned(),
        "fcr:acl" => "fcr:acl: ACLs of single resources are not in force here; the roles of clients decide, unless the server \
                      is started with --webac (docs/security.md)"
            .to_owned(),
        _ => format!(
            "path segment {name:?}: expected a name that does not begin with {}; there is no such thing about a resource",
            path::RESERVED
        ),
    }
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
    if request.settings.external.are_allowed() && model != model::Model::RdfSource {
        let handlings = HeaderValue::from_static(external::Handling::NAMES);
        head.insert(&headers::ACCEPT_EXTERNAL_CONTENT_HANDLING, handlings);
    }
    Ok(answers::with_head(answers::empty(StatusCode::OK), StatusCode::OK, head))
}
