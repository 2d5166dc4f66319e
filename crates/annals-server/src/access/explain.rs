//! Why a client may, or may not, do something with an entity.

use std::sync::Arc;

use annals::{Id, Sight, Snapshot};

use super::grants::{GRANT, grant_of};
use super::verb::{Verb, of_role};

/// A role, or a grant of a role, and what it lets do with the entity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// The role.
    pub role: Arc<str>,
    /// The grant; `None` for a built-in role.
    pub grant: Option<Id>,
    /// The names of its verbs.
    pub verbs: Vec<&'static str>,
    /// True if it holds for the entity.
    pub admits: bool,
    /// True if paths lead through the entity to the container that the grant names: the client sees its id, its type and its
    /// name.
    pub leads: bool,
}

/// The verbs that each of these roles gives for the entity, by the grants and the state that `snapshot` has.
///
/// Shape: built-in roles first, then grants in the order of their creation.
/// Errors: those of reading the grants and the entity.
pub fn explain(snapshot: &Snapshot, roles: &[Arc<str>], entity: &Id) -> annals::Result<Vec<Reason>> {
    let mut reasons = Vec::new();
    for role in roles {
        if let Some(verbs) = of_role(role) {
            let verbs = verbs.list().map(Verb::name).collect();
            reasons.push(Reason { role: Arc::clone(role), grant: None, verbs, admits: true, leads: true });
        }
    }
    for found in snapshot.entities_of(Some(GRANT)) {
        let found = found?;
        let Ok((role, grant, rights)) = grant_of(|name| found.property(name)) else { continue };
        if !roles.contains(&role) {
            continue;
        }
        let verbs = std::iter::once("read").chain(rights.iter().map(|right| right.name())).collect();
        let sight = Sight::new(vec![grant])?;
        let admits = sight.admits(snapshot, entity)?;
        let leads = sight.leads_through(snapshot, entity)?;
        reasons.push(Reason { role, grant: Some(found.id().clone()), verbs, admits, leads });
    }
    Ok(reasons)
}
