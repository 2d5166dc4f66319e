//! Admits requests to the door when ACLs are in force: by the roles of the client, or else by ACLs.

use std::sync::Arc;

use http::header::{
    ETAG, HeaderValue, IF_MATCH, IF_MODIFIED_SINCE, IF_NONE_MATCH, IF_UNMODIFIED_SINCE, LAST_MODIFIED, LINK,
    LOCATION,
};
use http::{HeaderMap, Method, StatusCode};

use super::agent::Agent;
use super::modes::Modes;
use super::permit::{Permit, Purpose};
use super::web_ids::WebAc;
use crate::access::{Needs, Principal, Verb, Verbs, of_ldp};
use crate::bounds::heavy::heavy;
use crate::ldp::binary::external;
use crate::ldp::mapping::base::Base;
use crate::ldp::mapping::path::{ACL_SEGMENT, Path};
use crate::ldp::mapping::readable::Readable;
use crate::ldp::requests::request::{Request, Target};
use crate::protocol::names::AUTHOR;
use crate::protocol::problem::{Outcome, Problem};

/// The need of a request.
#[derive(Debug, PartialEq, Eq)]
enum Asks {
    /// Nothing.
    Nothing,
    /// The role that the method needs; no ACL gives it.
    Role,
    /// To do something with the resource at a path; a role gives it, too.
    Resource(Path, Purpose),
    /// To read or to write its ACL.
    Acl(Path),
}

/// Admits a request. One that an ACL allows gets the verbs that it needs, and sees what its client may read.
///
/// Errors: `forbidden`; `unauthenticated`.
pub async fn admit(request: &mut Request, target: &Target, web_access: &WebAc) -> Result<(), Problem> {
    let principal = Arc::clone(&request.call.principal);
    let is_read = [Method::GET, Method::HEAD, Method::OPTIONS].contains(&request.method);
    let by_role = principal.check(of_ldp(&request.method));
    let (path, purpose, is_acl) = match asks(target, &request.method) {
        Asks::Nothing => return Ok(()),
        Asks::Role => return by_role,
        Asks::Resource(path, purpose) => (path, purpose, false),
        Asks::Acl(path) => (path, Purpose::Do(Modes::CONTROL), true),
    };
    let is_by_role = if is_acl && !is_read { principal.may(Verb::Administer) } else { by_role.is_ok() };
    if is_by_role {
        return Ok(());
    }
    if !is_read && external::is_asked(&request.call.headers) {
        // The server reads external contents for clients that may write by their role.
        return by_role;
    }
    check_author(&principal, &request.call.headers)?;
    request.call.wait_visible().await?;
    let now = request.call.door.snapshot()?;
    let names = web_access.names(&principal);
    let agent = Arc::new(Agent::new(&principal, names, request.base.clone(), now));
    let also =
        if !is_read && !is_acl && has_condition(&request.call.headers) { Modes::READ } else { Modes::NONE };
    let permit =
        Permit::new((Arc::clone(&agent), Arc::clone(&principal)), path, (purpose, also), &request.base);
    match purpose {
        Purpose::Delete => {
            let long = permit.clone();
            Box::pin(heavy(&request.call.door.bounds, move || long.check())).await?;
        }
        _ => permit.check()?,
    }
    if !is_acl && !agent.reads_all() {
        let ask = move |path: &Path| Ok(agent.modes(path)?.has(Modes::READ));
        request.base = request.base.clone().seen_by(Readable::by(ask));
    }
    request.call.principal = Arc::new(with_verbs(&principal, is_read, is_acl));
    request.permit = Some(permit);
    Ok(())
}

/// Refuses a request that a role does not give before it is parsed, where no ACL is in force.
pub fn needs(web_access: Option<&WebAc>, method: &Method) -> Needs {
    match web_access {
        None => of_ldp(method),
        Some(_) => Needs::Nothing,
    }
}

