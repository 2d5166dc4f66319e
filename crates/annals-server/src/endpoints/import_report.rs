//! How an import ended, as an answer.

use std::fmt::Display;
use std::sync::{Mutex, PoisonError};

use annals::{Error, ErrorKind, InstanceId, Position};
use annals_exchange::import::Summary;
use annals_exchange::{Progress, RefusedLine, RepeatedReason, Stop};
use axum::body::Body;
use axum::response::IntoResponse;
use http::{Response, StatusCode};
use serde_json::{Value as Json, json};

use crate::answer;
use crate::bounds::sending::written_in_short;
use crate::protocol::problem::{Outcome, Problem};

/// Most refused lines in an answer; the rest are only counted.
const REFUSED_LINES_MAX: usize = 100;
/// Most entities that stay in an answer; the rest are only counted.
const KEPT_MAX: usize = 100;
/// Most remarks in an answer.
const REMARKS_MAX: usize = 100;
/// A longer reason is cut. Units: bytes.
const REASON_BYTES_MAX: usize = 1_000;

/// How an import ended.
pub struct Loaded {
    outcome: Result<(), Stop>,
    summary: Summary,
    refused: Vec<RefusedInAnswer>,
    kept: Vec<KeptInAnswer>,
    remarks: Vec<String>,
    position: Position,
}

impl Loaded {
    /// The end of an import up to a position, with what its listener kept.
    pub fn new(
        outcome: Result<(), Stop>,
        summary: Summary,
        listener: &Listener,
        position: Position,
    ) -> Loaded {
        let (refused, kept) = (taken(&listener.refused), taken(&listener.kept));
        Loaded { outcome, summary, refused, kept, remarks: taken(&listener.remarks), position }
    }

    /// True if it came to its end.
    pub fn is_whole(&self) -> bool {
        self.outcome.is_ok()
    }

    /// The same problem, which says in words what the import has committed, too.
    pub fn told_what_stays(&self, problem: Problem) -> Problem {
        let Summary { records_count, changes_count, through_line, .. } = &self.summary;
        let text = format!(
            "{}; committed and kept: {changes_count} changes in {records_count} records, through line {through_line}",
            problem.detail()
        );
        problem.retold(&text)
    }

    /// The records that it wrote.
    pub fn records_count(&self) -> u64 {
        self.summary.records_count
    }
}

fn taken<T: Default>(known: &Mutex<T>) -> T {
    std::mem::take(&mut *known.lock().unwrap_or_else(PoisonError::into_inner))
}

/// The answer, when a body has been received or not.
///
/// Errors: the reason why it ended early, with the report.
pub fn outcome_of(received: Result<(), Problem>, loaded: &Loaded) -> Outcome {
    let report = report_to_json(loaded);
    let problem = match (received, &loaded.outcome) {
        (Ok(()), Ok(())) => {
            let response = answer::json(StatusCode::OK, &report, loaded.position);
            return Ok(written_in_short(response, || without_lists(report)));
        }
        // The reason why the body ended is more useful than the error that it ended.
        (Err(problem), _) => problem,
        (Ok(()), Err(stop)) => problem_of(stop, loaded),
    };
    let facts = report.as_object().into_iter().flatten();
    let problem = facts.fold(problem, |problem, (name, value)| problem.with(name, value.clone()));
    Err(if loaded.records_count() > 0 { problem.after_a_part() } else { problem })
}

/// The answer of an import that ended early. Batches may be committed, so `busy` never replaces it.
pub fn ended_early(problem: Problem) -> Response<Body> {
    let document = problem.to_json();
    written_in_short(problem.into_response(), || without_lists(document))
}

/// A report, or a problem with one, for which there is no room: the counts stay, and the lists are empty.
fn without_lists(mut report: Json) -> Json {
    let members = report.as_object_mut().into_iter().flat_map(|members| members.values_mut());
    members.filter_map(Json::as_array_mut).for_each(Vec::clear);
    report
}

