//! Loads JSON Lines: as new changes, or, if the first line is a record, as the original history.

use std::collections::HashSet;
use std::io::BufRead;

use annals::{Error, ErrorKind, Instant, Repository};

use super::history::HistoryLoader;
use super::jsonl::{JsonItem, LineBounds, LineReader};
use super::loader::{LoadOptions, Loader};
use super::mark::Run;
use super::plain_object::PlainObjects;
use super::refused::Refused;
use super::report::Report;
use super::unit::Place;
use crate::{Outcome, Stop};

/// The name of a file, and the options of its import.
pub struct JsonlOptions<'a> {
    /// How to load lines without history.
    pub load: &'a LoadOptions,
    /// The file, for messages and marks.
    pub name: &'a str,
    /// True if this continues an earlier import of the same file.
    pub is_resuming: bool,
    /// The run of the import, new or continued.
    pub run: Run,
    /// Lines whose types are loaded already.
    pub set_aside: HashSet<u64>,
    /// Valid time of the changes, unless a line names one.
    pub valid_from: Option<Instant>,
    /// Bounds of a line.
    pub line_bounds: LineBounds,
    /// How plain objects are read; `None` to refuse them.
    pub plain: Option<&'a PlainObjects>,
    /// True if other clients write at the same time. Then a history is refused, because its positions would not hold.
    pub is_shared: bool,
    /// True if the messages of records have sums of their lines, so that the import can be resumed.
    pub is_resumable: bool,
}

/// Loads a file. The first line decides whether the file is a history; lines of the other kind are refused.
///
/// Errors: those of the log. In a history the first refused line ends the import.
pub fn load_jsonl(
    repository: &Repository,
    report: &mut Report,
    input: impl BufRead,
    options: JsonlOptions<'_>,
    progress: &mut dyn FnMut(),
) -> Outcome {
    let lines = LineReader::bounded(input, options.line_bounds).with_plain(options.plain.cloned());
    let mut lines = lines.peekable();
    let is_history = matches!(lines.peek(), Some(Ok(line)) if matches!(line.item, Ok(JsonItem::Record(_))));
    if is_history && options.is_shared {
        let text = "line 1: expected a type, an entity or a relationship, found a record; a history needs the repository for \
                    itself: load it with `annals import` while no server writes to it";
        return Err(Stop::Refused(Error::new(ErrorKind::InvalidArgument, text)));
    }
    if is_history {
        let mut loader = HistoryLoader::new(repository, report, options.name, options.is_resuming);
        for line in lines {
            progress();
            let line = line.map_err(|error| loader.end(error.into()))?;
            match line.item {
                Ok(JsonItem::Record(record)) => loader.add(line.place.line, record)?,
                Ok(_) => {
                    return Err(loader.stop_at(
                        line.place.line,
                        "expected a record like the lines before, found another line",
                    ));
                }
                Err(refused) => return Err(loader.stop_at(line.place.line, &refused.reason)),
            }
        }
        return loader.finish();
    }
    let mut loader = Loader::new(repository, options.load, report, options.name, options.run);
    loader.set_aside(options.set_aside);
    let outcome = lines.try_for_each(|line| {
        progress();
        let line = line?;
        let operations = line.item.and_then(|item| match item {
            JsonItem::Operations(mut operations) => {
                for operation in &mut operations {
                    operation.valid_from = operation.valid_from.or(options.valid_from);
                }
                Ok(operations)
            }
            JsonItem::Record(_) => Err(Refused::new(
                line.place.line,
                "expected no record behind lines without history; keep the two in separate files",
            )),
        });
        let sum = line.place.sum.filter(|_| options.is_resumable);
        loader.take(Place { sum, ..line.place }, operations)
    });
    loader.end(outcome)
}
