//! `annals export`: everything as JSON Lines or CSV, or as a graph for other programs.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use annals::storage::private_files;
use annals::{Error, ErrorKind, TypeKind};
use annals_exchange::export::{Selection, csv_file_name, export_csv};
use clap::{Args, ValueEnum};

use super::listing::json_of_line;
use crate::context::{AsOfArguments, Context};
use crate::place::Answer;
use crate::progress::Progress;
use crate::request::Request;
use crate::shown::Shown;
use crate::stop::Outcome;

/// Write everything, or all instances of certain types, to a file or standard output
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  annals export -o all.jsonl
  annals export --type person --type knows          entities and relationships of these types
  annals export --history | annals -r copy import jsonl -     an equal repository, with its whole past
  annals export --valid-at 2024-01-01 -o then.jsonl
  annals export --format csv -o folder              nodes-TYPE.csv and relationships-TYPE.csv
  annals export --format graphml -o all.graphml     for other programs; dot for Graphviz
docs/json.md describes the lines; docs/cli.md what CSV cannot carry.")]
pub struct Arguments {
    /// Write every record with position, instant, author and message, instead of the current instances
    #[arg(long = "history", conflicts_with_all = ["types", "valid_at", "at"])]
    is_history: bool,
    /// Only this type and its subtypes; may be repeated
    #[arg(long = "type", short = 't', value_name = "TYPE")]
    types: Vec<String>,
    /// Format of the output
    #[arg(long, value_enum, default_value = "jsonl")]
    format: Format,
    /// Write CSV for people who open it in a spreadsheet: a text that begins like a formula (= + - @) gets an apostrophe
    /// before it, and control characters are escaped. An import of such a file would not bring these texts back
    #[arg(long = "spreadsheet")]
    is_for_spreadsheets: bool,
    /// File, or folder for csv; standard output if left out
    #[arg(long, short = 'o', value_name = "PATH")]
    output: Option<PathBuf>,
    #[command(flatten)]
    as_of: AsOfArguments,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    Jsonl,
    Csv,
    /// GraphML, an XML format; not for import
    Graphml,
    /// DOT, which Graphviz draws; not for import
    Dot,
}

impl Arguments {
    /// True if it writes files of CSV.
    pub fn is_of_csv(&self) -> bool {
        self.format == Format::Csv
    }
}

/// Exports.
pub fn run(context: &mut Context, arguments: &Arguments) -> Outcome {
    match (arguments.format, &arguments.output) {
        (Format::Csv | Format::Graphml | Format::Dot, _) if arguments.is_history => {
            let text = "--history: expected --format jsonl, found another";
            Err(Error::new(ErrorKind::InvalidArgument, text).into())
        }
        (Format::Csv, None) => {
            let text = "--format csv: expected a folder behind -o, because it writes one file for each type";
            Err(Error::new(ErrorKind::InvalidArgument, text).into())
        }
        (Format::Csv, Some(folder)) => csv(context, arguments, folder),
        _ if arguments.is_for_spreadsheets => {
            let text = "--spreadsheet: expected --format csv, found another; leave one of them out";
            Err(Error::new(ErrorKind::InvalidArgument, text).into())
        }
        (format, output) => {
            let name = match format {
                Format::Graphml => Some("graphml"),
                Format::Dot => Some("dot"),
                Format::Jsonl | Format::Csv => None,
            };
            let request = Request::get("/v1/export")
                .with_all("type", &arguments.types)
                .with_all("format", name)
                .flag("history", arguments.is_history);
            let total = lines_total(context, arguments);
            let mut answer = context.ask_at(request, &arguments.as_of)?;
            // A terminal that shows the export needs no bar.
            let is_shown = output.is_some() || !context.output.is_terminal();
            let bar = if is_shown { Progress::new("export", "lines") } else { Progress::none() };
            let total = if arguments.is_history { answer.position() } else { total };
            let outcome = match output {
                None => copy_lines(&mut answer, context.output.writer(), &bar, total),
                Some(path) => write_file(path, &mut answer, &bar, total),
            };
            bar.finish();
            outcome
        }
    }
}

