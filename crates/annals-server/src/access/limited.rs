//! Transactions of clients with grants: limited to what the grants allow, and silent about everything else.

use std::sync::Arc;

use annals::{ErrorKind, Transaction, TypeKind};

use super::grants::{GRANT, Grants};
use super::principal::Principal;
use crate::protocol::problem::Problem;

/// The texts for clients with grants, instead of those that name other instances.
const RETOLD: [(ErrorKind, &str); 6] = [
    (
        ErrorKind::AlreadyExists,
        "change: expected an id that is free, found one that is taken; choose another",
    ),
    (
        ErrorKind::NotUnique,
        "change: expected a value, or a name in a container, that is free, found one that is taken; choose another",
    ),
    (ErrorKind::Cardinality, "change: expected room for one more relationship of this type, found none"),
    (ErrorKind::InvalidEnds, "change: expected ends that the type of the relationship allows, found others"),
    (ErrorKind::MissingEnd, "change: expected ends that exist, found one that does not; create it first"),
    (ErrorKind::Conflict, "change: another transaction was first; try again"),
];

/// Limits a transaction to the grants of its client, before the first change.
///
/// Errors: those of reading the grants.
pub fn limit(grants: &Grants, principal: &Principal, transaction: &mut Transaction) -> Result<(), Problem> {
    if !principal.is_granted() {
        return Ok(());
    }
    let roles: Vec<Arc<str>> = principal.granted_roles().cloned().collect();
    let rights = grants.rights(transaction.base(), &roles)?;
    transaction.rely_on_type(TypeKind::Entity, GRANT);
    Ok(transaction.limit_to(&rights)?)
}

/// The same problem for a client with grants: it names no other instance.
pub fn told_to(principal: &Principal, problem: Problem) -> Problem {
    if !principal.is_granted() {
        return problem;
    }
    if problem.kind() == ErrorKind::Refused.name() {
        return Problem::door("forbidden", problem.detail());
    }
    match RETOLD.iter().find(|(kind, _)| kind.name() == problem.kind()) {
        Some((_, text)) => problem.retold(text),
        None => problem,
    }
}
