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
/// A commit that could not be undone is tried again every so many rounds.
const FAILED_ROUNDS: usize = 5;
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
            for round in 0_usize.. {
                if is_stopping.load(Ordering::SeqCst) {
                    return;
                }
                // The candidate stores the error, or the next round reports it again.
                let _ = take_back_late(&committer, round.is_multiple_of(FAILED_ROUNDS));
                std::thread::park_timeout(LOOK_INTERVAL);
            }
        })
        .map_err(|source| Error::io("start the thread annals-confirm", source))
}

fn take_back_late(committer: &Arc<Committer>, is_for_failed: bool) -> Result<()> {
    let now = (committer.clock)();
    for candidate in stored::all(&committer.snapshot())? {
        let is_late = candidate.unconfirmed.as_ref().is_some_and(|waiting| {
            waiting.confirm_before <= now && (is_for_failed || waiting.failure.is_none())
        });
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

/// Stores with the candidate why its commit could not be undone, so that its users see the reason. The first one stays:
/// texts name positions, so each attempt may have another one, and would make another record.
fn note_failure(committer: &Arc<Committer>, candidate: &Candidate, error: &Error) -> Result<()> {
    if candidate.unconfirmed.as_ref().is_some_and(|waiting| waiting.failure.is_some()) {
        return Ok(());
    }
    let text = error.to_string();
    transact(committer, |t| {
        t.author(AUTHOR);
        let position = candidate.unconfirmed.as_ref().map_or(Position::ZERO, |waiting| waiting.position);
        let committed = i64::try_from(position.0).unwrap_or(i64::MAX);
        let patch = Patch::new().set(FAILURE, text.as_str()).set(COMMITTED, committed);
        t.update(&InstanceId::Entity(stored::id_of(&candidate.name)?), patch)
    })
    .map(drop)
}
