//! The verbs that each operation needs: one table for the whole door.
//!
//! An operation without a row is for admins only, and a test fails: [`Endpoint::new`](crate::description::endpoint::Endpoint::new)
//! looks its operation up here. Rows of writes are the least that a request needs. Its changes may need more verbs:
//! [`super::check_changes`] checks them before the commit.

use http::Method;

use super::verb::Verb::{
    Administer, Classify, Create, Define, Delete, Operate, Purge, Read, SignForOthers, Update,
};
use super::verb::{Verb, Verbs};

/// The verbs that an operation needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// Nothing: everybody may ask.
    Nothing,
    /// A client that the server knows, whatever its roles.
    Name,
    /// All of these verbs.
    All(Verbs),
    /// At least one of these verbs.
    Any(Verbs),
    /// To read. A client with grants may send it, too: every snapshot that answers it has the sight of the client.
    Seen,
    /// All of these verbs, or one. A client with grants may send it, too: its transaction is limited to them.
    Granted {
        /// The verbs.
        verbs: Verbs,
        /// True if one of them is enough.
        is_any: bool,
    },
}

impl Needs {
    /// Its verbs.
    pub fn verbs(self) -> Verbs {
        match self {
            Needs::Nothing | Needs::Name => Verbs::NONE,
            Needs::All(verbs) | Needs::Any(verbs) | Needs::Granted { verbs, .. } => verbs,
            Needs::Seen => Verbs::of(&[Read]),
        }
    }
}

const fn all(verbs: &[Verb]) -> Needs {
    Needs::All(Verbs::of(verbs))
}

const fn any(verbs: &[Verb]) -> Needs {
    Needs::Any(Verbs::of(verbs))
}

const fn granted(verbs: &[Verb]) -> Needs {
    Needs::Granted { verbs: Verbs::of(verbs), is_any: false }
}

const fn granted_any(verbs: &[Verb]) -> Needs {
    Needs::Granted { verbs: Verbs::of(verbs), is_any: true }
}

/// Any change of instances or types.
const CHANGES: Needs = any(&[Create, Update, Delete, Classify, Purge, Define]);
/// Reads.
const READS: Needs = all(&[Read]);
/// Any change of instances.
const WRITES: Needs = granted_any(&[Create, Update, Delete, Classify, Purge, Define]);
/// An update, of which the answer shows the instance.
const UPDATES: Needs = granted(&[Read, Update]);
/// Copies have stamps of other authors.
const COPIES: Needs = all(&[Read, Create, SignForOthers]);
/// Clients push state that they read back.
const PUSHES: Needs = all(&[Read, Update]);