/// Keeps the first refused lines for the answer.
#[derive(Default)]
pub struct Listener {
    refused: Mutex<Vec<RefusedInAnswer>>,
    kept: Mutex<Vec<KeptInAnswer>>,
    remarks: Mutex<Vec<String>>,
}

/// An entity that stays, and why.
struct KeptInAnswer {
    id: String,
    reason: String,
}

struct RefusedInAnswer {
    line: u64,
    kind: ErrorKind,
    reason: String,
    /// How many further lines have the same reason.
    more_count: u64,
}

impl Progress for Listener {
    fn note_refused(&self, refused: &RefusedLine<'_>) {
        if refused.is_repeated {
            return;
        }
        let mut known = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() < REFUSED_LINES_MAX {
            let mut reason = refused.reason.to_string();
            let end = (0..=REASON_BYTES_MAX).rev().find(|&end| reason.is_char_boundary(end));
            reason.truncate(end.unwrap_or_default());
            let (line, kind) = (refused.line, refused.kind);
            known.push(RefusedInAnswer { line, kind, reason, more_count: 0 });
        }
    }

    fn note_kept(&self, instance: &InstanceId, reason: &dyn Display) {
        let mut known = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() < KEPT_MAX {
            known.push(KeptInAnswer { id: instance.id().to_string(), reason: reason.to_string() });
        }
    }

    fn note_remark(&self, text: &dyn Display) {
        let mut known = self.remarks.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() < REMARKS_MAX {
            known.push(text.to_string());
        }
    }

    fn note_repeated(&self, repeated: &RepeatedReason<'_>) {
        let mut known = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        let last = known.iter_mut().find(|known| known.line == repeated.line);
        last.into_iter().for_each(|known| known.more_count = repeated.more_count);
    }
}

fn problem_of(stop: &Stop, loaded: &Loaded) -> Problem {
    match (stop, loaded.refused.last()) {
        (Stop::AtRefusal, Some(refused)) => {
            Problem::from(Error::new(refused.kind, &*refused.reason)).with("line", refused.line)
        }
        (Stop::Failed(error) | Stop::Refused(error), _) => failed(error),
        (Stop::AtRefusal | Stop::Output(_), _) => {
            Problem::door("internal", "the import ended without a reason")
        }
    }
}

/// A body that cannot be unpacked is a mistake of the client, not of the disk.
fn failed(error: &Error) -> Problem {
    use std::io::ErrorKind::{InvalidData, InvalidInput, UnexpectedEof};
    let source = std::error::Error::source(error).and_then(|source| source.downcast_ref::<std::io::Error>());
    if source.is_some_and(|source| [InvalidData, InvalidInput, UnexpectedEof].contains(&source.kind())) {
        return Problem::invalid(format!("body: expected lines of text or whole gzip: {error}"));
    }
    let mut copy = Error::new(error.kind(), error.text());
    for (name, value) in error.context() {
        copy = copy.with(name, value);
    }
    copy.into()
}

fn report_to_json(loaded: &Loaded) -> Json {
    let Loaded { summary, refused, kept, remarks, position, .. } = loaded;
    let kept: Vec<Json> =
        kept.iter().map(|known| json!({ "id": known.id, "reason": known.reason })).collect();
    let refused: Vec<Json> = refused
        .iter()
        .map(|known| {
            let mut json = json!({ "line": known.line, "kind": known.kind.name(), "reason": known.reason });
            if known.more_count > 0 {
                json["more"] = known.more_count.into();
            }
            json
        })
        .collect();
    json!({
        "position": position.0,
        "throughLine": summary.through_line,
        "records": summary.records_count,
        "changes": summary.changes_count,
        "skipped": summary.skipped_count,
        "created": summary.created_count,
        "updated": summary.updated_count,
        "unchanged": summary.unchanged_count,
        "deleted": summary.deleted_count,
        "takenAlong": summary.taken_along_count,
        "kept": summary.kept_count,
        "keptEntities": kept,
        "refused": summary.refused_count,
        "refusedLines": refused,
        "remarks": remarks,
    })
}
