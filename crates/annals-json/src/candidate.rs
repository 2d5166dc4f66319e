//! Candidates in JSON: their state, their conflicts, and the options of their commits.

use std::time::Duration;

use annals::{
    BuiltOn, Candidate, CandidateCommit, CandidateConflict, Error, ErrorKind, Keep, Receipt, Result, Stamp,
    TakenBack,
};
use serde_json::{Value as Json, json};

use super::difference::kind_name;
use super::{invalid, read, wire};

/// A candidate.
pub fn candidate_to_json(candidate: &Candidate) -> Json {
    let stamp = |stamp: &Stamp| json!({ "instant": stamp.instant.to_string(), "author": &*stamp.author });
    let mut json = json!({
        "name": &*candidate.name,
        "base": candidate.base.0,
        "changes": candidate.changes_count,
        "created": stamp(&candidate.created),
        "updated": stamp(&candidate.updated),
    });
    if let Some(unconfirmed) = &candidate.unconfirmed {
        json["unconfirmed"] = json!({
            "position": unconfirmed.position.0,
            "confirmBefore": unconfirmed.confirm_before.to_string(),
        });
        if let Some(failure) = &unconfirmed.failure {
            json["unconfirmed"]["failure"] = (**failure).into();
        }
    }
    json
}

/// An edit that prevents the commit of a candidate.
pub fn conflict_to_json(conflict: &CandidateConflict) -> Json {
    let mut json = json!({
        "edit": conflict.edit,
        "action": conflict.verb,
        "reason": conflict.reason.kind().name(),
        "detail": conflict.reason.text(),
    });
    if let Some(instance) = &conflict.instance {
        json["kind"] = kind_name(instance).into();
        json["id"] = instance.id().to_string().into();
    }
    if let Some(path) = &conflict.path {
        json["path"] = path.to_string().into();
    }
    json
}

/// Most conflicts that one answer shows.
const CONFLICTS_SHOWN_MAX: usize = 1_000;

/// The first conflicts, and the count of all.
pub fn conflicts_to_json(conflicts: &[CandidateConflict]) -> Json {
    let items: Vec<Json> = conflicts.iter().take(CONFLICTS_SHOWN_MAX).map(conflict_to_json).collect();
    json!({ "items": items, "count": conflicts.len() })
}

/// An instance on which later commits built, and how.
pub fn stays_to_json(stays: &BuiltOn) -> Json {
    json!({
        "kind": kind_name(&stays.instance),
        "id": stays.instance.id().to_string(),
        "detail": stays.reason.text(),
    })
}

/// The receipt of a record that takes others back, with the first instances that stay or are undone, too, and the counts of
/// all.
pub fn taken_back_to_json(taken: &TakenBack, receipt: &Receipt) -> Json {
    let mut json = json!({ "position": receipt.position.0, "instant": receipt.instant.to_string() });
    add_taken_back(&mut json, taken);
    json
}

/// Adds the first instances that stay or are undone, too, and the counts of all, to a receipt.
pub fn add_taken_back(receipt: &mut Json, taken: &TakenBack) {
    let first =
        |built: &[BuiltOn]| built.iter().take(CONFLICTS_SHOWN_MAX).map(stays_to_json).collect::<Json>();
    receipt["stays"] = first(&taken.stays);
    receipt["staysCount"] = taken.stays.len().into();
    receipt["undone"] = first(&taken.undone);
    receipt["undoneCount"] = taken.undone.len().into();
}

/// The side whose changes stay in a conflict.
///
/// Errors: `InvalidArgument`.
pub fn keep_from_text(text: &str) -> Result<Keep> {
    match text {
        "mine" => Ok(Keep::Mine),
        "theirs" => Ok(Keep::Theirs),
        other => Err(invalid(format!("keep: expected mine or theirs, found {other:?}"))),
    }
}

/// The same from a form.
pub fn keep_from_form(keep: wire::KeepChoice) -> Keep {
    match keep {
        wire::KeepChoice::Mine => Keep::Mine,
        wire::KeepChoice::Theirs => Keep::Theirs,
    }
}

/// The options of committing a candidate: `{"confirmWithin": "PT10M"}`, where the time is optional.
///
/// Errors: `InvalidArgument`.
pub fn candidate_commit_from_json(json: &Json, author: String, message: String) -> Result<CandidateCommit> {
    let given: wire::CandidateCommit = read(json, "commit")?;
    let confirm_within = given.confirm_within.map(|within| time_from_text(&within.0)).transpose()?;
    Ok(CandidateCommit { author, message, confirm_within })
}

/// A duration such as `PT10M`; not negative.
///
/// Errors: `InvalidArgument`.
pub fn time_from_text(text: &str) -> Result<Duration> {
    let micros = text.parse().map(|time: annals::Duration| time.micros()).map_err(|error: Error| {
        Error::new(ErrorKind::InvalidArgument, format!("{}, such as PT10M for ten minutes", error.text()))
    })?;
    let micros = u64::try_from(micros)
        .map_err(|_| invalid(format!("a time to wait: expected none before now, found {text}")))?;
    Ok(Duration::from_micros(micros))
}
