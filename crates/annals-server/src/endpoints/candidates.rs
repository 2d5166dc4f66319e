//! Candidates: open, show, rebase, commit, confirm and discard. `?candidate=` names one for reads and writes.

use std::sync::Arc;

use annals::{Candidates, Receipt};
use annals_json::wire::{CandidateName, CandidateRebase};
use annals_json::{
    candidate_commit_from_json, candidate_to_json, change_to_json, conflicts_to_json, keep_from_form,
    keep_from_text, read, taken_back_to_json,
};
use http::{Method, StatusCode};
use serde_json::{Value as Json, json};

use crate::answer;
use crate::bounds::heavy::heavy;
use crate::description::endpoint::Endpoint;
use crate::description::parameters;
use crate::protocol::problem::{Outcome, Problem};
use crate::request::call::Call;
use crate::request::commit::{Signature, with_candidates};

/// The endpoints of this file.
pub fn endpoints() -> Vec<Endpoint> {
    let of = |endpoint: Endpoint| endpoint.tag("candidates").fails(&["not-found"]);
    let reads = |endpoint: Endpoint| of(endpoint).takes([parameters::wait_position()]);
    // Their records have messages of their own.
    let writes = |endpoint: Endpoint| {
        of(endpoint).takes(parameters::signing_author()).fails(&["precondition-failed"]).commits()
    };
    vec![
        reads(Endpoint::new(Method::GET, "/v1/candidates", "List the candidates", list))
            .describe("Candidates are working copies that stay until they end: reads and writes name one with `candidate`.")
            .answers(200, "All candidates, by name.", "CandidateList"),
        writes(Endpoint::new(Method::POST, "/v1/candidates", "Open a candidate", open))
            .body("CandidateName")
            .answers(201, "Opened.", "Candidate")
            .fails(&["already-exists"]),
        reads(Endpoint::new(Method::GET, "/v1/candidates/{candidate}", "Read a candidate", show))
            .answers(200, "The candidate.", "Candidate"),
        reads(Endpoint::new(Method::GET, "/v1/candidates/{candidate}/edits", "List the edits of a candidate", edits))
            .takes(parameters::paging())
            .answers(200, "A page of the edits as operations, in order.", "CandidateEdits"),
        reads(Endpoint::new(Method::GET, "/v1/candidates/{candidate}/conflicts", "List the conflicts of a candidate", conflicts))
            .describe("Edits of instances that another transaction changed since the base, and edits that can no longer be applied: the first 1,000, and the count of all.")
            .answers(200, "The conflicts, in the order of the edits.", "CandidateConflicts")
            .fails(&["precondition-failed"]),
        reads(Endpoint::new(Method::GET, "/v1/candidates/{candidate}/check", "Find out whether a candidate can be committed", check))
            .describe("Commits nothing, and answers as the commit would.")
            .answers(200, "It can be committed.", "Candidate")
            .fails(&["precondition-failed", "refused"])
            .changes_instances()
            .fails(&COMMITS),
        writes(Endpoint::new(Method::POST, "/v1/candidates/{candidate}/rebase", "Rebase a candidate on the present", rebase))
            .describe("`mine` keeps edits in conflict, and `theirs` drops them. Without `keep`, the server refuses a conflict.")
            .body("CandidateRebase")
            .answers(200, "The edits that were dropped.", "CandidateConflicts"),
        writes(Endpoint::new(Method::POST, "/v1/candidates/{candidate}/commit", "Commit a candidate as one transaction", commit))
            .describe("With `confirmWithin`, the server undoes the commit unless you confirm it in time, also after a restart.")
            .takes([parameters::message()])
            .body("CandidateCommit")
            .answers(200, "Durable.", "Receipt")
            .changes_instances()
            .fails(&COMMITS),
        writes(Endpoint::new(Method::POST, "/v1/candidates/{candidate}/confirm", "Confirm a commit that waits for confirmation", confirm))
            .answers(200, "Confirmed; the candidate has ended.", "Receipt"),
        writes(Endpoint::new(Method::POST, "/v1/candidates/{candidate}/take-back", "Undo a commit that waits for confirmation", take_back))
            .describe(
                "The candidate is open again, with its edits. If later commits built on it, the server refuses: `keep=mine` undoes \
                 these changes, too, and `keep=theirs` leaves instances on which they built as they are.",
            )
            .takes([parameters::keep()])
            .answers(200, "Taken back.", "TakenBack")
            .changes_instances()
            .fails(&COMMITS),
        writes(Endpoint::new(Method::DELETE, "/v1/candidates/{candidate}", "Discard a candidate", discard))
            .answers(200, "Discarded.", "Receipt"),
    ]
}

/// Kinds of errors of a commit, beside those of changes of any instances.
const COMMITS: [&str; 4] = ["already-exists", "invalid-classification", "status-not-allowed", "not-deleted"];

