//! `annals import` into a server: sends each file while it reads it, and prints what the server reports.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Cursor, Read};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use annals::{Error, ErrorKind, Id, InstanceId, Position, Result};
use annals_exchange::import::csv::Plain;
use annals_exchange::import::{DeleteMax, EXISTING, Run, Source, Summary};
use annals_exchange::{Progress, RefusedLine, RepeatedReason};
use hyper::Method;
use serde_json::Value as Json;

use super::import::{Arguments, Format, Input, header_sum, print_summary, take_backs};
use super::import_csv::Header;
use super::listing::json_of_line;
use super::terminal::Terminal;
use crate::context::Context;
use crate::request::Request;
use crate::shown::Shown;
use crate::stop::{Outcome, REFUSED_LINES, Stop};
use crate::told::Told;

/// Records whose messages are read together.
const PAGE_RECORDS: u64 = 500;
/// Members of the report of an import, which an import that ends early has beside its problem.
const REPORT: [&str; 15] = [
    "position",
    "throughLine",
    "records",
    "changes",
    "skipped",
    "created",
    "updated",
    "unchanged",
    "deleted",
    "takenAlong",
    "kept",
    "keptEntities",
    "refused",
    "refusedLines",
    "remarks",
];

/// Imports the files in order.
pub fn run(
    context: &mut Context,
    arguments: &Arguments,
    header: &Header,
    inputs: &[Input],
    started: Instant,
) -> Outcome {
    check(arguments, inputs)?;
    let began_at = tail(context)?;
    if arguments.is_resuming {
        // Order: all files before the first write.
        inputs.iter().try_for_each(|input| check_lines(context, header, input, began_at))?;
    }
    let terminal = Arc::new(Terminal::new(context.output.is_json(), arguments.errors_max));
    let author = context.author(arguments.author.as_deref())?;
    let (mut summary, mut position, mut outcome) = (Summary::default(), began_at, Ok(()));
    for input in inputs {
        let request = request(arguments, header, input)?.signed(author.as_deref(), &arguments.message);
        let report = match send(context, request, input, &terminal) {
            Ok(report) => report,
            Err(mut stop) => {
                let report = report_beside(&mut stop);
                outcome = Err(as_in_folder(stop));
                report
            }
        };
        let report = Shown(&report);
        show(report, &input.name, &terminal);
        add(&mut summary, report);
        position = position.max(Position(report.number("position")));
        if outcome.is_err() {
            break;
        }
    }
    terminal.finish();
    // Between them are records of others, too, which nobody wants to take back.
    let is_alone = position.0 - began_at.0 == summary.records_count;
    let undo = if is_alone { take_backs(&summary, began_at, position, arguments.batch) } else { Vec::new() };
    print_summary(context, &summary, &undo, position, started)?;
    outcome?;
    if summary.refused_count + summary.kept_count > 0 { Err(Stop::Silent(REFUSED_LINES)) } else { Ok(()) }
}

/// Refuses what a server cannot import.
///
/// Errors: `InvalidArgument`.
fn check(arguments: &Arguments, inputs: &[Input]) -> Result<()> {
    if !arguments.is_deleting || inputs.len() < 2 {
        return Ok(());
    }
    let way = match inputs.iter().any(|input| input.format == Format::Csv) {
        true => "import each by a command of its own, if no type occurs in two of them",
        false => "send them as one: cat FILE… | annals import jsonl -",
    };
    let text = format!(
        "--delete-missing: expected one file for a server, found several: the first would delete what the others name; {way}"
    );
    Err(Error::new(ErrorKind::InvalidArgument, text))
}

/// The last position of the repository.
fn tail(context: &mut Context) -> Outcome<Position> {
    let mut answer = context.ask(Request::get("/v1/log").with("limit", 1))?;
    let position = answer.position().unwrap_or_default();
    answer.whole()?;
    Ok(Position(position))
}

/// Checks that the lines that an earlier run of the same import has committed have not changed or moved.
fn check_lines(context: &mut Context, header: &Header, input: &Input, tail: Position) -> Outcome {
    let mut page = VecDeque::new();
    let mut after: Option<String> = None;
    let mut is_last = false;
    let mut next = || -> Outcome<Option<(Position, String)>> {
        while page.is_empty() && !is_last {
            let request = Request::get("/v1/log").with("order", "oldest-first").with("limit", PAGE_RECORDS);
            let told = json_of_line(&context.ask(request.with_all("after", &after))?.whole()?)?;
            let told = Shown(&told);
            let record =
                |record: Shown| (Position(record.number("position")), record.text("message").to_owned());
            page.extend(told.all("items").map(record));
            after = told.optional("next").map(str::to_owned);
            is_last = after.is_none();
        }
        Ok(page.pop_front())
    };
    let run = Run::of_messages(std::iter::from_fn(|| next().transpose()), &input.name, tail)?;
    if !run.is_empty() {
        run.check(&input.name, Source::open(&input.path)?, header_sum(header, input)?)?;
    }
    Ok(())
}

