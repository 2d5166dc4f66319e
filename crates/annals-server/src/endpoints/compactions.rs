//! Compactions: removes the bytes of purged instances while the server runs.

use std::sync::Arc;

use annals::ErrorKind;
use annals_json::compaction_to_json;
use http::{Method, StatusCode};

use crate::answer;
use crate::description::endpoint::Endpoint;
use crate::description::parameters;
use crate::protocol::names::AUTHOR;
use crate::protocol::problem::{Outcome, Problem};
use crate::request::call::Call;
use crate::request::commit::Signature;

/// The endpoints of this file.
pub fn endpoints() -> Vec<Endpoint> {
    vec![
        Endpoint::new(Method::POST, "/v1/compactions", "Remove the bytes of purged instances", compact)
            .describe(
                "Rewrites the log without the changes of purged instances, writes a checkpoint, and removes contents that no version \
                 names. Positions stay. Reads and writes continue. The answer comes when it is done, and the compaction \
                 continues if the client goes. It takes the memory of a second graph. One runs at a time.",
            )
            .tag("operation")
            .takes(parameters::signing().into_iter().filter(|known| known.name == AUTHOR.as_str()))
            .streaming()
            .answers(200, "It is done.", "Compaction")
            .fails(&["busy", "read-only", "not-writer", "too-large", "unavailable", "no-room", "io"]),
    ]
}

async fn compact(call: Box<Call>) -> Outcome {
    Signature::of(&call)?;
    let repository = call.door.repository()?.clone();
    let permit = Arc::clone(&call.door.bounds.gates.compactions)
        .try_acquire_owned()
        .map_err(|_| Problem::busy("a compaction or a check is under way; try again when it is done"))?;
    let running = tokio::task::spawn_blocking(move || {
        // Released when the work is done, also if the client goes earlier.
        let _held = permit;
        let outcome = repository.compact();
        match &outcome {
            Ok(report) => tracing::info!(
                changes = report.changes_count,
                contents = report.contents_count,
                bytes_before = report.bytes_before,
                bytes_after = report.bytes_after,
                "compacted"
            ),
            Err(error) if matches!(error.kind(), ErrorKind::ReadOnly | ErrorKind::NotWriter) => {}
            Err(error) => tracing::error!(kind = error.kind().name(), "the compaction failed: {error}"),
        }
        outcome.map(|report| (report, repository.snapshot().position()))
    });
    let (report, position) = match running.await {
        Ok(outcome) => outcome?,
        Err(error) => std::panic::resume_unwind(error.into_panic()),
    };
    Ok(answer::json(StatusCode::OK, &compaction_to_json(&report), position))
}
