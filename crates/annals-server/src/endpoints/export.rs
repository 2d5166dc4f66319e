//! Exports: the whole content of a snapshot as JSON Lines, or as a graph for other programs, sent while it is read.

use annals::Position;
use annals_exchange::export::{Selected, Selection, export_history, export_jsonl};
use http::Method;

use super::graph_files;
use super::line_writer::{LineWriter, outcome_of};
use crate::answer::lines;
use crate::description::endpoint::Endpoint;
use crate::description::parameters;
use crate::protocol::names::NDJSON;
use crate::protocol::problem::{Outcome, Problem};
use crate::request::call::Call;

/// The endpoints of this file.
pub fn endpoints() -> Vec<Endpoint> {
    [
        Endpoint::new(Method::GET, "/v1/export", "Write everything as JSON Lines", get)
            .describe(
                "Types, entities and relationships of one snapshot, in an order that `POST /v1/import` and `annals import` accept. \
                 The answer is complete or visibly cut off: HTTP/1.1 ends without the last chunk, HTTP/2 with a reset.",
            )
            .tag("exchange")
            .takes(parameters::exporting())
            .takes(parameters::reading())
            .answers_as(200, "One line each.", NDJSON, "ExportLine")
            .fails(&["not-found", "future-instant", "busy"]),
    ]
    .map(graph_files::with_graph_files)
    .into()
}

async fn get(call: Box<Call>) -> Outcome {
    let snapshot = call.snapshot().await?;
    let selection = Selection { types: call.query.all("type").map(str::to_owned).collect() };
    let is_history = call.query.flag("history")?;
    let as_of = call.query.as_of()?;
    let is_narrowed = !selection.types.is_empty()
        || as_of.instant.is_some()
        || as_of.valid.is_some()
        || call.query.get("candidate").is_some();
    if is_history {
        call.check_reads_all()?;
    }
    if is_history && is_narrowed {
        let text = "parameter history: expected none of type, at, validAt and candidate beside it, found one; leave it out";
        return Err(Problem::invalid(text).with("parameter", "history"));
    }
    if let Some(format) = graph_files::format_of(&call)? {
        if is_history {
            let text = "parameter history: expected neither GraphML nor DOT, which have no place for it; leave it out";
            return Err(Problem::invalid(text).with("parameter", "history"));
        }
        return graph_files::send(call, format, move |snapshot, writer| {
            format.write(&Selected { snapshot, selection: &selection }, writer)
        })
        .await;
    }
    let last = as_of.position.map_or(snapshot.position(), |position: Position| position);
    lines::send_whole(call, snapshot, move |call, snapshot, lines| {
        let mut writer = LineWriter::new(lines);
        let outcome = match is_history {
            true => export_history(call.door.repository()?, last, &mut writer, &()),
            false => export_jsonl(snapshot, &selection, &mut writer, &()),
        };
        outcome_of(outcome, writer)
    })
    .await
}
