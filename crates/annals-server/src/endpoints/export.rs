//! Exports: everything that a snapshot holds as JSON Lines, sent while it is read.

use std::io;

use annals::Position;
use annals_exchange::Stop;
use annals_exchange::export::{Selection, export_history, export_jsonl};
use annals_json::{Form, JsonText};
use http::Method;

use crate::call::Call;
use crate::endpoint::Endpoint;
use crate::lines::{self, Lines};
use crate::names::NDJSON;
use crate::parameters;
use crate::problem::{Outcome, Problem};

/// The endpoints of this file.
pub fn endpoints() -> Vec<Endpoint> {
    vec![
        Endpoint::new(Method::GET, "/v1/export", "Write everything as JSON Lines", get)
            .describe(
                "Types, entities and relationships of one snapshot, in an order in which `POST /v1/import` and `annals import` \
                 take them. The answer is whole or visibly cut off: without the last chunk of HTTP/1.1, with a reset of HTTP/2.",
            )
            .tag("exchange")
            .takes(parameters::exporting())
            .takes(parameters::reading())
            .answers_as(200, "One line each.", NDJSON, "ExportLine")
            .fails(&["not-found", "future-instant", "busy"]),
    ]
}

async fn get(call: Box<Call>) -> Outcome {
    let snapshot = call.snapshot().await?;
    let selection = Selection { types: call.query.all("type").map(str::to_owned).collect() };
    let is_history = call.query.flag("history")?;
    let as_of = call.query.as_of()?;
    if is_history && !(selection.types.is_empty() && as_of.instant.is_none() && as_of.valid.is_none()) {
        let text = "parameter history: expected neither type nor at nor validAt beside it, found one of them; leave it out";
        return Err(Problem::invalid(text).with("parameter", "history"));
    }
    let last = as_of.position.map_or(snapshot.position(), |position: Position| position);
    lines::send_whole(call, snapshot, move |call, snapshot, lines| {
        let mut writer = Writer { lines, line: Vec::new(), problem: None };
        let outcome = match is_history {
            true => export_history(call.door.repository()?, last, &mut writer, &()),
            false => export_jsonl(snapshot, &selection, &mut writer, &()),
        };
        match (outcome, writer.problem) {
            (_, Some(problem)) => Err(problem),
            (Ok(()), None) => Ok(()),
            (Err(Stop::Failed(error) | Stop::Refused(error)), None) => Err(error.into()),
            (Err(stop), None) => Err(Problem::door("internal", format!("export: {stop:?}"))),
        }
    })
    .await
}

/// Hands lines on to the answer.
struct Writer<'l> {
    lines: &'l mut Lines,
    /// What there is of a line.
    line: Vec<u8>,
    /// Why the answer takes no more.
    problem: Option<Problem>,
}

/// A line that is JSON already.
struct Text<'t>(&'t [u8]);

impl Form for Text<'_> {
    fn write(&self, to: &mut JsonText) {
        to.json(self.0);
    }
}

impl io::Write for Writer<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let end = bytes.iter().position(|&byte| byte == b'\n');
        self.line.extend_from_slice(&bytes[..end.unwrap_or(bytes.len())]);
        let Some(end) = end else { return Ok(bytes.len()) };
        let told = self.lines.line(&Text(&self.line));
        self.line.clear();
        if let Err(problem) = told {
            self.problem = Some(problem);
            return Err(io::Error::other("the answer takes no more"));
        }
        Ok(end + 1)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
