//! A client with grants, for answers without end: its grants may change meanwhile.

use std::sync::Arc;

use annals::{Id, Right, Snapshot};

use crate::access::Principal;
use crate::protocol::problem::Problem;
use crate::request::door::Door;

/// The roles of a client with grants.
#[derive(Clone)]
pub struct Granted {
    door: Arc<Door>,
    roles: Vec<Arc<str>>,
}

impl Granted {
    /// `None` for a client that reads everything, or nothing.
    pub fn of(door: &Arc<Door>, principal: &Principal) -> Option<Granted> {
        let roles = principal.granted_roles().cloned().collect();
        principal.is_granted().then(|| Granted { door: Arc::clone(door), roles })
    }

    /// True if a grant with this right admits the entity as it is now; without an entity, if there is such a grant.
    ///
    /// Errors: those of reading the grants; `closed`.
    pub fn may(&self, right: Right, entity: Option<&Id>) -> Result<bool, Problem> {
        let whole = self.door.repository_of_granted()?.try_snapshot()?;
        let rights = self.door.grants.rights(&whole, &self.roles)?;
        let sight = rights.to(right);
        match entity {
            Some(entity) => Ok(sight.admits(&whole, entity)?),
            None => Ok(!sight.grants().is_empty()),
        }
    }

    /// The present, as the grants of now show it.
    ///
    /// Errors: those of reading the grants; `closed`.
    pub fn snapshot(&self) -> Result<Snapshot, Problem> {
        let whole = self.door.repository_of_granted()?.try_snapshot()?;
        let rights = self.door.grants.rights(&whole, &self.roles)?;
        Ok(whole.seen_by(rights.sight())?)
    }
}