async fn list(call: Box<Call>) -> Outcome {
    reads(call, |candidates, _| {
        let all: Vec<Json> = candidates.list()?.iter().map(candidate_to_json).collect();
        Ok(json!({ "items": all }))
    })
    .await
}

async fn open(mut call: Box<Call>) -> Outcome {
    let CandidateName { name } = read(&call.receive().await?, "candidate")?;
    answers(call, StatusCode::CREATED, move |candidates, _, author| {
        let receipt = candidates.open(&name, author)?;
        Ok((candidate_to_json(&candidates.get(&name)?), receipt))
    })
    .await
}

async fn show(call: Box<Call>) -> Outcome {
    reads(call, |candidates, name| Ok(candidate_to_json(&candidates.get(name)?))).await
}

async fn edits(call: Box<Call>) -> Outcome {
    let (skipped, limit) = (call.query.number("after")?.unwrap_or(0), call.limit()?);
    reads(call, move |candidates, name| {
        let edits = candidates.edits(name)?;
        let page = edits.iter().skip(skipped).take(limit);
        let items: Vec<Json> = page.map(|edit| change_to_json(edit, None)).collect();
        let next = skipped.saturating_add(limit);
        let next = (next < edits.len()).then(|| next.to_string());
        Ok(json!({ "items": items, "next": next }))
    })
    .await
}

async fn conflicts(call: Box<Call>) -> Outcome {
    reads(call, |candidates, name| Ok(conflicts_to_json(&candidates.conflicts(name)?))).await
}

async fn check(call: Box<Call>) -> Outcome {
    reads(call, |candidates, name| {
        candidates.check(name)?;
        Ok(candidate_to_json(&candidates.get(name)?))
    })
    .await
}

async fn rebase(mut call: Box<Call>) -> Outcome {
    let body = call.receive().await?;
    let CandidateRebase { keep } = read(&body, "rebase")?;
    let keep = keep.map(keep_from_form);
    let author = Signature::of(&call)?.author;
    reads(call, move |candidates, name| Ok(conflicts_to_json(&candidates.rebase(name, keep, &author)?))).await
}

async fn commit(mut call: Box<Call>) -> Outcome {
    let body = call.receive().await?;
    let Signature { author, message, .. } = Signature::of(&call)?;
    let how = candidate_commit_from_json(&body, author, message)?;
    writes(call, move |candidates, name, _| candidates.commit(name, &how)).await
}

async fn confirm(call: Box<Call>) -> Outcome {
    writes(call, |candidates, name, author| candidates.confirm(name, author)).await
}

async fn take_back(call: Box<Call>) -> Outcome {
    let keep = call.query.get("keep").map(keep_from_text).transpose()?;
    answers(call, StatusCode::OK, move |candidates, name, author| {
        let (taken, receipt) = candidates.take_back(name, keep, author)?;
        Ok((taken_back_to_json(&taken, &receipt), receipt))
    })
    .await
}

async fn discard(call: Box<Call>) -> Outcome {
    writes(call, |candidates, name, author| candidates.discard(name, author)).await
}

/// Answers with the result of `work` on the candidate in the path.
async fn reads(
    call: Box<Call>,
    work: impl FnOnce(&Candidates, &str) -> annals::Result<Json> + Send + 'static,
) -> Outcome {
    call.wait_visible().await?;
    let door = Arc::clone(&call.door);
    heavy(&door.bounds, move || {
        let json = with_candidates(&call.door, &call.principal, |candidates, _| {
            work(candidates, call.path("candidate"))
        })?;
        Ok(answer::json(StatusCode::OK, &json, call.door.snapshot()?.position()))
    })
    .await
}

/// Runs `work` with the candidate in the path and the author of the request, and answers with the receipt.
async fn writes(
    call: Box<Call>,
    work: impl FnOnce(&Candidates, &str, &str) -> annals::Result<Receipt> + Send + 'static,
) -> Outcome {
    let work = |candidates: &Candidates, name: &str, author: &str| {
        let receipt = work(candidates, name, author)?;
        Ok((answer::receipt_to_json(&receipt), receipt))
    };
    answers(call, StatusCode::OK, work).await
}

/// The same, and answers with JSON beside the receipt.
async fn answers(
    call: Box<Call>,
    status: StatusCode,
    work: impl FnOnce(&Candidates, &str, &str) -> annals::Result<(Json, Receipt)> + Send + 'static,
) -> Outcome {
    call.wait_visible().await?;
    let author = Signature::of(&call)?.author;
    let door = Arc::clone(&call.door);
    heavy(&door.bounds, move || -> Result<_, Problem> {
        let (json, receipt) = with_candidates(&call.door, &call.principal, |candidates, _| {
            work(candidates, call.path("candidate"), &author)
        })?;
        Ok(answer::written(answer::json(status, &json, receipt.position), &receipt))
    })
    .await
}
