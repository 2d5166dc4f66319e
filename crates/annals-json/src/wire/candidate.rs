//! Candidates.

use annals_json_form::form;
use serde_json::{Value as Json, json};

use super::{Duration, InstanceKind, Instant, Listed, Page, RecordedChange};

named_forms![
    Candidate,
    CandidateList,
    CandidateName,
    CandidateEdits,
    CandidateConflicts,
    CandidateRebase,
    TakenBack,
    CandidateCommit,
];

/// A candidate: changes that become one record, or none.
#[form]
#[schemars(example = candidate_example())]
pub struct Candidate {
    pub name: String,
    /// The position that its edits are based on.
    pub base: u64,
    /// Number of its changes.
    pub changes: u64,
    pub created: CandidateStamp,
    pub updated: CandidateStamp,
    pub unconfirmed: Option<Unconfirmed>,
}

// The instant and the author of a write.
#[form(inline)]
pub struct CandidateStamp {
    pub instant: Instant,
    pub author: String,
}

// A commit that is undone unless it is confirmed.
#[form(inline)]
pub struct Unconfirmed {
    /// Position of its record.
    pub position: u64,
    pub confirm_before: Instant,
    /// Why it could not be undone.
    pub failure: Option<String>,
}

/// All candidates.
#[form]
#[schemars(example = json!({ "items": [candidate_example()] }))]
pub struct CandidateList(pub Listed<Candidate>);

/// The name of a new candidate.
#[form]
#[schemars(example = json!({ "name": "maintenance" }))]
pub struct CandidateName {
    pub name: String,
}

/// A page of the edits of a candidate.
#[form]
#[schemars(example = json!({ "items": [{ "action": "delete", "kind": "entity", "id": "dash" }], "next": null }))]
pub struct CandidateEdits(pub Page<RecordedChange>);

/// The edits of a candidate that conflict with later commits, or can no longer be applied.
#[form]
#[schemars(example = json!({ "items": [conflict_example()], "count": 1 }))]
pub struct CandidateConflicts {
    pub items: Vec<Conflict>,
    /// The number of conflicts, including those that are not listed.
    pub count: u64,
}

// An edit in conflict.
#[form(inline)]
pub struct Conflict {
    /// Number of the edit, from 0.
    pub edit: u64,
    pub action: String,
    pub kind: Option<String>,
    pub id: Option<String>,
    /// Its path in the tree of the default root.
    pub path: Option<String>,
    /// The kind of an error (docs/errors.md).
    pub reason: String,
    pub detail: String,
}

/// How to resolve conflicts.
#[form]
#[schemars(example = json!({ "keep": "mine" }))]
pub struct CandidateRebase {
    /// The edits of the candidate, or the later commits; if left out, a conflict is an error.
    pub keep: Option<KeepChoice>,
}

/// The receipt of a record that takes earlier ones back.
#[form]
#[schemars(example = taken_back_example())]
pub struct TakenBack {
    pub position: u64,
    pub instant: Instant,
    /// Number of changes, if records are taken back: 0 if everything is as it was before them already.
    pub changes: Option<u64>,
    /// With `keep=theirs`: the first 1,000 instances that stay, or of which a part stays, because later commits built on them.
    pub stays: Vec<Stays>,
    /// The count of all of these.
    pub stays_count: u64,
    /// With `keep=mine`: the first 1,000 instances whose later changes are undone, too.
    pub undone: Vec<Stays>,
    /// The count of all of these.
    pub undone_count: u64,
}

/// An instance on which later commits built.
#[form(inline)]
pub struct Stays {
    pub kind: InstanceKind,
    pub id: String,
    /// How a later commit built on it.
    pub detail: String,
}

// The side whose changes are kept.
#[form(inline)]
pub enum KeepChoice {
    Mine,
    Theirs,
}

/// Options for committing a candidate.
#[form]
#[schemars(example = json!({ "confirmWithin": "PT10M" }))]
pub struct CandidateCommit {
    /// Undo the commit unless it is confirmed within this time.
    pub confirm_within: Option<Duration>,
}

fn candidate_example() -> Json {
    let written = json!({ "instant": "2025-08-09T10:00:00Z", "author": "ada" });
    json!({ "name": "maintenance", "base": 17, "changes": 3, "created": written, "updated": written })
}

fn taken_back_example() -> Json {
    json!({
        "position": 42, "instant": "2025-08-09T10:00:00Z", "changes": 3,
        "stays": [], "staysCount": 0, "undone": [], "undoneCount": 0,
    })
}

fn conflict_example() -> Json {
    json!({
        "edit": 0, "action": "update", "kind": "entity", "id": "eth0", "reason": "conflict",
        "detail": "entity eth0 was changed at position 18, after the base 17",
    })
}
