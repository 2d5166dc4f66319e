//! The conflicts of a candidate, and how it is rebased.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use super::stored::StoredCandidate;
use crate::graph::changed_since;
use crate::model::{Action, Change, InstanceId, Revision};
use crate::read::Snapshot;
use crate::tree::TreePath;
use crate::write::Transaction;
use crate::write::commit::queue::Committer;
use crate::write::undo::found::Keep;
use crate::{Error, ErrorKind, Result};

/// An edit of a candidate that prevents its commit.
#[derive(Debug)]
pub struct CandidateConflict {
    /// Number of the edit, counted from 0.
    pub edit: usize,
    /// Its verb.
    pub verb: &'static str,
    /// The instance that it changes.
    pub instance: Option<InstanceId>,
    /// Where the instance is in the tree of the default root; `None` if it is in no tree.
    pub path: Option<TreePath>,
    /// The reason: `Conflict` if another transaction changed the instance since the base, any other kind if it cannot
    /// be applied.
    pub reason: Error,
}

/// Refuses if another transaction changed an edited instance since the base, or one that an edit takes along; names the
/// first such edit.
///
/// Errors: `PreconditionFailed`.
pub(super) fn check(stored: &StoredCandidate, committer: &Arc<Committer>) -> Result<()> {
    let edits = stored.edits()?;
    let found = match edits.iter().find_map(|edit| Some((edit, conflict(stored, edit)?))) {
        Some(found) => Some(found),
        None => first_along(stored, committer, &edits)?,
    };
    let Some((edit, conflict)) = found else { return Ok(()) };
    let text = format!(
        "candidate {}: {}{}; `annals candidate conflicts {}` lists all conflicts, then rebase it",
        stored.name,
        place_text(&stored.snapshot, edit.action.instance().as_ref())?,
        conflict.text(),
        stored.name
    );
    Err(Error::new(ErrorKind::PreconditionFailed, text).with("candidate", &stored.name))
}

/// The path of an instance, or else its type, before a text that names it by its id.
fn place_text(snapshot: &Snapshot, instance: Option<&InstanceId>) -> Result<String> {
    let Some(instance) = instance else { return Ok(String::new()) };
    if let Some(path) = path_of(snapshot, instance)? {
        return Ok(format!("{path}: "));
    }
    let type_name = match instance {
        InstanceId::Entity(id) => snapshot.entity(id)?.map(|found| found.type_name().to_owned()),
        InstanceId::Relationship(id) => snapshot.relationship(id)?.map(|found| found.type_name().to_owned()),
    };
    Ok(type_name.map(|type_name| format!("{type_name}: ")).unwrap_or_default())
}

/// The first edit that takes others along and is in conflict, and why. An edit that cannot be applied is reported by the commit.
fn first_along<'e>(
    stored: &StoredCandidate,
    committer: &Arc<Committer>,
    edits: &'e [Change],
) -> Result<Option<(&'e Change, Error)>> {
    let Some(last) = edits.iter().rposition(|edit| edit.action.takes_along()) else { return Ok(None) };
    let mut transaction = Transaction::new(Arc::clone(committer), stored.snapshot.clone());
    for edit in &edits[..=last] {
        if let Some(found) = along(stored, &mut transaction, edit)? {
            return Ok(Some((edit, found)));
        }
        if transaction.try_change(edit).is_err() {
            break;
        }
    }
    Ok(None)
}

/// Why an edit conflicts with later commits: it would take something along that others have written since the base.
fn along(stored: &StoredCandidate, transaction: &mut Transaction, edit: &Change) -> Result<Option<Error>> {
    let Some((other, changed)) = transaction.built_on_along(&edit.action, stored.base())? else {
        return Ok(None);
    };
    let named = edit.action.instance().map(|instance| instance.to_string()).unwrap_or_default();
    let text = format!(
        "{named}: to {} it would take {other} along, which was changed at position {changed}, after the base {}",
        edit.action.verb(),
        stored.base()
    );
    Ok(Some(Error::new(ErrorKind::Conflict, text)))
}

/// Why an edit cannot be applied if a purge has put a void in its place.
pub(super) fn purged(edit: &Change) -> Option<Error> {
    let text = "the instance of an edit was purged after it; a rebase with theirs drops the edit";
    matches!(edit.action, Action::Void(_)).then(|| Error::new(ErrorKind::NotFound, text))
}

/// Why an edit conflicts with later commits. An edit that creates an instance is refused when it is applied.
fn conflict(stored: &StoredCandidate, edit: &Change) -> Option<Error> {
    if let Some(purged) = purged(edit) {
        return Some(purged);
    }
    let base = stored.base();
    let (what, changed) =
        changed_since(stored.snapshot.graph(), base, edit).filter(|_| !edit.action.is_create())?;
    let text = format!("{what} was changed at position {changed}, after the base {base}");
    Some(Error::new(ErrorKind::Conflict, text))
}

/// Why an edit must not be applied even if it is to overwrite later changes: another instance has the id now.
fn stranger(stored: &StoredCandidate, edit: &Change) -> Option<Error> {
    let is_later = |found: &Revision| found.birth > stored.base();
    let (instance, found) = edit.action.named_instances().find_map(|instance| {
        let found = stored.snapshot.revision(&instance).filter(is_later)?;
        Some((instance, found))
    })?;
    let text = format!(
        "{instance} is another instance, created at position {}, after the base {}; drop this edit",
        found.birth,
        stored.base()
    );
    Some(Error::new(ErrorKind::Conflict, text))
}