/// Method, path, and what the operation needs.
const OPERATIONS: &[(&str, &str, Needs)] = &[
    ("GET", "/", Needs::Name),
    ("GET", "/health/live", Needs::Nothing),
    // Its facts need the verb `operate`.
    ("GET", "/health/ready", Needs::Nothing),
    ("GET", "/metrics", all(&[Operate])),
    ("GET", "/errors/{error}", Needs::Nothing),
    ("GET", "/openapi.json", Needs::Name),
    ("GET", "/v1/whoami", Needs::Name),
    ("GET", "/v1/entities", Needs::Seen),
    ("POST", "/v1/entities", granted(&[Read, Create])),
    ("GET", "/v1/entities/{id}", Needs::Seen),
    ("PUT", "/v1/entities/{id}", granted_any(&[Create, Update])),
    ("PATCH", "/v1/entities/{id}", UPDATES),
    ("DELETE", "/v1/entities/{id}", granted_any(&[Delete, Purge])),
    ("POST", "/v1/entities/{id}/restore", granted(&[Read, Create])),
    ("POST", "/v1/entities/{id}/undo", UPDATES),
    ("PUT", "/v1/entities/{id}/status", UPDATES),
    ("PUT", "/v1/entities/{id}/type", UPDATES),
    ("PUT", "/v1/entities/{id}/id", UPDATES),
    ("PUT", "/v1/entities/{id}/home", all(&[Read, Update])),
    ("PUT", "/v1/entities/{id}/provenance", UPDATES),
    ("PUT", "/v1/entities/{id}/copy", COPIES),
    ("DELETE", "/v1/entities/{id}/copy", all(&[Purge])),
    ("PUT", "/v1/entities/{id}/classifications/{name}/copy", all(&[Read, Classify, SignForOthers])),
    ("DELETE", "/v1/entities/{id}/classifications/{name}/copy", all(&[Purge])),
    ("GET", "/v1/entities/{id}/classifications/{name}", Needs::Seen),
    ("PUT", "/v1/entities/{id}/classifications/{name}", granted(&[Read, Classify])),
    ("PATCH", "/v1/entities/{id}/classifications/{name}", granted(&[Read, Classify])),
    ("DELETE", "/v1/entities/{id}/classifications/{name}", granted(&[Read, Classify])),
    ("GET", "/v1/entities/{id}/summary", Needs::Seen),
    ("GET", "/v1/entities/{id}/history", Needs::Seen),
    ("GET", "/v1/entities/{id}/versions/{number}", Needs::Seen),
    ("GET", "/v1/entities/{id}/diff", Needs::Seen),
    ("GET", "/v1/entities/{id}/neighbors", Needs::Seen),
    ("GET", "/v1/entities/{id}/degree", Needs::Seen),
    ("GET", "/v1/entities/{id}/reach", Needs::Seen),
    ("GET", "/v1/entities/{id}/reach/count", Needs::Seen),
    ("GET", "/v1/entities/{id}/reach/groups", Needs::Seen),
    ("GET", "/v1/entities/{id}/relationships", Needs::Seen),
    ("GET", "/v1/entities/{id}/neighborhood", Needs::Seen),
    ("GET", "/v1/entities/{id}/related", Needs::Seen),
    ("GET", "/v1/relationships", Needs::Seen),
    ("POST", "/v1/relationships", granted(&[Read, Create])),
    ("GET", "/v1/relationships/{id}", Needs::Seen),
    ("PUT", "/v1/relationships/{id}", granted_any(&[Create, Update])),
    ("PATCH", "/v1/relationships/{id}", UPDATES),
    ("DELETE", "/v1/relationships/{id}", granted_any(&[Delete, Purge])),
    ("POST", "/v1/relationships/{id}/restore", granted(&[Read, Create])),
    ("POST", "/v1/relationships/{id}/undo", UPDATES),
    ("PUT", "/v1/relationships/{id}/status", UPDATES),
    ("PUT", "/v1/relationships/{id}/type", UPDATES),
    ("PUT", "/v1/relationships/{id}/id", UPDATES),
    ("PUT", "/v1/relationships/{id}/home", all(&[Read, Update])),
    ("PUT", "/v1/relationships/{id}/provenance", UPDATES),
    ("PUT", "/v1/relationships/{id}/ends", UPDATES),
    ("PUT", "/v1/relationships/{id}/copy", COPIES),
    ("DELETE", "/v1/relationships/{id}/copy", all(&[Purge])),
    ("GET", "/v1/relationships/{id}/history", Needs::Seen),
    ("GET", "/v1/relationships/{id}/versions/{number}", Needs::Seen),
    ("GET", "/v1/relationships/{id}/diff", Needs::Seen),
    ("PUT", "/v1/collection", all(&[Define])),
    ("GET", "/v1/path", Needs::Seen),
    ("GET", "/v1/paths", Needs::Seen),
    ("GET", "/v1/linking", Needs::Seen),
    ("GET", "/v1/shared", Needs::Seen),
    ("POST", "/v1/find", Needs::Seen),
    ("POST", "/v1/count", Needs::Seen),
    ("POST", "/v1/groups", Needs::Seen),
    ("POST", "/v1/explain", READS),
    ("GET", "/v1/complete", Needs::Seen),
    ("GET", "/v1/diff", Needs::Seen),
    ("GET", "/v1/log", Needs::Seen),
    ("GET", "/v1/feed", Needs::Seen),
    ("GET", "/v1/export", Needs::Seen),
    ("POST", "/v1/import", all(&[Read, Create, Update])),
    ("GET", "/v1/tree/{steps}", Needs::Seen),
    ("PUT", "/v1/tree/{steps}", granted_any(&[Create, Update, Delete])),
    ("PATCH", "/v1/tree/{steps}", granted_any(&[Create, Update])),
    ("POST", "/v1/tree/{steps}", granted_any(&[Create, Update])),
    ("DELETE", "/v1/tree/{steps}", granted_any(&[Delete, Update])),
    ("GET", "/v1/tree-list/{steps}", Needs::Seen),
    ("GET", "/v1/tree-find/{steps}", Needs::Seen),
    ("GET", "/v1/tree-explain/{steps}", READS),
    ("GET", "/v1/tree-diff/{steps}", Needs::Seen),
    ("POST", "/v1/tree-move", granted_any(&[Create, Update])),
    ("POST", "/v1/tree-copy", granted(&[Read, Create])),
    ("POST", "/v1/tree-revert", granted(&[Read, Update])),
    ("POST", "/v1/tree-restore", granted(&[Read, Create])),
    ("GET", "/v1/content/{id}", Needs::Seen),
    ("PUT", "/v1/content/{id}", granted_any(&[Create, Update])),
    ("DELETE", "/v1/content/{id}", granted(&[Update])),
    ("GET", "/v1/types", Needs::Seen),
    ("POST", "/v1/types", all(&[Define])),
    ("POST", "/v1/types/verify", Needs::Seen),
    ("GET", "/v1/types/{kind}/{name}", Needs::Seen),
    ("PUT", "/v1/types/{kind}/{name}", all(&[Define])),
    ("PATCH", "/v1/types/{kind}/{name}", all(&[Define])),
    ("POST", "/v1/transactions", WRITES),
    ("POST", "/v1/records/{position}/take-back", all(&[Read, Create, Update, Delete, Classify])),
    ("GET", "/v1/candidates", READS),
    ("POST", "/v1/candidates", CHANGES),
    ("GET", "/v1/candidates/{candidate}", READS),
    ("GET", "/v1/candidates/{candidate}/edits", READS),
    ("GET", "/v1/candidates/{candidate}/conflicts", READS),
    ("GET", "/v1/candidates/{candidate}/check", READS),
    // Further, they need its owner: see the handlers.
    ("POST", "/v1/candidates/{candidate}/rebase", CHANGES),
    ("POST", "/v1/candidates/{candidate}/commit", CHANGES),
    ("POST", "/v1/candidates/{candidate}/confirm", CHANGES),
    ("POST", "/v1/candidates/{candidate}/take-back", CHANGES),
    ("DELETE", "/v1/candidates/{candidate}", CHANGES),
    ("GET", "/v1/operational/{steps}", READS),
    ("GET", "/v1/leases", READS),
    ("POST", "/v1/leases", PUSHES),
    ("POST", "/v1/leases/{lease}/renew", PUSHES),
    ("DELETE", "/v1/leases/{lease}", PUSHES),
    ("POST", "/v1/leases/{lease}/changes", PUSHES),
    ("GET", "/v1/stats", any(&[Read, Operate])),
    ("GET", "/v1/check", all(&[Operate])),
    ("POST", "/v1/compactions", all(&[Operate])),
    // It holds everything: also what was purged, and is not compacted yet.
    ("GET", "/v1/backup", all(&[Read, Operate])),
];

