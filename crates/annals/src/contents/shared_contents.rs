//! The contents of a store that several repositories share: under which name a content is put and named, and which of them
//! are known to be there.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::Result;
use crate::log::Term;
use crate::model::Sha256;
use crate::upkeep::{ContentName, SharedUpkeep, Upkeep};

/// Most contents that are known to be there; then all are asked for again.
#[cfg(not(test))]
const PROVEN_MAX: usize = 65_536;
#[cfg(test)]
const PROVEN_MAX: usize = 2;

/// The knowledge of a repository of the contents that it shares with others.
pub(crate) struct SharedContents {
    upkeep: Arc<SharedUpkeep>,
    proven: Mutex<Proven>,
}

/// Contents that a writer of a term has found in the store. Only it removes any in its term.
#[derive(Default)]
struct Proven {
    term: Term,
    /// Units: bytes.
    sizes: HashMap<Sha256, u64>,
}

impl SharedContents {
    pub(super) fn new(upkeep: Arc<SharedUpkeep>) -> SharedContents {
        SharedContents { upkeep, proven: Mutex::default() }
    }

    pub(crate) fn upkeep(&self) -> &SharedUpkeep {
        &self.upkeep
    }

    /// The upkeep, in which a content is not about to leave: it stays for as long as the grace from now on.
    pub(super) fn spare(&self, sha256: &Sha256) -> Result<Option<Upkeep>> {
        self.upkeep.spare(sha256)
    }

    fn proven(&self) -> MutexGuard<'_, Proven> {
        self.proven.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The size of a content that is there as long as this repository writes. Units: bytes.
    pub(super) fn known_size(&self, sha256: &Sha256) -> Option<u64> {
        let proven = self.proven();
        proven.sizes.get(sha256).copied().filter(|_| proven.term == self.upkeep.term())
    }

    /// Notes that a content is there under a name that is not leaving in `upkeep`. The caller has pinned it since before that
    /// was read.
    pub(super) fn prove(&self, sha256: Sha256, size: u64, upkeep: Option<&Upkeep>) {
        let Some(upkeep) = upkeep.filter(|upkeep| self.upkeep.is_own(upkeep)) else { return };
        let mut proven = self.proven();
        if proven.term != upkeep.term || proven.sizes.len() >= PROVEN_MAX {
            *proven = Proven { term: upkeep.term, sizes: HashMap::new() };
        }
        proven.sizes.insert(sha256, size);
    }

    /// Forgets contents that may leave. The caller holds the pins.
    pub(crate) fn forget<'s>(&self, contents: impl Iterator<Item = &'s Sha256>) {
        let mut proven = self.proven();
        for sha256 in contents {
            proven.sizes.remove(sha256);
        }
    }
}

/// The first name of a content that is not leaving.
pub(super) fn free_name(sha256: Sha256, upkeep: Option<&Upkeep>) -> ContentName {
    let is_leaving = |name: &ContentName| upkeep.is_some_and(|upkeep| upkeep.is_leaving(*name));
    let mut names = (0..).map(|number| ContentName { sha256, number }).filter(|name| !is_leaving(name));
    // There are fewer names in the value than numbers.
    names.next().unwrap_or(ContentName::of(sha256))
}
