//! Reports of an open repository on standard error: its warnings, and how far long work is.

use std::sync::{Mutex, PoisonError};

use annals::{Observer, Position};

use crate::progress::Progress;

/// Prints the warnings that come while the repository is open, and when it is closed, and shows how far long work is.
#[derive(Default)]
pub struct Reports {
    /// The work in progress, and its bar.
    work: Mutex<Option<(&'static str, Progress)>>,
}

impl Observer for Reports {
    fn warned(&self, text: &str) {
        eprintln!("warning: {text}");
    }

    fn progressed(&self, work: &'static str, at: Position, end: Position) {
        let mut known = self.work.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, other)) = known.take_if(|(name, _)| *name != work) {
            other.finish();
        }
        let (_, bar) = known.get_or_insert_with(|| (work, Progress::new(work, "records")));
        bar.set(at.0, Some(end.0));
        if at >= end {
            bar.finish();
            *known = None;
        }
    }
}