/// Files of CSV, one for each type.
fn csv(context: &mut Context, arguments: &Arguments, folder: &Path) -> Outcome {
    let Some(repository) = context.open_or_ask()? else { return csv_of_server(context, arguments, folder) };
    let snapshot = context.snapshot(&arguments.as_of, &repository)?;
    let progress = Progress::new("export", "instances");
    let selection = Selection { types: arguments.types.clone() };
    let outcome = export_csv(&snapshot, &selection, folder, arguments.is_for_spreadsheets, &progress);
    progress.finish();
    Ok(outcome?)
}

/// The same files from a server, which answers with one at a time.
fn csv_of_server(context: &mut Context, arguments: &Arguments, folder: &Path) -> Outcome {
    private_files::create_folder(folder).map_err(|error| file_error(folder, error))?;
    let told = context.ask_at(Request::get("/v1/stats"), &arguments.as_of)?.whole()?;
    let told = json_of_line(&told)?;
    let position = Shown(&told).number("position");
    for (kind, counts) in [(TypeKind::Entity, "entities"), (TypeKind::Relationship, "relationships")] {
        for (type_name, count) in Shown(&told).of(counts).of("byType").members() {
            let count = &count.as_u64().unwrap_or_default();
            if !arguments.types.is_empty() && !arguments.types.iter().any(|name| name == type_name) {
                continue;
            }
            let request = Request::get("/v1/export")
                .with("format", "csv")
                .with("type", type_name)
                .with("kind", kind.name())
                .flag("spreadsheet", arguments.is_for_spreadsheets);
            // All files of one snapshot; an instant names one already.
            let is_dated = arguments.as_of.at.is_some()
                || arguments.as_of.at_position.is_some()
                || context.candidate.is_some();
            let request = if is_dated { request } else { request.with("atPosition", position) };
            let mut answer = context.ask_at(request, &arguments.as_of)?;
            let bar = Progress::new("export", "lines");
            let written =
                write_file(&folder.join(csv_file_name(kind, type_name)), &mut answer, &bar, Some(*count + 1));
            bar.finish();
            written?;
        }
    }
    Ok(())
}

/// Writes an answer into a file.
fn write_file(path: &Path, answer: &mut Answer, bar: &Progress, total: Option<u64>) -> Outcome {
    let created = private_files::create_or_empty(path).map_err(|error| file_error(path, error))?;
    let mut writer = BufWriter::with_capacity(256 * 1024, created);
    let mut lines = 0;
    answer.copy_with(|part| {
        writer.write_all(part).map_err(|error| file_error(path, error))?;
        count_lines(part, &mut lines, bar, total);
        Ok(())
    })?;
    finish(writer).map_err(|error| file_error(path, error).into())
}

/// Hands on an answer, and moves the bar by its lines.
fn copy_lines(answer: &mut Answer, to: &mut impl Write, bar: &Progress, total: Option<u64>) -> Outcome {
    let mut lines = 0;
    answer.copy_with(|part| {
        to.write_all(part)?;
        count_lines(part, &mut lines, bar, total);
        Ok(())
    })
}

fn count_lines(part: &[u8], lines: &mut u64, bar: &Progress, total: Option<u64>) {
    if bar.is_active() {
        *lines += part.iter().filter(|byte| **byte == b'\n').count() as u64;
        bar.set(*lines, total);
    }
}

/// The number of lines of an export of everything, if a terminal shows the bar, and the client may know it.
fn lines_total(context: &mut Context, arguments: &Arguments) -> Option<u64> {
    let is_of_all = arguments.types.is_empty() && !arguments.is_history && arguments.format == Format::Jsonl;
    if !is_of_all || !Progress::new("export", "lines").is_active() {
        return None;
    }
    let request = context.of_candidate(Request::get("/v1/stats")).read_at(&arguments.as_of);
    let told = context.ask(request).and_then(|mut answer| answer.whole()).ok()?;
    let told = json_of_line(&told).ok()?;
    let of = |name: &str| Shown(&told).of(name).number("total");
    Some(Shown(&told).number("types") + of("entities") + of("relationships"))
}

fn finish(writer: BufWriter<File>) -> std::io::Result<()> {
    writer.into_inner().map_err(std::io::IntoInnerError::into_error)?.sync_all()
}

fn file_error(path: &Path, error: std::io::Error) -> Error {
    Error::io("write the export", error).with("path", path.display())
}
