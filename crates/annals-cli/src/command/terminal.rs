//! The output of an import on a terminal: a bar, refused lines up to a bound, and remarks.

use std::fmt::Display;
use std::sync::atomic::{AtomicU64, Ordering};

use annals::InstanceId;
use annals_exchange::text::{count, counted, one_line};
use annals_exchange::{RefusedLine, RepeatedReason};
use serde_json::json;

use crate::progress::Progress;

/// Shows an import on standard error.
pub struct Terminal {
    bar: Progress,
    is_json: bool,
    errors_max: u64,
    refused_count: AtomicU64,
    kept_count: AtomicU64,
}

impl Terminal {
    /// Shows at most `errors_max` refused lines.
    pub fn new(is_json: bool, errors_max: u64) -> Terminal {
        Terminal {
            bar: Progress::new("import", "bytes"),
            is_json,
            errors_max,
            refused_count: AtomicU64::new(0),
            kept_count: AtomicU64::new(0),
        }
    }

    /// Says that further lines are refused, which a server only counts.
    pub fn note_unshown(&self) {
        if !self.is_json {
            self.bar.suspend(|| tell!("more lines are refused and counted, not shown; see --errors-max"));
        }
    }

    /// Removes the bar.
    pub fn finish(&self) {
        self.bar.finish();
    }
}

impl annals_exchange::Progress for Terminal {
    fn set(&self, done: u64, total: Option<u64>) {
        self.bar.set(done, total);
    }

    fn note_committed(&self, changes_count: u64) {
        self.bar.note(|| counted(changes_count, "change"));
    }

    fn note_refused(&self, refused: &RefusedLine<'_>) {
        let RefusedLine { file, line, kind, reason, is_repeated } = refused;
        if *is_repeated {
            return;
        }
        // Reasons name ids and values of the input, which could steer a terminal.
        let shown = one_line(&reason.to_string());
        let refused_count = self.refused_count.fetch_add(1, Ordering::Relaxed) + 1;
        if refused_count <= self.errors_max {
            self.bar.suspend(|| {
                if self.is_json {
                    let refused = json!({
                        "file": file, "line": line, "kind": kind.name(), "reason": reason.to_string(),
                    });
                    tell!("{}", json!({ "refused": refused }));
                } else if *line == 0 {
                    tell!("{file}: {shown} [{}]", kind.name());
                } else {
                    tell!("{file}:{line}: {shown} [{}]", kind.name());
                }
            });
        } else if refused_count == self.errors_max + 1 && !self.is_json {
            self.bar.suspend(|| tell!("more lines are refused and counted, not shown; see --errors-max"));
        }
    }

    fn note_repeated(&self, repeated: &RepeatedReason<'_>) {
        let RepeatedReason { file, line, reason, more_count } = repeated;
        self.bar.suspend(|| {
            if self.is_json {
                let repeated = json!({ "file": file, "line": line, "reason": reason, "more": more_count });
                tell!("{}", json!({ "repeated": repeated }));
            } else {
                let lines = if *more_count == 1 { "line" } else { "lines" };
                tell!(
                    "{file}:{line}: … and {} more {lines} with this reason: {}",
                    count(*more_count),
                    one_line(reason)
                );
            }
        });
    }

    fn note_kept(&self, instance: &InstanceId, reason: &dyn Display) {
        let kept_count = self.kept_count.fetch_add(1, Ordering::Relaxed) + 1;
        if kept_count <= self.errors_max {
            self.bar.suspend(|| {
                if self.is_json {
                    let kept = json!({ "instance": instance.to_string(), "reason": reason.to_string() });
                    tell!("{}", json!({ "kept": kept }));
                } else {
                    tell!("{}", one_line(&reason.to_string()));
                }
            });
        } else if kept_count == self.errors_max + 1 && !self.is_json {
            self.bar.suspend(|| tell!("more entities stay and are counted, not shown; see --errors-max"));
        }
    }

    fn note_remark(&self, text: &dyn Display) {
        if !self.is_json {
            self.bar.suspend(|| tell!("note: {}", one_line(&text.to_string())));
        }
    }
}