/// All conflicts, in the order of the edits.
pub(super) fn find(stored: &StoredCandidate, committer: &Arc<Committer>) -> Result<Vec<CandidateConflict>> {
    sort(stored, committer, None).map(|(conflicts, ..)| conflicts)
}

/// Rebases the candidate on the snapshot of `t`; returns the dropped edits, and a transaction with the others.
pub(super) fn rebase(
    stored: &StoredCandidate,
    t: &mut Transaction,
    committer: &Arc<Committer>,
    keep: Option<Keep>,
) -> Result<(Vec<CandidateConflict>, Transaction)> {
    let (conflicts, kept, transaction) = sort(stored, committer, keep)?;
    if keep != Some(Keep::Theirs)
        && let Some(first) = conflicts.first()
    {
        let text = format!(
            "candidate {}: {} of its edits conflict, the first: {}{}; keep mine or theirs",
            stored.name,
            conflicts.len(),
            place_text(&stored.snapshot, first.instance.as_ref())?,
            first.reason.text()
        );
        return Err(Error::new(ErrorKind::PreconditionFailed, text).with("candidate", &stored.name));
    }
    stored.put(t, t.base().position(), &kept)?;
    Ok((conflicts, transaction))
}

/// The edits in conflict, and the others, also in a transaction. With [`Keep::Mine`] only edits that cannot be applied are in conflict.
fn sort(
    stored: &StoredCandidate,
    committer: &Arc<Committer>,
    keep: Option<Keep>,
) -> Result<(Vec<CandidateConflict>, Vec<Change>, Transaction)> {
    let edits = stored.edits()?;
    // Edits that use a unique value of others: this shows when all edits are applied, because one may free a value.
    let mut taken: BTreeMap<usize, Error> = BTreeMap::new();
    loop {
        let mut sorted = sort_except(stored, committer, keep, &edits, &taken)?;
        let found = sorted.transaction.edits_not_unique(&sorted.kept)?;
        if found.is_empty() {
            let kept = sorted.kept.into_iter().map(|edit| edits[edit].clone()).collect();
            return Ok((sorted.conflicts, kept, sorted.transaction));
        }
        taken.extend(found);
    }
}

/// The edits in conflict, and the numbers of the others, which the transaction has.
struct Sorted {
    conflicts: Vec<CandidateConflict>,
    kept: Vec<usize>,
    transaction: Transaction,
}

/// True if the error says nothing about the edit, but that nothing can be applied now.
fn is_outside(error: &Error) -> bool {
    use ErrorKind::{Cancelled, Closed, Corrupted, Io, NoRoom, Unavailable};
    [Cancelled, Closed, Corrupted, Io, NoRoom, Unavailable].contains(&error.kind())
}

/// As [`sort`], where the edits in `taken` are in conflict as well.
fn sort_except(
    stored: &StoredCandidate,
    committer: &Arc<Committer>,
    keep: Option<Keep>,
    edits: &[Change],
    taken: &BTreeMap<usize, Error>,
) -> Result<Sorted> {
    let mut transaction = Transaction::new(Arc::clone(committer), stored.snapshot.clone());
    // Edits of instances that the candidate itself created never conflict with other transactions.
    let mut created: HashSet<InstanceId> = HashSet::new();
    let (mut conflicts, mut kept) = (Vec::new(), Vec::new());
    for (edit, change) in edits.iter().enumerate() {
        stored.snapshot.check_cancelled()?;
        let instance = change.action.instance();
        let is_own = instance.as_ref().is_some_and(|instance| created.contains(instance));
        let is_create = change.action.is_create();
        let changed = match (is_create || is_own, keep) {
            (true, _) => Ok(()),
            (false, Some(Keep::Mine)) if !matches!(change.action, Action::Void(_)) => {
                stranger(stored, change).map_or(Ok(()), Err)
            }
            (false, _) => conflict(stored, change).map_or(Ok(()), Err),
        };
        // Also by an edit of what the candidate created: others may have filled what it moved in there.
        let changed = match keep {
            Some(Keep::Mine) => changed,
            _ => changed.and(along(stored, &mut transaction, change)?.map_or(Ok(()), Err)),
        };
        let changed = taken.get(&edit).map_or(changed, |reason| Err(reason.duplicate()));
        match changed.and_then(|()| transaction.try_change(change)) {
            Ok(()) => {
                created.extend(instance.filter(|_| is_create));
                kept.push(edit);
            }
            Err(reason) if is_outside(&reason) => return Err(reason),
            Err(reason) => {
                let path =
                    instance.as_ref().map_or(Ok(None), |instance| path_of(&stored.snapshot, instance))?;
                conflicts.push(CandidateConflict {
                    edit,
                    verb: change.action.verb(),
                    instance,
                    path,
                    reason,
                });
            }
        }
    }
    Ok(Sorted { conflicts, kept, transaction })
}

/// Where an instance is in the tree of the default root; for a relationship, its end.
fn path_of(snapshot: &Snapshot, instance: &InstanceId) -> Result<Option<TreePath>> {
    let entity = match instance {
        InstanceId::Entity(id) => Some(id.clone()),
        InstanceId::Relationship(id) => snapshot.relationship(id)?.map(|found| found.to().clone()),
    };
    entity.map_or(Ok(None), |id| snapshot.tree().path_of(&id))
}
