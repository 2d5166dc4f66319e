//! Commits that wait for a confirmation: a thread undoes those without one in time, also after a restart.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use super::model::Candidate;
use super::stored::{self, COMMITTED, FAILURE, Stored};
use crate::model::{InstanceId, Patch};
use crate::write::Transaction;
use crate::write::queue::Committer;
use crate::write::retry::transact;
use crate::{Error, Position, Result};

/// How often the thread looks for commits whose time is over.
const LOOK_INTERVAL: Duration = Duration::from_millis(200);
/// Author of the records that undo commits.
const AUTHOR: &str = "annals";

/// Undoes the commit of a candidate. The candidate is then open again, based on the present state.
pub(super) fn take_back(t: &mut Transaction, name: &str) -> Result<()> {
    let stored = Stored::read(t.base(), name)?.unconfirmed()?;
    let Some(unconfirmed) = &stored.candidate().unconfirmed else { return Ok(()) };
    // The commit changed the candidate, too, so undoing it also ends the wait.
    t.take_back(unconfirmed.position)?;
    stored.open_again(t)
}

/// Starts the thread that undoes commits without a confirmation in time.
pub(crate) fn start(committer: &Arc<Committer>, is_stopping: Arc<AtomicBool>) -> Result<JoinHandle<()>> {
    let committer = Arc::clone(committer);
    std::thread::Builder::new()
        .name("annals-confirm".into())
        .spawn(move || {
            while !is_stopping.load(Ordering::SeqCst) {
                // The candidate stores the error, or the next round reports it again.
                let _ = take_back_late(&committer);
                std::thread::park_timeout(LOOK_INTERVAL);
            }
        })
        .map_err(|source| Error::io("start the thread annals-confirm", source))
}

fn take_back_late(committer: &Arc<Committer>) -> Result<()> {
    let now = (committer.clock)();
    for candidate in stored::all(&committer.snapshot())? {
        let is_late = candidate.unconfirmed.as_ref().is_some_and(|waiting| waiting.confirm_before <= now);
        if !is_late {
            continue;
        }
        let outcome = transact(committer, |t| {
            let text = format!("candidate {}: taken back, since nobody confirmed it in time", candidate.name);
            t.author(AUTHOR).message(&text);
            take_back(t, &candidate.name)
        });
        if let Err(error) = outcome {
            note_failure(committer, &candidate, &error)?;
        }
    }
    Ok(())
}

/// Stores with the candidate why its commit could not be undone, so that its users see the reason.
fn note_failure(committer: &Arc<Committer>, candidate: &Candidate, error: &Error) -> Result<()> {
    let text = error.to_string();
    let known = candidate.unconfirmed.as_ref().and_then(|waiting| waiting.failure.as_deref());
    if known == Some(text.as_str()) {
        return Ok(());
    }
    transact(committer, |t| {
        t.author(AUTHOR);
        let position = candidate.unconfirmed.as_ref().map_or(Position::ZERO, |waiting| waiting.position);
        let committed = i64::try_from(position.0).unwrap_or(i64::MAX);
        let patch = Patch::new().set(FAILURE, text.as_str()).set(COMMITTED, committed);
        t.update(&InstanceId::Entity(stored::id_of(&candidate.name)?), patch)
    })
    .map(drop)
}
