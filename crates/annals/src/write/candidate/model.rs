//! The state of a candidate, and the options of committing it.

use std::sync::Arc;
use std::time::Duration;

use super::stored::id_of;
use crate::model::{InstanceId, Instant, Stamp};
use crate::{Position, Result};

/// Most candidates at once.
pub const CANDIDATES_MAX: usize = 1_000;
/// Longest time that a commit may wait for its confirmation.
pub const CONFIRM_WITHIN_MAX: Duration = Duration::from_secs(366 * 24 * 3_600);

/// A candidate as a snapshot sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// Its name.
    pub name: Arc<str>,
    /// The position that its edits are based on: they may conflict with later changes of other transactions.
    pub base: Position,
    /// How many changes it holds.
    pub changes_count: u64,
    /// Its author and the instant when it was opened.
    pub created: Stamp,
    /// Author and instant of its latest edit.
    pub updated: Stamp,
    /// Its commit, if that waits for a confirmation.
    pub unconfirmed: Option<Unconfirmed>,
}

impl Candidate {
    /// The entity that holds the candidate.
    ///
    /// Errors: `InvalidArgument` for a name that no candidate can have.
    pub fn instance(&self) -> Result<InstanceId> {
        id_of(&self.name).map(InstanceId::Entity)
    }
}

/// A commit that is undone unless it is confirmed.
#[derive(Clone, Debug, PartialEq)]
pub struct Unconfirmed {
    /// The position of the commit.
    pub position: Position,
    /// The instant at which it is undone.
    pub confirm_before: Instant,
    /// Why undoing it failed. The engine tries again.
    pub failure: Option<Arc<str>>,
}

/// Options for committing a candidate.
#[derive(Clone, Debug, Default)]
pub struct CandidateCommit {
    /// The author.
    pub author: String,
    /// The reason.
    pub message: String,
    /// The commit is undone after this time unless it is confirmed; after a restart another process does this.
    pub confirm_within: Option<Duration>,
}
