//! Commits that wait for a confirmation: a thread undoes those without one in time, also after a restart.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use super::model::Candidate;
use super::stored::{self, COMMITTED, CONFIRM_BEFORE, FAILURE, StoredCandidate};
use crate::graph::actions as action;
use crate::log::ReadLimit;
use crate::model::{Action, InstanceId, Patch};
use crate::record::decode_record;
use crate::write::Transaction;
use crate::write::build::retry::transact;
use crate::write::commit::queue::Committer;
use crate::write::undo::found::Keep;
use crate::write::undo::taken_back::TakenBack;
use crate::{Error, ErrorKind, Position, Result};

/// How often the thread looks for commits whose time is over.
const LOOK_INTERVAL: Duration = Duration::from_millis(200);
/// After a failure that passes by itself, such as a full disk, the thread tries again so soon, and then after twice the
/// time before.
const RETRY_MIN: Duration = Duration::from_secs(1);
/// After another failure, and at most, it waits this long.
const RETRY_MAX: Duration = Duration::from_secs(60);
/// Author of the records that undo commits.
const AUTHOR: &str = "annals";

/// Undoes the commit of a candidate. The candidate is then open again, based on the present state.
pub(super) fn take_back(
    t: &mut Transaction,
    stored: &StoredCandidate,
    keep: Option<Keep>,
    check: impl FnOnce(&mut Transaction) -> Result<()>,
) -> Result<TakenBack> {
    let Some(unconfirmed) = &stored.candidate().unconfirmed else { return Ok(TakenBack::default()) };
    let position = unconfirmed.position;
    check_is_commit(t, position, stored)?;
    // The commit changed the candidate, too, so undoing it also ends the wait.
    let taken = t.take_back_except(position..=position, keep, Some(&stored.instance))?;
    check(t)?;
    stored.open_again(t, &taken.stays)?;
    Ok(taken)
}

/// Refuses a position whose record did not commit the candidate: another program has written its entity.
fn check_is_commit(t: &Transaction, position: Position, stored: &StoredCandidate) -> Result<()> {
    let mut is_commit = false;
    if position <= t.base().position() {
        for bytes in
            t.base().source().log().read(position, ReadLimit { records: 1, ..ReadLimit::default() })?
        {
            is_commit = decode_record(position, &bytes)?.changes.iter().any(|change| {
                let Action::Update(action::Update { instance, patch, .. }) = &change.action else {
                    return false;
                };
                *instance == stored.instance && patch.sets(CONFIRM_BEFORE)
            });
        }
    }
    if is_commit {
        return Ok(());
    }
    let name = &stored.name;
    let text =
        format!("candidate {name}: expected the position of its commit, found another record; discard it");
    Err(Error::new(ErrorKind::Corrupted, text).with("candidate", name))
}

/// Starts the thread that undoes commits without a confirmation in time.
pub(crate) fn start(committer: &Arc<Committer>, is_stopping: Arc<AtomicBool>) -> Result<JoinHandle<()>> {
    let committer = Arc::clone(committer);
    std::thread::Builder::new()
        .name("annals-confirm".into())
        .spawn(move || {
            let mut failed = HashMap::new();
            while !is_stopping.load(Ordering::SeqCst) {
                // The candidate stores the error, or the next round reports it again.
                let _ = take_back_late(&committer, &mut failed);
                std::thread::park_timeout(LOOK_INTERVAL);
            }
        })
        .map_err(|source| Error::io("start the thread annals-confirm", source))
}

/// A commit of a candidate: the name alone may be that of a later one.
type Commit = (Arc<str>, Position);
/// Commits that the thread could not take back.
type Failed = HashMap<Commit, Rest>;

/// How long the thread leaves a commit alone.
struct Rest {
    length: Duration,
    ends_at: std::time::Instant,
}

impl Rest {
    fn after(error: &Error, before: Option<&Rest>) -> Rest {
        use ErrorKind::{Busy, Io, NoRoom, Unavailable};
        let passes = matches!(error.kind(), Busy | Io | NoRoom | Unavailable);
        let length = match before {
            Some(before) if passes => (2 * before.length).min(RETRY_MAX),
            None if passes => RETRY_MIN,
            _ => RETRY_MAX,
        };
        Rest { length, ends_at: std::time::Instant::now() + length }
    }
}

fn take_back_late(committer: &Arc<Committer>, failed: &mut Failed) -> Result<()> {
    let is_held = || Arc::strong_count(&committer.held_timer) > 1;
    if is_held() || !committer.is_writer() {
        return Ok(());
    }
    let late = |candidate: &Candidate| {
        let waiting = candidate.unconfirmed.as_ref();
        waiting.is_some_and(|waiting| waiting.confirm_before <= (committer.clock)())
    };
    let commit_of = |candidate: &Candidate| -> Commit {
        let committed = candidate.unconfirmed.as_ref().map(|waiting| waiting.position);
        (Arc::clone(&candidate.name), committed.unwrap_or_default())
    };
    let candidates: Vec<Candidate> =
        stored::all(&committer.snapshot())?.into_iter().filter(|candidate| late(candidate)).collect();
    failed.retain(|commit, _| candidates.iter().any(|candidate| commit_of(candidate) == *commit));
    for candidate in candidates {
        let commit = commit_of(&candidate);
        if failed.get(&commit).is_some_and(|rest| rest.ends_at > std::time::Instant::now()) {
            continue;
        }
        let outcome = transact(committer, |t| {
            // It may have been confirmed, or taken back and committed again, since the list was made.
            let stored =
                StoredCandidate::read(t.base(), &candidate.name).and_then(StoredCandidate::unconfirmed);
            let Some(stored) = stored.ok().filter(|stored| late(stored.candidate()) && !is_held()) else {
                return Ok(());
            };
            let text = format!("candidate {}: taken back, since nobody confirmed it in time", candidate.name);
            t.author(AUTHOR).message(&text);
            take_back(t, &stored, None, |_| Ok(())).map(drop)
        });
        if let Err(error) = outcome {
            let rest = Rest::after(&error, failed.get(&commit));
            failed.insert(commit, rest);
            // Another candidate may be taken back, even if this one cannot store its failure.
            let _ = note_failure(committer, &candidate, &error);
        }
    }
    Ok(())
}

/// Stores with the candidate why its commit could not be undone, so that its users see the reason. It stores the first
/// reason only: a reason may name the newest record, and storing it makes a newer one.
fn note_failure(committer: &Arc<Committer>, candidate: &Candidate, error: &Error) -> Result<()> {
    if candidate.unconfirmed.as_ref().is_none_or(|waiting| waiting.failure.is_some()) {
        return Ok(());
    }
    let text = error.to_string();
    transact(committer, |t| {
        t.author(AUTHOR);
        let position = candidate.unconfirmed.as_ref().map_or(Position::ZERO, |waiting| waiting.position);
        let now = StoredCandidate::read(t.base(), &candidate.name)?;
        if now.candidate().unconfirmed.as_ref().is_none_or(|waiting| waiting.position != position) {
            return Ok(());
        }
        let committed = i64::try_from(position.0).unwrap_or(i64::MAX);
        let patch = Patch::new().set(FAILURE, text.as_str()).set(COMMITTED, committed);
        t.update(&InstanceId::Entity(stored::id_of(&candidate.name)?), patch)
    })
    .map(drop)
}