/// The verbs that an operation of the JSON door needs. An operation without a row is for admins only.
pub fn of_operation(method: &Method, path: &str) -> Needs {
    let row = OPERATIONS.iter().find(|(known, at, _)| *known == method.as_str() && *at == path);
    row.map_or(all(&[Administer]), |(_, _, needs)| *needs)
}

/// The verbs that a request of the LDP door needs. Its answers tell of the resource, so that each needs to read.
pub fn of_ldp(method: &Method) -> Needs {
    match method.as_str() {
        "GET" | "HEAD" | "OPTIONS" => READS,
        // A version of a resource is added by POST to its time map.
        "POST" | "PUT" => any(&[Create, Update]),
        "PATCH" => all(&[Update]),
        "DELETE" => any(&[Delete, Purge]),
        _ => Needs::Name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::endpoints::endpoints;

    #[test]
    fn each_operation_has_a_row_and_each_row_an_operation() {
        let known: Vec<_> = endpoints().iter().map(|one| (one.method.to_string(), one.path)).collect();
        let rows: Vec<_> = OPERATIONS.iter().map(|(method, path, _)| ((*method).to_owned(), *path)).collect();
        let missing: Vec<_> = known.iter().filter(|one| !rows.contains(one)).collect();
        assert!(missing.is_empty(), "expected a row for each operation, found none for {missing:?}");
        let gone: Vec<_> = rows.iter().filter(|one| !known.contains(one)).collect();
        assert!(gone.is_empty(), "expected an operation for each row, found none for {gone:?}");
        assert_eq!(rows.len(), known.len(), "a row is there twice");
        assert_eq!(of_operation(&Method::GET, "/v1/tomorrow"), all(&[Administer]));
    }
}
