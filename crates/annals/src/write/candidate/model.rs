//! What is said of a candidate, and how it is rebased and committed.

use std::sync::Arc;
use std::time::Duration;

use crate::Position;
use crate::model::{Instant, Stamp};

/// Most candidates at a time.
pub const CANDIDATES_MAX: usize = 1_000;
/// Longest time that a commit may wait for its confirmation.
pub const CONFIRM_WITHIN_MAX: Duration = Duration::from_secs(366 * 24 * 3_600);

/// A candidate as a snapshot sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// Its name.
    pub name: Arc<str>,
    /// Its edits were made of the repository as it was here: what others have changed since may conflict.
    pub base: Position,
    /// How many changes it holds.
    pub changes_count: u64,
    /// Who opened it, and when.
    pub created: Stamp,
    /// Who edited it last, and when.
    pub updated: Stamp,
    /// What waits for a confirmation, if it was committed so.
    pub unconfirmed: Option<Unconfirmed>,
}

/// A commit that is taken back unless somebody confirms it.
#[derive(Clone, Debug, PartialEq)]
pub struct Unconfirmed {
    /// The position of the commit.
    pub position: Position,
    /// When it is taken back.
    pub confirm_before: Instant,
    /// Why taking it back failed. It is tried again.
    pub failure: Option<Arc<str>>,
}

/// Whose changes stay where both sides changed something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// The edits of the candidate.
    Mine,
    /// What others committed: the edits in conflict are dropped.
    Theirs,
}

/// How a candidate is committed.
#[derive(Clone, Debug, Default)]
pub struct CandidateCommit {
    /// Who commits.
    pub author: String,
    /// Why.
    pub message: String,
    /// The commit is taken back after this time unless it is confirmed, also by another process after a restart.
    pub confirm_within: Option<Duration>,
}
