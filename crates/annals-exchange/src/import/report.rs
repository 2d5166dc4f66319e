//! The result of an import: committed and refused lines.

use std::collections::HashMap;
use std::fmt::Display;
use std::sync::Arc;

use annals::{Error, ErrorKind, InstanceId, Result, TypeKind};

use super::merge::Merge;
use crate::text::count;
use crate::{Outcome, Progress, RefusedLine, RepeatedReason, Stop};

/// Most refused types that an import stores. Units: types, of some 100 bytes.
const REFUSED_TYPES_MAX: usize = 10_000;

/// The reason of all lines whose instance is there already: each names another one.
pub const EXISTING: &str = "the instance exists already";

/// So many lines with one reason are reported; further ones are counted.
const SAME_REASON_MAX: u64 = 3;
/// Most reasons that an import remembers, to count them. Lines with further reasons are reported each. Units: reasons,
/// of some 200 bytes.
const REASONS_MAX: usize = 1_000;

/// The result of an import.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Changes committed.
    pub changes_count: u64,
    /// Records they were committed in.
    pub records_count: u64,
    /// Lines committed that created an instance or declared a type.
    pub created_count: u64,
    /// Lines committed that changed an existing instance.
    pub updated_count: u64,
    /// Lines equal to the existing instance.
    pub unchanged_count: u64,
    /// Instances deleted, because a release or a merge no longer names them.
    pub deleted_count: u64,
    /// Instances deleted with these: relationships of entities, and contents of containers.
    pub taken_along_count: u64,
    /// Entities that no line names and that stay, because their deletion would delete an instance that must not go.
    pub kept_count: u64,
    /// Lines, rows or stanzas refused.
    pub refused_count: u64,
    /// Of these, lines whose instance is there already.
    pub existing_count: u64,
    /// Lines that an earlier run of the same import had committed, or that were not needed.
    pub skipped_count: u64,
    /// Each line of the present file up to this one is committed, refused or not needed. Units: lines.
    pub through_line: u64,
}

/// Passes refused lines to a listener as they occur, and counts them.
pub struct Report {
    /// The summary so far.
    pub summary: Summary,
    /// The listener of the import.
    pub progress: Arc<dyn Progress>,
    /// The comparison of lines with the repository, for a merge.
    pub merge: Option<Merge>,
    /// The types refused, each with the file and line of its declaration.
    pub refused_types: HashMap<(TypeKind, Arc<str>), String>,
    reasons: HashMap<String, Reason>,
    last_remarks: Vec<String>,
    is_stopping: bool,
}

/// How often lines were refused for one reason.
struct Reason {
    count: u64,
    /// The last line that was reported.
    file: String,
    line: u64,
}

impl Report {
    /// A report to a listener; with `is_stopping` the first refusal ends the import.
    pub fn new(progress: Arc<dyn Progress>, is_stopping: bool) -> Report {
        Report {
            summary: Summary::default(),
            progress,
            merge: None,
            refused_types: HashMap::new(),
            reasons: HashMap::new(),
            last_remarks: Vec::new(),
            is_stopping,
        }
    }

    /// Reports a refused line.
    ///
    /// Errors: ends the import if it must stop at the first refused line.
    pub fn refuse(&mut self, file: &str, line: u64, kind: ErrorKind, reason: impl Display) -> Outcome {
        self.summary.refused_count += 1;
        let reason = reason.to_string();
        let is_existing = kind == ErrorKind::AlreadyExists;
        self.summary.existing_count += u64::from(is_existing);
        let is_repeated = self.is_repeated(file, line, if is_existing { EXISTING } else { &reason });
        self.progress.note_refused(&RefusedLine { file, line, kind, reason: &reason, is_repeated });
        if self.is_stopping { Err(Stop::AtRefusal) } else { Ok(()) }
    }

    fn is_repeated(&mut self, file: &str, line: u64, reason: &str) -> bool {
        let here = || Reason { count: 0, file: file.to_owned(), line };
        let has_room = self.reasons.len() < REASONS_MAX;
        let known = match self.reasons.get_mut(reason) {
            Some(known) => known,
            None if has_room => self.reasons.entry(reason.to_owned()).or_insert_with(here),
            None => return false,
        };
        known.count += 1;
        if known.count > SAME_REASON_MAX {
            return true;
        }
        *known = Reason { count: known.count, ..here() };
        false
    }

    /// Reports how many more lines were refused for the same reasons, and the last remarks. Call it once, at the end of the
    /// import.
    pub fn finish(&mut self) {
        let mut reasons: Vec<(String, Reason)> = self.reasons.drain().collect();
        reasons.retain(|(_, known)| known.count > SAME_REASON_MAX);
        reasons.sort_by(|(_, one), (_, other)| (&one.file, one.line).cmp(&(&other.file, other.line)));
        for (reason, Reason { count, file, line }) in &reasons {
            let more_count = count - SAME_REASON_MAX;
            self.progress.note_repeated(&RepeatedReason { file, line: *line, reason, more_count });
        }
        for remark in std::mem::take(&mut self.last_remarks) {
            self.remark(remark);
        }
        let Summary { existing_count, refused_count, changes_count, .. } = self.summary;
        if existing_count > SAME_REASON_MAX {
            let all = if (existing_count, changes_count) == (refused_count, 0) { "all " } else { "" };
            self.remark(format_args!(
                "{all}{} lines are of instances that exist already: --merge (merge=true) compares them, and writes only what \
                 differs; --resume continues an interrupted import",
                count(existing_count)
            ));
        }
    }

    /// Notes that the declaration of a type is refused, so that instances of it are not imported unchecked.
    ///
    /// Errors: `TooLarge` for too many of them.
    pub fn refuse_type(&mut self, kind: TypeKind, name: &str, file: &str, line: u64) -> Result<()> {
        if self.refused_types.len() >= REFUSED_TYPES_MAX {
            let text = format!(
                "{file}:{line}: expected at most {REFUSED_TYPES_MAX} types that are refused, found more; repair the \
                 declarations first"
            );
            return Err(Error::new(ErrorKind::TooLarge, text));
        }
        self.refused_types.insert((kind, name.into()), format!("{file}:{line}"));
        Ok(())
    }

    /// Reports an entity that stays although no line names it.
    pub fn keep(&mut self, instance: &InstanceId, reason: impl Display) {
        self.summary.kept_count += 1;
        self.progress.note_kept(instance, &reason);
    }

    /// Reports a remark, which refuses nothing.
    pub fn remark(&self, text: impl Display) {
        self.progress.note_remark(&text);
    }

    /// Reports a remark at the end of the import, behind all refused lines.
    pub fn remark_at_end(&mut self, text: String) {
        self.last_remarks.push(text);
    }

    /// True if the first refused line ends the import.
    pub fn is_stopping(&self) -> bool {
        self.is_stopping
    }
}
