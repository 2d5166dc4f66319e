//! What holds after the import of any bytes: no panic, every line imported or refused by its number, a sound repository.
//!
//! The fuzz targets in `fuzz/` call this with what they make up; the tests below with the cases kept in `tests/corpus`. Importers
//! that stand elsewhere build their own targets from it.

use std::collections::{BTreeSet, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use annals::log::MemoryLog;
use annals::{ErrorKind, Options, Repository};

use super::csv::{self, RowReader};
use super::jsonl::LineBounds;
use super::loader::BATCH_BYTES_MAX;
use super::report::Summary;
use super::{JsonlOptions, LoadOptions, Loader, Report, Run, load_csv, load_jsonl};
use crate::{Outcome, Progress, RefusedLine, Stop};

/// A line of this stands between the files of one case.
const NEXT_FILE: &[u8] = b"=====\n";
/// Most files of one case, so that a case stays short.
const FILES_MAX: usize = 4;
/// The smaller the batches, the more of them are on their way at once.
const BATCH_CHANGES: usize = 3;

/// Imports the files of a case as JSON Lines.
pub fn import_jsonl(case: &[u8]) {
    let repository = create();
    for file in files(case) {
        let told = import_lines(&repository, file);
        assert!(told.refused.is_subset(&written_lines(file)), "{:?}", told.refused);
        if told.ended.is_none() && !is_history(file) {
            let told_count = told.summary.changes_count + told.summary.refused_count;
            assert_eq!(told_count, written_lines(file).len() as u64, "{:?}", told.summary);
        }
    }
    assert_sound(&repository);
}

/// Imports the files of a case as CSV.
pub fn import_csv(case: &[u8]) {
    let repository = create();
    for file in files(case) {
        let told = import(&repository, |load, report| {
            let mut loader = Loader::new(&repository, load, report, "fuzz", Run::default());
            load_csv(&mut loader, RowReader::new(file, &csv::Options::default())?, None, &mut || {})?;
            loader.finish()
        });
        let Ok(rows) = RowReader::new(file, &csv::Options::default()) else {
            assert_eq!(told.ended, Some(ErrorKind::InvalidArgument), "a header is refused as a whole");
            continue;
        };
        assert_eq!(told.ended, None);
        assert_eq!(told.summary.changes_count + told.summary.refused_count, rows.count() as u64);
        let lines_count = file.split(|&byte| byte == b'\n').count() as u64;
        assert!(told.refused.iter().all(|line| (1..=lines_count).contains(line)), "{:?}", told.refused);
    }
    assert_sound(&repository);
}

/// What an import said.
pub struct Told {
    /// What it did.
    pub summary: Summary,
    /// The lines that it refused.
    pub refused: BTreeSet<u64>,
    /// Why it ended early, if it did.
    pub ended: Option<ErrorKind>,
}

/// Notes every line that is refused.
#[derive(Default)]
struct Refusals(Mutex<Vec<u64>>);

impl Refusals {
    fn lines(&self) -> MutexGuard<'_, Vec<u64>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Progress for Refusals {
    fn note_refused(&self, refused: &RefusedLine<'_>) {
        self.lines().push(refused.line);
    }
}

/// An empty repository in memory.
pub fn create() -> Repository {
    Repository::with_log(Arc::new(MemoryLog::new()), Options::default()).expect("an empty log opens")
}

/// The files of a case, each with its last line end.
pub fn files(case: &[u8]) -> Vec<&[u8]> {
    let mut files = Vec::new();
    let mut rest = case;
    while files.len() + 1 < FILES_MAX
        && let Some(at) = rest.windows(NEXT_FILE.len()).position(|window| window == NEXT_FILE)
    {
        files.push(&rest[..at]);
        rest = &rest[at + NEXT_FILE.len()..];
    }
    files.push(rest);
    files
}

/// Imports something in small batches, and checks what it said.
pub fn import(repository: &Repository, work: impl FnOnce(&LoadOptions, &mut Report) -> Outcome) -> Told {
    let load = LoadOptions {
        batch_changes: BATCH_CHANGES,
        batch_bytes_max: BATCH_BYTES_MAX,
        author: "fuzz".into(),
        message: "case".into(),
    };
    let refusals = Arc::new(Refusals::default());
    let mut report = Report::new(Arc::clone(&refusals) as _, false);
    let position = repository.snapshot().position();
    let ended = match work(&load, &mut report) {
        Ok(()) => None,
        Err(Stop::Failed(error) | Stop::Refused(error)) => Some(error.kind()),
        Err(stop) => panic!("only an error ends an import, found {stop:?}"),
    };
    assert!(!ended.is_some_and(is_trouble), "the log is sound, but the import ended with {ended:?}");
    if ended.is_none() {
        let records_count = repository.snapshot().position().0 - position.0;
        assert_eq!(records_count, report.summary.records_count);
    }
    let refused = std::mem::take(&mut *refusals.lines());
    assert_eq!(refused.len() as u64, report.summary.refused_count);
    Told { summary: report.summary, refused: refused.into_iter().collect(), ended }
}

/// True for errors that no input may cause, because the log in memory has no trouble.
fn is_trouble(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::Io
            | ErrorKind::Corrupted
            | ErrorKind::Unavailable
            | ErrorKind::Locked
            | ErrorKind::ReadOnly
            | ErrorKind::Closed
            | ErrorKind::NewerFormat
    )
}