fn request(arguments: &Arguments, header: &Header, input: &Input) -> Result<Request> {
    let request = Request::get("/v1/import")
        .with("name", &input.name)
        .with("batch", arguments.batch)
        .flag("resume", arguments.is_resuming)
        .flag("stopOnError", arguments.is_stopping)
        .flag("merge", arguments.is_merging)
        .with_all("key", &arguments.keys)
        .flag("replace", arguments.is_replacing)
        .flag("mergeValidTimes", arguments.has_valid_times)
        .flag("deleteMissing", arguments.is_deleting)
        .with_all("validFrom", arguments.valid_from)
        .with_all("type", arguments.csv.type_name());
    let max = Some(arguments.delete_missing_max).filter(|max| *max != DeleteMax::default());
    let request = request.with_all("deleteMissingMax", max);
    let request = match arguments.csv.plain() {
        Some(Plain::Nodes { id }) => request.with("id", id),
        Some(Plain::Edges { from, to }) => request.with("from", from).with("to", to),
        None => request,
    };
    match input.format {
        Format::Jsonl => Ok(request.uploading(Method::POST, "application/x-ndjson", None)),
        Format::Csv => {
            let request = request.uploading(Method::POST, "text/csv", None);
            header.described(request, Path::new(&input.name))
        }
    }
}

/// Sends a file. Shape: the report of the server.
fn send(context: &mut Context, request: Request, input: &Input, terminal: &Arc<Terminal>) -> Outcome<Json> {
    let broken = |error| Error::io("open the file", error).with("path", input.path.display());
    let (from, total): (Box<dyn Read + Send>, _) = if input.is_standard_input() {
        // Order: a part may be read already, for the header.
        (Box::new(Cursor::new(input.overheard.end()).chain(io::stdin())), None)
    } else {
        let file = File::open(&input.path).map_err(broken)?;
        let length = file.metadata().map_err(broken)?.len();
        (Box::new(file), Some(length))
    };
    let counted = Counted { from, terminal: Arc::clone(terminal), done: 0, total };
    json_of_line(&context.send(request, Box::new(counted))?.whole()?).map_err(Into::into)
}

/// A file that moves the bar while it is read.
struct Counted {
    from: Box<dyn Read + Send>,
    terminal: Arc<Terminal>,
    done: u64,
    total: Option<u64>,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.from.read(buffer)?;
        self.done += count as u64;
        self.terminal.set(self.done, self.total);
        Ok(count)
    }
}

/// Takes the report out of the problem of an import that ended early. Null if there is none.
fn report_beside(stop: &mut Stop) -> Json {
    let Stop::Told(Told { text, context, .. }) = stop else { return Json::Null };
    *text = text.replace("deleteMissingMax=", "--delete-missing-max ");
    let is_report = |name: &str| REPORT.contains(&name);
    let members = context.iter().filter(|(name, _)| is_report(name));
    let members = members.map(|(name, value)| {
        (name.clone(), serde_json::from_str(value).unwrap_or_else(|_| value.as_str().into()))
    });
    let report = members.collect();
    context.retain(|(name, _)| !is_report(name));
    Json::Object(report)
}

/// The end of the import, with the exit code that it has in a folder.
fn as_in_folder(stop: Stop) -> Stop {
    match stop {
        // It ended at the first refused line.
        Stop::Told(told) if told.context.iter().any(|(name, _)| name == "line") => {
            Stop::Silent(REFUSED_LINES)
        }
        // The input is wrong, and not the command.
        Stop::Told(told) if told.kind() == Some(ErrorKind::InvalidArgument) => {
            Stop::Refused(Error::new(ErrorKind::InvalidArgument, told.text))
        }
        stop => stop,
    }
}

/// Shows the refused lines, and the entities that stay.
fn show(report: Shown, file: &str, terminal: &Terminal) {
    let mut shown_count = 0;
    for refused in report.all("refusedLines") {
        let (line, reason, more_count) =
            (refused.number("line"), refused.text("reason"), refused.number("more"));
        let kind = ErrorKind::ALL.into_iter().find(|kind| kind.name() == refused.text("kind"));
        let kind = kind.unwrap_or(ErrorKind::Refused);
        terminal.note_refused(&RefusedLine { file, line, kind, reason: &reason, is_repeated: false });
        if more_count > 0 {
            let reason = if kind == ErrorKind::AlreadyExists { EXISTING } else { reason };
            terminal.note_repeated(&RepeatedReason { file, line, reason, more_count });
        }
        shown_count += 1 + more_count;
    }
    for kept in report.all("keptEntities") {
        if let Ok(id) = Id::new(kept.text("id")) {
            terminal.note_kept(&InstanceId::Entity(id), &kept.text("reason"));
        }
    }
    for remark in report.all("remarks").filter_map(|remark| remark.0.as_str()) {
        terminal.note_remark(&remark);
    }
    if report.number("refused") > shown_count {
        terminal.note_unshown();
    }
}

fn add(summary: &mut Summary, report: Shown) {
    summary.changes_count += report.number("changes");
    summary.records_count += report.number("records");
    summary.refused_count += report.number("refused");
    summary.skipped_count += report.number("skipped");
    summary.deleted_count += report.number("deleted");
    summary.taken_along_count += report.number("takenAlong");
    summary.kept_count += report.number("kept");
}
