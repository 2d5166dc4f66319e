//! What stands in the way of committing a candidate, and how its base moves on.

use std::collections::HashSet;
use std::sync::Arc;

use super::model::Keep;
use super::stored::Stored;
use crate::graph::changed_since;
use crate::model::{Change, InstanceId};
use crate::write::Transaction;
use crate::write::queue::Committer;
use crate::{Error, ErrorKind, Result};

/// An edit of a candidate that stands in the way of committing it.
#[derive(Debug)]
pub struct CandidateConflict {
    /// Which edit, counted from 0.
    pub edit: usize,
    /// What it does.
    pub verb: &'static str,
    /// The instance that it is about.
    pub instance: Option<InstanceId>,
    /// Why it stands in the way: `Conflict` if somebody changed the instance since the base, any other kind if it cannot be applied.
    pub reason: Error,
}

/// The first edit of something that was changed since the base.
///
/// Errors: `PreconditionFailed`.
pub(super) fn check(stored: &Stored) -> Result<()> {
    let edits = stored.edits()?;
    let found = edits.iter().find_map(|edit| conflict(stored, edit));
    found.map_or(Ok(()), |conflict| {
        let text =
            format!("candidate {}: {}; see its conflicts, then rebase it", stored.name, conflict.text());
        Err(Error::new(ErrorKind::PreconditionFailed, text).with("candidate", &stored.name))
    })
}

/// Why an edit conflicts with what others committed. One that creates something is refused when it is applied.
fn conflict(stored: &Stored, edit: &Change) -> Option<Error> {
    let base = stored.base();
    let (what, changed) =
        changed_since(stored.snapshot.graph(), base, edit).filter(|_| !edit.action.is_create())?;
    let text = format!("{what} was changed at position {changed}, after the base {base}");
    Some(Error::new(ErrorKind::Conflict, text))
}

/// All that stands in the way, in the order of the edits.
pub(super) fn find(stored: &Stored, committer: &Arc<Committer>) -> Result<Vec<CandidateConflict>> {
    sort(stored, committer, None).map(|(conflicts, _)| conflicts)
}

/// Makes the snapshot of `t` the base of the candidate; tells the edits that are dropped.
pub(super) fn rebase(
    stored: &Stored,
    t: &mut Transaction,
    committer: &Arc<Committer>,
    keep: Option<Keep>,
) -> Result<Vec<CandidateConflict>> {
    let (conflicts, kept) = sort(stored, committer, keep)?;
    if keep != Some(Keep::Theirs)
        && let Some(first) = conflicts.first()
    {
        let text = format!(
            "candidate {}: {} of its edits conflict, the first: {}; keep yours, or theirs",
            stored.name,
            conflicts.len(),
            first.reason.text()
        );
        return Err(Error::new(ErrorKind::PreconditionFailed, text).with("candidate", &stored.name));
    }
    stored.put(t, t.base().position(), &kept)?;
    Ok(conflicts)
}

/// The edits in conflict, and the others. With [`Keep::Mine`] only those conflict that cannot be applied.
fn sort(
    stored: &Stored,
    committer: &Arc<Committer>,
    keep: Option<Keep>,
) -> Result<(Vec<CandidateConflict>, Vec<Change>)> {
    let edits = stored.edits()?;
    let mut transaction = Transaction::new(Arc::clone(committer), stored.snapshot.clone());
    // Edits of what the candidate itself created depend on nobody else.
    let mut created: HashSet<InstanceId> = HashSet::new();
    let (mut conflicts, mut kept) = (Vec::new(), Vec::new());
    for (edit, change) in edits.into_iter().enumerate() {
        stored.snapshot.check_cancelled()?;
        let instance = change.action.instance();
        let is_own = instance.as_ref().is_some_and(|instance| created.contains(instance));
        let is_create = change.action.is_create();
        let changed = match is_create || is_own || keep == Some(Keep::Mine) {
            true => Ok(()),
            false => conflict(stored, &change).map_or(Ok(()), Err),
        };
        match changed.and_then(|()| transaction.try_change(&change)) {
            Ok(()) => {
                created.extend(instance.filter(|_| is_create));
                kept.push(change);
            }
            Err(reason) => {
                conflicts.push(CandidateConflict { edit, verb: change.action.verb(), instance, reason });
            }
        }
    }
    Ok((conflicts, kept))
}
