//! `annals import`: loads JSON Lines and CSV, and hands `import ldp` on.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use annals::{Error, ErrorKind, Instant, Position, Repository, Result};
use annals_exchange::import::csv::RowReader;
use annals_exchange::import::{
    BATCH_BYTES_MAX, CsvLoad, Declarations, DeleteMax, JsonlOptions, LineBounds, LoadOptions, Loader, Merge,
    MergeOptions, Missing, PlainObjects, Report, Run, Source, Summary, load_csv, load_jsonl,
};
use annals_exchange::text::{count, counted};
use annals_exchange::user::user_name;
use clap::Args;
use serde_json::json;
use tempfile::NamedTempFile;

use super::import_csv::{CsvArguments, Header, PLAIN_OPTIONS, extension};
use super::import_ldp::{self, LdpArguments};
use super::import_remote;
use super::overheard::Overheard;
use super::terminal::Terminal;
use crate::context::{Context, instant};
use crate::progress::Progress;
use crate::stop::{Outcome, REFUSED_LINES, Stop};

/// Changes in one batch, by default.
const BATCH_CHANGES: u64 = 5_000;

/// Load files: JSON Lines, CSV; or copy the resources of an LDP server, such as Fedora
#[derive(Args, Debug)]
#[command(after_help = "\
Formats:
  jsonl   one object per line: {\"type\": …}, {\"entity\": …}, {\"relationship\": …}; or {\"record\": …} with history
          Types stand anywhere, entities before the relationships between them. docs/json.md describes every field.
          Plain objects with --id, or with --from, --to and --type; one per line, or in an array
  csv     neo4j-admin style headers: :ID :LABEL :START_ID :END_ID :TYPE name:int[] …; files of nodes first
          Plain headers, as of spreadsheets, with --id, or with --from and --to: each title names a property
  ldp     the addresses of two root containers: copies the resources below the first one into a running Annals server.
          It skips what is there with equal content, so repeat it after an interruption. docs/ldp.md describes it.
A file may be gzip; - is standard input.

Examples:
  annals import people.jsonl
  annals import csv people.csv knows.csv
  annals import tables.csv --id 'Table Name' --type table          # a header such as Table Name;Owner;rows:int
  annals import reads.csv --from Job --to 'Table Name' --type reads
  annals import --header people-header.csv people-1.csv people-2.csv.gz
  annals import --label person people.tsv
  annals import cars.json --id Name --type car                     # an array of plain objects
  annals export --history | annals -r copy import jsonl -
  annals import crawl.jsonl --merge --key column     # every night: writes only what differs
  annals import crawl.jsonl --merge --delete-missing # and deletes what is no longer in the file
  annals import monday.jsonl --merge --replace --delete-missing    # back to the state of an export
  annals import ldp http://localhost:8080/rest http://localhost:8280/ldp

Each batch is committed completely or not at all. The command skips a bad line and reports its number and the reason;
the exit code is then 6. After an interruption, or after you have repaired bad lines in place or appended lines, run the
same command with --resume: it skips committed lines. The message of each record names its lines and a sum over them;
--resume refuses a file whose committed lines have changed.")]
pub struct Arguments {
    /// Format (jsonl or csv; guessed from the names if left out), then files; or ldp, then two addresses
    #[arg(value_name = "FORMAT|FILE", required = true)]
    terms: Vec<String>,
    /// Changes in one batch
    #[arg(long, default_value_t = BATCH_CHANGES, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub(super) batch: u64,
    /// Show at most this many refused lines; the rest are only counted
    #[arg(long, default_value_t = 100, value_name = "N")]
    pub(super) errors_max: u64,
    /// Stop at the first refused line
    #[arg(long = "stop-on-error")]
    pub(super) is_stopping: bool,
    /// Skip what an interrupted run of the same import has committed
    #[arg(long = "resume")]
    pub(super) is_resuming: bool,
    /// Compare each line with the repository: write new and changed instances, and skip equal ones
    #[arg(long = "merge", conflicts_with = "is_resuming")]
    pub(super) is_merging: bool,
    /// With --merge: a property that identifies relationships without ids, together with type and ends; may be repeated
    #[arg(long = "key", value_name = "NAME", requires = "is_merging")]
    pub(super) keys: Vec<String>,
    /// With --merge: a line holds all properties of its instance; remove those that it does not name
    #[arg(long = "replace", requires = "is_merging")]
    pub(super) is_replacing: bool,
    /// With --merge: a changed instance is valid from the valid time of its line, which must not be before the version in
    /// force; otherwise from now, or from --valid-from
    #[arg(long = "merge-valid-times", requires = "is_merging")]
    pub(super) has_valid_times: bool,
    /// With --merge: delete instances that the files do not name, of the types that occur in the files; delete nothing
    /// if a line is refused. Relationships are deleted with their entities
    #[arg(long = "delete-missing", requires = "is_merging")]
    pub(super) is_deleting: bool,
    /// With --delete-missing: delete nothing if more than this share of the instances of these types would go
    #[arg(long, default_value_t, value_name = "SHARE", requires = "is_deleting")]
    pub(super) delete_missing_max: DeleteMax,
    /// The author of the import [default: the name of the user, or that of the token; '' for none]
    #[arg(long, env = "ANNALS_AUTHOR")]
    pub(super) author: Option<String>,
    /// Why you import
    #[arg(long, short = 'm', default_value = "")]
    pub(super) message: String,
    /// Valid time of the changes, unless a line names one
    #[arg(long, value_name = "INSTANT", value_parser = instant)]
    pub(super) valid_from: Option<Instant>,
    #[command(flatten)]
    pub(super) csv: CsvArguments,
    #[command(flatten)]
    ldp: LdpArguments,
}

impl Arguments {
    /// True if it reads an LDP server.
    pub fn is_of_ldp(&self) -> bool {
        self.terms.first().is_some_and(|first| first == "ldp")
    }

    /// The author of a write to a folder.
    fn author(&self) -> String {
        self.author.clone().unwrap_or_else(user_name)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    Jsonl,
    Csv,
}

/// A file to import.
pub(super) struct Input {
    pub(super) format: Format,
    /// The name as on the command line, for messages and marks.
    pub(super) name: String,
    pub(super) path: PathBuf,
    valid_from: Option<Instant>,
    /// The rows of standard input, whose header is read.
    begun: Option<RowReader<Source>>,
    /// The beginning of standard input that was read for that: a server needs it, too.
    pub(super) overheard: Overheard,
    /// The bytes of standard input, if they are read several times. The file is deleted with this value.
    _saved: Option<NamedTempFile>,
}

impl Input {
    /// True if it is read from standard input.
    pub(super) fn is_standard_input(&self) -> bool {
        self.path.as_os_str() == "-"
    }
}

/// Imports the files in order.
pub fn run(context: &mut Context, arguments: &Arguments) -> Outcome {
    if let Some(("ldp", addresses)) = arguments.terms.split_first().map(|(first, rest)| (&**first, rest)) {
        return run_ldp(context, arguments, addresses);
    }
    let mut inputs = inputs(arguments)?;
    let plain = check_options(arguments, &inputs)?;
    if arguments.is_resuming {
        inputs.iter_mut().try_for_each(save_standard_input)?;
    }
    let header = Header::read(&arguments.csv)?;
    // Order: look at the files before the repository is created.
    for input in &mut inputs {
        look(&header, input).map_err(|error| Stop::from(error).in_file(&input.path))?;
    }
    let started = std::time::Instant::now();
    let Some(repository) = context.open_or_send()? else {
        return import_remote::run(context, arguments, &header, &inputs, started);
    };
    inputs.iter().for_each(|input| drop(input.overheard.end()));
    let is_json = context.output.is_json();
    let terminal = Arc::new(Terminal::new(is_json, arguments.errors_max));
    let mut report = Report::new(Arc::clone(&terminal) as _, arguments.is_stopping);
    report.merge = arguments.is_merging.then(|| Merge::new(merge_options(arguments)));
    let missing = Missing {
        began_at: repository.snapshot().position(),
        delete_max: arguments.delete_missing_max,
        option: "--delete-missing-max ",
    };
    let runs = runs(arguments, &header, &repository, &inputs)?;
    let outcome = load_types(arguments, &repository, &mut report, &inputs, &runs).and_then(|mut types| {
        let work = inputs.iter_mut().zip(runs).enumerate();
        for (index, (input, run)) in work {
            let set_aside = types.remove(&index).unwrap_or_default();
            let lines = Lines { run, set_aside, plain: plain.as_ref() };
            let outcome = import(arguments, &header, &repository, &mut report, input, lines);
            outcome.map_err(|stop| Stop::from(stop).in_file(&input.path))?;
        }
        Ok(missing.delete(&repository, &load_options(arguments), &mut report)?)
    });
    report.finish();
    terminal.finish();
    let summary = report.summary;
    let snapshot = repository.snapshot();
    let position = snapshot.position();
    let undo = take_backs(&summary, missing.began_at, position, arguments.batch);
    let printed = print_summary(context, &summary, &undo, position, started);
    drop(snapshot);
    let closed = repository.close();
    outcome?;
    closed?;
    if summary.refused_count + summary.kept_count > 0 { Err(Stop::Silent(REFUSED_LINES)) } else { printed }
}

/// The ranges of records whose take-backs, in this order, undo an import that began after a position. Empty if it needs none, or
/// if deletions took along more than one take-back undoes.
pub(super) fn take_backs(
    summary: &Summary,
    began_at: Position,
    position: Position,
    batch: u64,
) -> Vec<[Position; 2]> {
    if began_at.0 == 0 || position <= began_at {
        return Vec::new();
    }
    let most = annals::TAKEN_BACK_MAX as u64;
    let records = match summary.changes_count + summary.taken_along_count {
        all if all <= most => position.0,
        _ if summary.taken_along_count > 0 => return Vec::new(),
        // A record has at most so many changes, of one instance each.
        _ => most / batch,
    };
    let mut ranges = Vec::new();
    let mut last = position;
    while last > began_at {
        let before = Position(last.0.saturating_sub(records)).max(began_at);
        ranges.push([before.next(), last]);
        last = before;
    }
    ranges
}

/// Prints what was imported, and how to undo it: by take-backs of these ranges of records.
pub(super) fn print_summary(
    context: &mut Context,
    summary: &Summary,
    undo: &[[Position; 2]],
    position: Position,
    started: std::time::Instant,
) -> Outcome {
    let seconds = started.elapsed().as_secs_f64();
    if context.output.is_json() {
        context.output.json(&json!({
            "changes": summary.changes_count,
            "records": summary.records_count,
            "refused": summary.refused_count,
            "skipped": summary.skipped_count,
            "deleted": summary.deleted_count,
            "takenAlong": summary.taken_along_count,
            "kept": summary.kept_count,
            "position": position.0,
            "seconds": seconds,
        }))?;
    } else {
        let told = |number: u64, before: &str, behind: &str| match number {
            0 => String::new(),
            number => format!("{before}{}{behind}", count(number)),
        };
        let deleted = [
            told(summary.deleted_count, ", deleted ", ""),
            told(summary.taken_along_count, ", with ", " more"),
            told(summary.kept_count, ", kept ", ""),
        ]
        .concat();
        context.output.line(format!(
            "imported {} in {}, refused {}, skipped {}{deleted}; now at position {} ({seconds:.1} s)",
            counted(summary.changes_count, "change"),
            counted(summary.records_count, "record"),
            count(summary.refused_count),
            count(summary.skipped_count),
            position,
        ))?;
        let command = |[first, last]: &[Position; 2]| match first == last {
            true => format!("annals take-back {first}"),
            false => format!("annals take-back {first} --to {last}"),
        };
        if !undo.is_empty() {
            let commands: Vec<String> = undo.iter().map(command).collect();
            context.output.line(format!("to undo it: {}", commands.join("; ")))?;
        }
    }
    Ok(())
}

fn run_ldp(context: &mut Context, arguments: &Arguments, addresses: &[String]) -> Outcome {
    let others = [
        (arguments.is_resuming, "--resume"),
        (arguments.is_merging, "--merge"),
        (arguments.is_stopping, "--stop-on-error"),
        (arguments.valid_from.is_some(), "--valid-from"),
        (arguments.batch != BATCH_CHANGES, "--batch"),
    ];
    let others = others.into_iter().filter(|(is_given, _)| *is_given).map(|(_, option)| option);
    if let Some(option) = others.chain(arguments.csv.given()).next() {
        return Err(foreign(option, "the formats jsonl and csv", "ldp").into());
    }
    let common = import_ldp::Common {
        addresses,
        author: &arguments.author(),
        message: &arguments.message,
        errors_max: arguments.errors_max,
    };
    import_ldp::run(context, &arguments.ldp, &common)
}

/// Refuses options that do not apply to the formats of the files. Returns how plain objects of JSON are read.
fn check_options(arguments: &Arguments, inputs: &[Input]) -> Result<Option<PlainObjects>> {
    if let Some(option) = arguments.ldp.given() {
        return Err(foreign(option, "the format ldp", "files"));
    }
    let csv = &arguments.csv;
    let has = |format| inputs.iter().any(|input| input.format == format);
    if !has(Format::Csv)
        && let Some(option) = csv.given().find(|option| !PLAIN_OPTIONS.contains(option))
    {
        return Err(foreign(option, "the format csv", "files of JSON"));
    }
    if !has(Format::Jsonl) {
        return Ok(None);
    }
    match csv.plain() {
        Some(plain) => PlainObjects::new(plain, csv.type_name()).map(Some),
        None if !has(Format::Csv) && csv.type_name().is_some() => {
            let text = "--type: expected --id, or --from and --to, beside it for files of JSON, found none; add it, or leave \
                        --type out: each line of the native form names its type";
            Err(Error::new(ErrorKind::InvalidArgument, text))
        }
        None => Ok(None),
    }
}

fn foreign(option: &str, formats: &str, found: &str) -> Error {
    let text = format!("{option}: it is for {formats}, found {found}; leave it out");
    Error::new(ErrorKind::InvalidArgument, text)
}

fn merge_options(arguments: &Arguments) -> MergeOptions {
    MergeOptions {
        keys: arguments.keys.clone(),
        is_deleting: arguments.is_deleting,
        is_replacing: arguments.is_replacing,
        has_valid_times: arguments.has_valid_times,
        valid_from: arguments.valid_from,
    }
}

fn inputs(arguments: &Arguments) -> Result<Vec<Input>> {
    let named = match arguments.terms[0].as_str() {
        "jsonl" => Some(Format::Jsonl),
        "csv" => Some(Format::Csv),
        _ => None,
    };
    let files = &arguments.terms[usize::from(named.is_some())..];
    if files.is_empty() {
        return Err(Error::new(
            ErrorKind::InvalidArgument,
            "import: expected a file behind the format, found none",
        ));
    }
    files.iter().map(|file| input(named, file, arguments.valid_from)).collect()
}

fn input(named: Option<Format>, file: &str, valid_from: Option<Instant>) -> Result<Input> {
    let format = match named {
        Some(format) => format,
        None => format_of(file)?,
    };
    Ok(Input {
        format,
        name: file.to_owned(),
        path: file.into(),
        valid_from,
        begun: None,
        overheard: Overheard::default(),
        _saved: None,
    })
}

fn format_of(file: &str) -> Result<Format> {
    match extension(file) {
        Some("jsonl" | "ndjson" | "json") => Ok(Format::Jsonl),
        Some("csv" | "tsv") => Ok(Format::Csv),
        _ => Err(Error::new(
            ErrorKind::InvalidArgument,
            format!(
                "{file}: expected a name that ends in .jsonl, .json, .csv or .tsv; or say `annals import jsonl|csv {file}`"
            ),
        )),
    }
}

/// Looks at a file, and at its header if it is CSV.
///
/// Errors: what is wrong with the header; those of opening.
fn look(header: &Header, input: &mut Input) -> Result<()> {
    if input.format != Format::Csv {
        return if input.is_standard_input() { Ok(()) } else { Source::open(&input.path).map(drop) };
    }
    if input.is_standard_input() {
        let source = Source::from_reader("standard input", input.overheard.begin())?;
        input.begun = Some(header.rows(&input.path, source)?);
        return Ok(());
    }
    header.rows(&input.path, Source::open(&input.path)?).map(drop)
}

/// Saves standard input for a resumed import, which reads it several times: first it checks the part that is committed.
fn save_standard_input(input: &mut Input) -> Result<()> {
    if !input.is_standard_input() {
        return Ok(());
    }
    let broken = |error| Error::io("save standard input", error);
    let mut file = NamedTempFile::new().map_err(broken)?;
    std::io::copy(&mut std::io::stdin().lock(), &mut file).map_err(broken)?;
    input.path = file.path().to_owned();
    input._saved = Some(file);
    Ok(())
}

/// The runs of the files: those that begin, or those that go on, which are checked.
fn runs(
    arguments: &Arguments,
    header: &Header,
    repository: &Repository,
    inputs: &[Input],
) -> Outcome<Vec<Run>> {
    let runs = inputs.iter().map(|input| {
        if !arguments.is_resuming {
            return Ok(Run::begin(repository));
        }
        let progress = Progress::new("look for what is there", "records");
        let run = Run::latest(repository, &input.name, &progress);
        progress.finish();
        let run = run?;
        if !run.is_empty() {
            run.check(&input.name, Source::open(&input.path)?, header_sum(header, input)?)?;
        }
        Ok(run)
    });
    runs.collect()
}

/// The sum over the header of a file, which the sums of its rows contain.
pub(super) fn header_sum(header: &Header, input: &Input) -> Result<u64> {
    match input.format {
        Format::Jsonl => Ok(0),
        Format::Csv => Ok(header.rows(&input.path, Source::open(&input.path)?)?.header_sum()),
    }
}

/// Loads the types of all files of JSON Lines except standard input. Returns the lines of types by the index of the
/// file.
fn load_types(
    arguments: &Arguments,
    repository: &Repository,
    report: &mut Report,
    inputs: &[Input],
    runs: &[Run],
) -> Outcome<HashMap<usize, HashSet<u64>>> {
    let mut declarations = Declarations::default();
    for (index, (input, run)) in inputs.iter().zip(runs).enumerate() {
        // A pipe can be read only once: its types are loaded together with its other lines.
        if input.format == Format::Jsonl && input.path.is_file() {
            let source = Source::open(&input.path)?;
            let found = declarations.find(index, &input.name, source, run, report);
            found.map_err(|error| Stop::from(error).in_file(&input.path))?;
        }
    }
    let files: Vec<_> = inputs.iter().map(|input| &*input.name).zip(runs).collect();
    Ok(declarations.load(repository, &load_options(arguments), report, &files)?)
}

fn load_options(arguments: &Arguments) -> LoadOptions {
    LoadOptions {
        batch_changes: usize::try_from(arguments.batch).unwrap_or(usize::MAX),
        batch_bytes_max: BATCH_BYTES_MAX,
        author: arguments.author(),
        message: arguments.message.clone(),
        check: None,
    }
}

/// The lines of a file that are done already.
struct Lines<'p> {
    run: Run,
    set_aside: HashSet<u64>,
    /// How plain objects are read.
    plain: Option<&'p PlainObjects>,
}

fn import(
    arguments: &Arguments,
    header: &Header,
    repository: &Repository,
    report: &mut Report,
    input: &mut Input,
    lines: Lines<'_>,
) -> annals_exchange::Outcome {
    let Lines { run, set_aside, plain } = lines;
    let name = input.name.clone();
    let options = load_options(arguments);
    match input.format {
        Format::Jsonl => {
            let source = Source::open(&input.path)?;
            let mut tick = ticker(&source, Arc::clone(&report.progress));
            let options = JsonlOptions {
                load: &options,
                name: &name,
                is_resuming: arguments.is_resuming,
                run,
                set_aside,
                valid_from: input.valid_from,
                line_bounds: LineBounds::default(),
                plain,
                is_shared: false,
                is_resumable: true,
            };
            load_jsonl(repository, report, source, options, &mut tick)
        }
        Format::Csv => {
            let rows = match input.begun.take() {
                Some(rows) => rows,
                None => header.rows(&input.path, Source::open(&input.path)?)?,
            };
            let mut tick = ticker(rows.input(), Arc::clone(&report.progress));
            let mut loader = Loader::new(repository, &options, report, &name, run);
            let options = CsvLoad { valid_from: input.valid_from, ..CsvLoad::default() };
            let outcome = load_csv(&mut loader, rows, options, &mut tick);
            loader.end(outcome)
        }
    }
}

/// Moves the progress bar to where the source is.
fn ticker(source: &Source, progress: Arc<dyn annals_exchange::Progress>) -> impl FnMut() + use<> {
    let (bytes_read, bytes_total) = (source.bytes_read(), source.bytes_total());
    move || progress.set(bytes_read.load(Ordering::Relaxed), bytes_total)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Story: an import of over a million instances printed one take-back, which was refused as too large.
    #[test]
    fn a_large_import_is_undone_by_several_take_backs_the_latest_first() {
        let ranges = |changes_count, taken_along_count, position| {
            let summary = Summary { changes_count, taken_along_count, ..Summary::default() };
            let ranges = take_backs(&summary, Position(2), Position(position), 5_000);
            ranges.into_iter().map(|[first, last]| (first.0, last.0)).collect::<Vec<_>>()
        };
        assert_eq!(ranges(3, 0, 3), [(3, 3)]);
        assert_eq!(ranges(1_000_000, 0, 202), [(3, 202)]);
        assert_eq!(ranges(1_020_000, 0, 206), [(7, 206), (3, 6)]);
        assert_eq!(ranges(900_000, 900_000, 202), []);
        assert_eq!(ranges(0, 0, 2), []);
    }
}
