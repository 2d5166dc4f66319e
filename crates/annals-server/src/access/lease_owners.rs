//! The owners of leases, which are in memory as the leases are.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::principal::Principal;
use super::verb::Verb;
use crate::protocol::problem::Problem;

/// The names of the clients that opened leases, by the names of the leases.
#[derive(Debug, Default)]
pub struct LeaseOwners(Mutex<HashMap<String, Arc<str>>>);

impl LeaseOwners {
    /// Notes the owner of a new lease, and forgets those of leases that are not there any more.
    pub fn note(&self, lease: &str, owner: Arc<str>, is_there: impl Fn(&str) -> bool) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|lease, _| is_there(lease));
        known.insert(lease.to_owned(), owner);
    }

    /// Refuses a change of a lease that belongs to another client.
    ///
    /// Errors: `forbidden`.
    pub fn check(&self, principal: &Principal, lease: &str) -> Result<(), Problem> {
        if !principal.is_named() || principal.may(Verb::Administer) {
            return Ok(());
        }
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match known.get(lease) {
            Some(owner) if **owner != *principal.name => {
                let text = format!("lease {lease}: expected {owner:?}, who opened it; open one of your own");
                Err(Problem::door("forbidden", text))
            }
            _ => Ok(()),
        }
    }
}
