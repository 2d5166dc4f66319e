//! A client with grants, for answers without end: its grants may change meanwhile.

use std::sync::Arc;

use annals::Snapshot;

use crate::access::Principal;
use crate::door::Door;
use crate::problem::Problem;

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

    /// The present, as the grants of now show it.
    ///
    /// Errors: those of reading the grants; `closed`.
    pub fn snapshot(&self) -> Result<Snapshot, Problem> {
        let whole = self.door.repository()?.snapshot();
        let rights = self.door.grants.rights(&whole, &self.roles)?;
        Ok(whole.seen_by(rights.sight())?)
    }
}
