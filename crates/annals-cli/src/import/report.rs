//! What an import did, and which lines it refused.

use std::collections::HashMap;
use std::fmt::Display;
use std::sync::Arc;

use annals::{ErrorKind, TypeKind};
use serde_json::json;

use super::merge::Merge;
use crate::progress::Progress;
use crate::stop::{Outcome, REFUSED_LINES, Stop};

/// What an import did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Changes committed.
    pub changes_count: u64,
    /// Records they were committed in.
    pub records_count: u64,
    /// Lines, rows or stanzas refused.
    pub refused_count: u64,
    /// Lines that an earlier run of the same import had committed, or that another line made needless.
    pub skipped_count: u64,
}

/// Tells refused lines as they are met, up to a limit, and counts all of them.
pub struct Report {
    /// What was done so far.
    pub summary: Summary,
    /// The progress bar of the import.
    pub progress: Progress,
    /// How lines are compared with what is there, if they are.
    pub merge: Option<Merge>,
    /// The types refused, each with the file and line of its declaration.
    pub refused_types: HashMap<(TypeKind, Arc<str>), String>,
    /// The lines refused, for the fuzz targets, which ask what became of every line.
    #[cfg(any(test, fuzzing))]
    pub refused_lines: Vec<u64>,
    is_json: bool,
    errors_max: u64,
    is_stopping: bool,
}

impl Report {
    /// Tells at most `errors_max` refusals; with `is_stopping` the first one ends the import.
    pub fn new(progress: Progress, is_json: bool, errors_max: u64, is_stopping: bool) -> Report {
        Report {
            summary: Summary::default(),
            progress,
            merge: None,
            refused_types: HashMap::new(),
            #[cfg(any(test, fuzzing))]
            refused_lines: Vec::new(),
            is_json,
            errors_max,
            is_stopping,
        }
    }

    /// Tells that a line was refused.
    ///
    /// Errors: ends the import if it was asked to stop at the first.
    pub fn refuse(&mut self, file: &str, line: u64, kind: ErrorKind, reason: impl Display) -> Outcome {
        self.summary.refused_count += 1;
        #[cfg(any(test, fuzzing))]
        self.refused_lines.push(line);
        if self.summary.refused_count <= self.errors_max {
            let is_json = self.is_json;
            self.progress.suspend(|| {
                if is_json {
                    let refused = json!({
                        "file": file, "line": line, "kind": kind.name(), "reason": reason.to_string(),
                    });
                    eprintln!("{}", json!({ "refused": refused }));
                } else if line == 0 {
                    eprintln!("{file}: {reason} [{}]", kind.name());
                } else {
                    eprintln!("{file}:{line}: {reason} [{}]", kind.name());
                }
            });
        } else if self.summary.refused_count == self.errors_max + 1 && !self.is_json {
            self.progress
                .suspend(|| eprintln!("more lines are refused and counted, not shown; see --errors-max"));
        }
        if self.is_stopping { Err(Stop::Silent(REFUSED_LINES)) } else { Ok(()) }
    }

    /// Notes that the declaration of a type is refused, so that what is of it is not taken unchecked.
    pub fn refuse_type(&mut self, kind: TypeKind, name: &str, file: &str, line: u64) {
        self.refused_types.insert((kind, name.into()), format!("{file}:{line}"));
    }

    /// Says something that is worth knowing and refuses nothing.
    pub fn remark(&self, text: impl Display) {
        if !self.is_json {
            self.progress.suspend(|| eprintln!("note: {text}"));
        }
    }

    /// True if the first refused line ends the import.
    pub fn is_stopping(&self) -> bool {
        self.is_stopping
    }
}
