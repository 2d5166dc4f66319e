//! Exports: the whole content of a snapshot as JSON Lines, one type of it as CSV, or all as a graph for other programs,
//! sent while it is read.

use annals::{Position, Snapshot, TypeKind};
use annals_exchange::export::{CsvRows, GraphFormat, Selected, Selection, export_history, export_jsonl};
use http::Method;
use http::header::{CONTENT_TYPE, HeaderValue};

use super::graph_files;
use super::line_writer::{LineWriter, outcome_of};
use crate::answer::lines;
use crate::description::endpoint::Endpoint;
use crate::description::parameters;
use crate::protocol::names::{CSV, NDJSON};
use crate::protocol::problem::{Outcome, Problem};
use crate::request::call::Call;

/// The endpoints of this file.
pub fn endpoints() -> Vec<Endpoint> {
    vec![
        Endpoint::new(Method::GET, "/v1/export", "Write everything as JSON Lines, or a type as CSV", get)
            .describe(
                "Types, entities and relationships of one snapshot, in an order that `POST /v1/import` and `annals import` accept. \
                 Or one type as CSV, with `type` and `Accept: text/csv` or `format=csv`. The answer is complete or visibly cut off: HTTP/1.1 ends without the last chunk, HTTP/2 with a reset.",
            )
            .tag("exchange")
            .takes(parameters::exporting())
            .takes(parameters::reading())
            .answers_as(200, "One line each.", NDJSON, "ExportLine")
            .answers_as(200, "", CSV, "Csv")
            .answers_as(200, "", GraphFormat::GraphMl.media_type(), "GraphMl")
            .answers_as(200, "", GraphFormat::Dot.media_type(), "Dot")
            .fails(&["not-found", "future-instant", "busy"]),
    ]
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
    if is_of_csv(&call) {
        return rows(call, is_history, selection).await;
    }
    if let Some(name) = ["kind", "spreadsheet"].into_iter().find(|name| call.query.get(name).is_some()) {
        let text = format!("parameter {name}: expected format=csv beside it, found another; leave it out");
        return Err(Problem::invalid(text).with("parameter", name));
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

/// True if `format`, or else an accepted media type, names CSV.
fn is_of_csv(call: &Call) -> bool {
    match call.query.get("format") {
        Some(name) => name == "csv",
        None => lines::accepts(call, CSV),
    }
}

/// The rows of one type.
async fn rows(call: Box<Call>, is_history: bool, selection: Selection) -> Outcome {
    let [type_name] = &selection.types[..] else {
        let text = format!(
            "parameter type: expected one type for CSV, whose rows have the columns of one, found {}; ask for each type",
            selection.types.len()
        );
        return Err(Problem::invalid(text).with("parameter", "type"));
    };
    if is_history {
        let text = "parameter history: expected no CSV, which has no place for it; leave it out";
        return Err(Problem::invalid(text).with("parameter", "history"));
    }
    let kind = match call.query.get("kind") {
        None => None,
        Some("entity") => Some(TypeKind::Entity),
        Some("relationship") => Some(TypeKind::Relationship),
        Some(other) => {
            let text = format!("parameter kind: expected entity or relationship, found {other:?}");
            return Err(Problem::invalid(text).with("parameter", "kind"));
        }
    };
    let (type_name, is_for_spreadsheets) = (type_name.clone(), call.query.flag("spreadsheet")?);
    let snapshot = call.snapshot().await?;
    let answer = lines::send_whole(call, snapshot, move |_, snapshot, lines| {
        let mut writer = LineWriter::new(lines);
        let kind = kind.map_or_else(|| kind_of(snapshot, &type_name), Ok);
        let outcome = kind.map_err(annals_exchange::Stop::from).and_then(|kind| {
            CsvRows { kind, type_name: &type_name, is_for_spreadsheets }.write(
                snapshot,
                &mut writer,
                &mut || {},
            )
        });
        outcome_of(outcome, writer)
    });
    let mut answer = answer.await?;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(CSV));
    Ok(answer)
}

/// The kind of the instances of a type: entities, unless only relationships are of it.
fn kind_of(snapshot: &Snapshot, type_name: &str) -> annals::Result<TypeKind> {
    for kind in [TypeKind::Entity, TypeKind::Relationship] {
        let is_declared = snapshot.type_definition(kind, type_name).is_some();
        if is_declared
            || snapshot.counts(kind)?.iter().any(|(name, count)| &**name == type_name && *count > 0)
        {
            return Ok(kind);
        }
    }
    Ok(TypeKind::Entity)
}