/// Adds the link to the ACL of the resource to its answer, and takes out its tag if the client may not read it.
///
/// Errors: those of reading ACLs.
pub fn finish(outcome: Outcome, base: &Base, target: &Target, permit: Option<&Permit>) -> Outcome {
    let is_readable = permit.map_or(Ok(true), |permit| permit.may(Modes::READ))?;
    let resource = target.resource().map(|path| match path.is_acl() {
        true => path.parent().unwrap_or_else(Path::root),
        false => path.clone(),
    });
    let acl = resource.and_then(|path| path.acl().ok());
    let link = acl.and_then(|acl| HeaderValue::try_from(format!("<{}>; rel=\"acl\"", base.iri(&acl))).ok());
    match outcome {
        Ok(mut response) => {
            let is_created =
                response.status() == StatusCode::CREATED && matches!(target, Target::Resource(_));
            let headers = response.headers_mut();
            // A new resource has an ACL of its own.
            let made = headers.get(LOCATION).and_then(|made| made.to_str().ok()).filter(|_| is_created);
            let made = made
                .and_then(|made| HeaderValue::try_from(format!("<{made}/{ACL_SEGMENT}>; rel=\"acl\"")).ok());
            let link = made.or(link);
            headers.extend(link.map(|link| (LINK, link)));
            if !is_readable && !matches!(target, Target::Acl(_)) {
                headers.remove(ETAG);
                headers.remove(LAST_MODIFIED);
            }
            Ok(response)
        }
        Err(problem) => Err(match link {
            Some(link) => problem.header(LINK, link),
            None => problem,
        }),
    }
}

fn asks(target: &Target, method: &Method) -> Asks {
    let do_with = |path: &Path, modes| match path.is_acl() {
        true => Asks::Acl(path.parent().unwrap_or_else(Path::root)),
        false => Asks::Resource(path.clone(), Purpose::Do(modes)),
    };
    let write = |path: &Path| do_with(path, Modes::WRITE);
    match (target, method.as_str()) {
        (Target::Acl(path), _) => Asks::Acl(path.clone()),
        (Target::Resource(path) | Target::Description(path), "PATCH") => do_with(path, Modes::APPEND),
        (Target::Resource(path), "POST") => Asks::Resource(path.clone(), Purpose::Post),
        (Target::Resource(path), "PUT") => Asks::Resource(path.clone(), Purpose::Put),
        (Target::Resource(path), "DELETE") => Asks::Resource(path.clone(), Purpose::Delete),
        (Target::Description(path), "POST" | "PUT" | "DELETE") => write(path),
        (Target::Resource(path) | Target::Description(path), _) => do_with(path, Modes::READ),
        (Target::TimeMap(original) | Target::Memento(original, _), "POST" | "PUT" | "PATCH" | "DELETE") => {
            write(&original.path)
        }
        (Target::TimeMap(original) | Target::Memento(original, _), _) => do_with(&original.path, Modes::READ),
        (Target::Constraints, _) => Asks::Nothing,
        // A tombstone keeps the history, and events tell of everything.
        (Target::Tombstone(_) | Target::Events | Target::Reserved(_), _) => Asks::Role,
    }
}

/// Refuses another name from a client that has none.
fn check_author(principal: &Principal, headers: &HeaderMap) -> Result<(), Problem> {
    let is_named = headers.get(&AUTHOR).is_some_and(|author| !author.is_empty());
    if principal.is_named() || !is_named {
        return Ok(());
    }
    let text = "header annals-author: expected none from a client without credentials, found a name; leave it out, or \
                send a token";
    Err(Problem::door("forbidden", text))
}

fn has_condition(headers: &HeaderMap) -> bool {
    let conditions = [IF_MATCH, IF_NONE_MATCH, IF_MODIFIED_SINCE, IF_UNMODIFIED_SINCE];
    conditions.iter().any(|name| headers.contains_key(name))
}

/// The client with the verbs that its request needs, because an ACL allows it.
fn with_verbs(principal: &Principal, is_read: bool, is_acl: bool) -> Principal {
    let read = Verbs::of(&[Verb::Read]);
    let write = Verbs::of(&[Verb::Create, Verb::Update, Verb::Delete]);
    let verbs = match (is_read, is_acl) {
        (true, _) => read,
        (false, false) => read.and(write),
        (false, true) => read.and(write).and(Verbs::of(&[Verb::Administer])),
    };
    Principal { verbs: principal.verbs.and(verbs), ..principal.clone() }
}
