//! The rules of ACLs: what would give nothing, or could not be understood, is refused when it is written.

use oxrdf::{Term, Triple};

use super::authorization::{KNOWN, PUBLIC};
use super::modes::{ACL, Modes};
use crate::ldp::mapping::base::{Base, Place};
use crate::ldp::mapping::constraints::Refusal;
use crate::ldp::mapping::path::Path;
use crate::ldp::rdf::Changes;
use crate::protocol::problem::Problem;

/// Most statements of an ACL: each request below its resource reads them.
pub const STATEMENTS_MAX: usize = 1_000;

/// Most groups of an ACL, for the same reason.
pub const GROUPS_MAX: usize = 10;

/// Checks the statements of the ACL of a resource.
///
/// Errors: refusals; `too-large`.
pub fn check(base: &Base, resource: &Path, triples: &[Triple]) -> Result<(), Problem> {
    if triples.len() > STATEMENTS_MAX {
        let text = format!(
            "{}: expected an ACL of at most {STATEMENTS_MAX} statements, found {}; name a group of agents instead",
            base.iri(resource),
            triples.len()
        );
        return Err(Problem::too_large(text).with("statementsMax", STATEMENTS_MAX));
    }
    let groups =
        triples.iter().filter(|one| one.predicate.as_str().strip_prefix(ACL) == Some("agentGroup")).count();
    if groups > GROUPS_MAX {
        let text = format!(
            "{}: expected an ACL with at most {GROUPS_MAX} groups, found {groups}; make one group of several",
            base.iri(resource)
        );
        return Err(Problem::too_large(text).with("groupsMax", GROUPS_MAX));
    }
    triples.iter().try_for_each(|triple| check_triple(base, resource, triple))
}

/// Checks the statements of an ACL, by its path, after a change of them.
///
/// Errors: as [`check`].
pub fn check_changed(
    base: &Base,
    acl: &Path,
    mut triples: Vec<Triple>,
    changes: &Changes,
) -> Result<(), Problem> {
    triples.retain(|triple| !changes.removed.contains(triple));
    let added = changes.added.iter().filter(|triple| !triples.contains(triple)).cloned();
    let added: Vec<Triple> = added.collect();
    triples.extend(added);
    check(base, &acl.parent().unwrap_or_else(Path::root), &triples)
}

fn check_triple(base: &Base, resource: &Path, triple: &Triple) -> Result<(), Problem> {
    let Some(name) = triple.predicate.as_str().strip_prefix(ACL) else { return Ok(()) };
    let iri = match &triple.object {
        Term::NamedNode(node) => Some(node.as_str()),
        _ => None,
    };
    let place = iri.map_or(Place::Outside, |iri| base.place(iri));
    let own = base.iri(resource);
    let reason = match name {
        "mode" if iri.and_then(Modes::of_iri).is_none() => {
            "expected acl:Read, acl:Append, acl:Write or acl:Control".to_owned()
        }
        "agent" if !is_agent(&triple.object) => {
            "expected a WebID, or the name of a client as text".to_owned()
        }
        "agentClass" if !iri.is_some_and(|iri| [PUBLIC, KNOWN].contains(&iri)) => {
            "expected foaf:Agent, which is every client, or acl:AuthenticatedAgent".to_owned()
        }
        "agentGroup" if place == Place::Outside => {
            "expected a group in a resource of this server; the server asks no other one".to_owned()
        }
        "accessTo" if !matches!(&place, Place::Resource(path) if is_within(path, resource)) => {
            format!(
                "expected <{own}>, whose ACL this is, or a resource below it; write the ACL of the other one"
            )
        }
        "default" if place != Place::Resource(resource.clone()) => {
            format!("expected <{own}>, whose ACL this is; write the ACL of the other one")
        }
        "accessToClass" if iri.is_none() => "expected the IRI of a class".to_owned(),
        _ => return Ok(()),
    };
    Err(Refusal::of_triple(triple, reason).into_problem())
}

fn is_agent(object: &Term) -> bool {
    match object {
        Term::NamedNode(_) => true,
        Term::Literal(literal) => literal.datatype() == oxrdf::vocab::xsd::STRING,
        _ => false,
    }
}

/// True for the resource at `above`, and those below it.
fn is_within(path: &Path, above: &Path) -> bool {
    path == above
        || above.is_root()
        || path.text().strip_prefix(above.text()).is_some_and(|rest| rest.starts_with('/'))
}
