//! Answers with a graph in formats of other programs: GraphML and DOT.

use std::io;

use annals::Snapshot;
use annals_exchange::export::GraphFormat;
use http::header::{CONTENT_TYPE, HeaderValue};

use super::line_writer::{LineWriter, outcome_of};
use crate::answer::lines;
use crate::description::endpoint::Endpoint;
use crate::description::parameters;
use crate::protocol::problem::{Outcome, Problem};
use crate::request::call::Call;

/// Adds these answers to an endpoint.
pub fn with_graph_files(endpoint: Endpoint) -> Endpoint {
    endpoint
        .takes([parameters::graph_format()])
        .answers_as(200, "", GraphFormat::GraphMl.media_type(), "GraphMl")
        .answers_as(200, "", GraphFormat::Dot.media_type(), "Dot")
}

/// The requested format: from `format`, or else from an accepted media type; `None` for JSON.
pub fn format_of(call: &Call) -> Result<Option<GraphFormat>, Problem> {
    let Some(name) = call.query.get("format") else {
        return Ok(GraphFormat::ALL.into_iter().find(|format| lines::accepts(call, format.media_type())));
    };
    match GraphFormat::ALL.into_iter().find(|format| format.name() == name) {
        None if name != "json" => {
            let csv = if call.uri.path() == "/v1/export" { ", csv" } else { "" };
            let text = format!("format: expected json{csv}, graphml or dot, found {name:?}");
            Err(Problem::invalid(text).with("parameter", "format"))
        }
        format => Ok(format),
    }
}

/// The same for an endpoint that has pages in JSON.
///
/// Errors: `invalid-argument` for a format together with a page.
pub fn whole_format_of(call: &Call) -> Result<Option<GraphFormat>, Problem> {
    let format = format_of(call)?;
    let paging =
        ["limit", "after", "orderBy", "count"].into_iter().find(|name| call.query.get(name).is_some());
    match (format, paging) {
        (Some(format), Some(name)) => {
            let text =
                format!("{name}: expected none for {}, which is sent whole; leave it out", format.name());
            Err(Problem::invalid(text).with("parameter", name))
        }
        (format, _) => Ok(format),
    }
}

/// Answers with the text that `write` makes of the snapshot: complete, or visibly cut off.
pub async fn send(
    call: Box<Call>,
    format: GraphFormat,
    write: impl FnOnce(&Snapshot, &mut dyn io::Write) -> annals_exchange::Outcome + Send + 'static,
) -> Outcome {
    let snapshot = call.snapshot().await?;
    let answer = lines::send_whole(call, snapshot, move |_, snapshot, lines| {
        let mut writer = LineWriter::new(lines);
        let outcome = write(snapshot, &mut writer);
        outcome_of(outcome, writer)
    });
    let mut answer = answer.await?;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(format.media_type()));
    Ok(answer)
}