/// The lines that say something, blanks left out.
fn written_lines(file: &[u8]) -> BTreeSet<u64> {
    let file = file.strip_prefix(b"\xef\xbb\xbf").unwrap_or(file);
    let lines = (1..).zip(file.split(|&byte| byte == b'\n'));
    lines.filter(|(_, line)| !line.trim_ascii().is_empty()).map(|(number, _)| number).collect()
}

fn is_history(file: &[u8]) -> bool {
    let first = super::jsonl::LineReader::new(file).next();
    matches!(first, Some(Ok(line)) if matches!(line.item, Ok(super::jsonl::Item::Record(_))))
}

fn import_lines(repository: &Repository, file: &[u8]) -> Told {
    import(repository, |load, report| {
        let options = JsonlOptions {
            load,
            name: "fuzz",
            is_resuming: false,
            run: Run::default(),
            set_aside: HashSet::new(),
            valid_from: None,
            line_bounds: LineBounds::default(),
            is_shared: false,
        };
        load_jsonl(repository, report, file, options, &mut || {})
    })
}

/// The repository is what its log says.
pub fn assert_sound(repository: &Repository) {
    let report = repository.check().expect("the log can be read");
    assert!(report.is_clean(), "{:?}", report.differences);
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn replay(format: &str, import: fn(&[u8])) {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus").join(format);
        let mut cases: Vec<_> =
            std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        cases.sort();
        assert!(!cases.is_empty());
        for case in cases {
            eprintln!("{}", case.display());
            import(&std::fs::read(case).unwrap());
        }
    }

    #[test]
    fn every_kept_case_of_json_lines_is_imported_or_refused() {
        replay("jsonl", import_jsonl);
    }

    #[test]
    fn every_kept_case_of_csv_is_imported_or_refused() {
        replay("csv", import_csv);
    }

    // A gap ended the import while the records before it were on their way: their changes were told as imported, their
    // records were not, and the log went on growing behind the message.
    #[test]
    fn a_gap_in_a_history_is_told_when_all_before_it_is_durable() {
        let line = |position: u64| {
            let id = format!("e{position}");
            let change = serde_json::json!({"action": "create", "kind": "entity", "id": id, "type": "t"});
            let record = serde_json::json!({
                "position": position, "instant": "2024-01-01T00:00:00Z", "changes": [change],
            });
            format!("{}\n", serde_json::json!({ "record": record }))
        };
        let repository = create();
        let told = import_lines(&repository, [line(1), line(2), line(4)].concat().as_bytes());
        assert_eq!(told.ended, Some(ErrorKind::Gap));
        let expected = Summary { changes_count: 2, records_count: 2, ..Summary::default() };
        assert_eq!((told.summary, repository.snapshot().position().0), (expected, 2));
    }
}
