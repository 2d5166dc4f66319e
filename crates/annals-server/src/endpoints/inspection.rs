//! Looks at the repository as a whole: its counts and size, and whether its graph is the one that its log describes.

use std::sync::Arc;

use annals::{Snapshot, TypeKind};
use http::{Method, StatusCode};
use serde_json::{Map, Value as Json, json};

use crate::answer;
use crate::description::endpoint::Endpoint;
use crate::description::parameters;
use crate::protocol::problem::{Outcome, Problem};
use crate::request::call::{Call, Weight};

/// The kinds of instances that have counts, and their members.
const KINDS: [(TypeKind, &str); 3] = [
    (TypeKind::Entity, "entities"),
    (TypeKind::Relationship, "relationships"),
    (TypeKind::Classification, "classifications"),
];

/// The endpoints of this file.
pub fn endpoints() -> Vec<Endpoint> {
    vec![
        Endpoint::new(Method::GET, "/v1/stats", "Count entities, relationships and classifications by type", stats)
            .describe("The counts as of the time asked for; the size of the log is that of now.")
            .tag("operation")
            .takes(parameters::reading())
            .answers(200, "The counts.", "Stats")
            .fails(&["not-found", "future-instant"]),
        Endpoint::new(Method::GET, "/v1/check", "Compare the graph with its log", check)
            .describe(
                "Rebuilds the graph from the log, and compares it with the one in use. It changes nothing; reads and writes \
                 continue. The answer comes when it is done. It takes the memory of a second graph, so that one runs at a time, \
                 and none beside a compaction.",
            )
            .tag("operation")
            .streaming()
            .answers(200, "It is done; without `differences` and `warnings` all is well.", "CheckReport")
            .fails(&["busy", "too-large", "corrupted", "io"]),
    ]
}

async fn stats(call: Box<Call>) -> Outcome {
    call.read(Weight::Heavy, |call, snapshot| {
        let position = snapshot.position();
        let mut json = json!({
            "position": position.0,
            "instant": snapshot.instant_of(position).map(|instant| instant.to_string()),
            "types": snapshot.types().len(),
            "logBytes": call.door.repository()?.log_bytes(),
        });
        for (kind, name) in KINDS {
            json[name] = counts(&snapshot, kind)?;
        }
        Ok(answer::json(StatusCode::OK, &json, position))
    })
    .await
}

fn counts(snapshot: &Snapshot, kind: TypeKind) -> annals::Result<Json> {
    let counts = snapshot.counts(kind)?;
    let total: u64 = counts.iter().map(|(_, count)| count).sum();
    let by_type: Map<String, Json> =
        counts.into_iter().map(|(name, count)| (name.to_string(), count.into())).collect();
    Ok(json!({ "total": total, "byType": by_type }))
}

async fn check(call: Box<Call>) -> Outcome {
    let repository = call.door.repository()?.clone();
    let permit = Arc::clone(&call.door.bounds.gates.compactions)
        .try_acquire_owned()
        .map_err(|_| Problem::busy("a check or a compaction is under way; try again when it is done"))?;
    let running = tokio::task::spawn_blocking(move || {
        // Released when the work is done, also if the client goes earlier.
        let _held = permit;
        repository.check().map(|report| (report, repository.warnings()))
    });
    let (report, warnings) = match running.await {
        Ok(outcome) => outcome?,
        Err(error) => std::panic::resume_unwind(error.into_panic()),
    };
    let json = json!({
        "position": report.position.0,
        "records": report.records_count,
        "entities": report.entities_count,
        "relationships": report.relationships_count,
        "differences": &report.differences,
        "warnings": &warnings,
    });
    Ok(answer::json(StatusCode::OK, &json, report.position))
}
