//! A purge takes the edits of the purged instance out of all candidates, in the same record.

use std::collections::HashSet;
use std::sync::Arc;

use super::internal::{CANDIDATE, is_candidate};
use super::retry::transact;
use super::transaction::Transaction;
use crate::graph::actions as action;
use crate::graph::instance::unpacked::Instance;
use crate::graph::{Graph, instance_id, kind_of};
use crate::model::{Action, Change, InstanceId, Patch, Value};
use crate::read::Snapshot;
use crate::record::{RECORDS_PROPERTY, decode_record, encode_record};
use crate::write::commit::queue::Committer;
use crate::{Position, Result};

/// The instant at which the commit of a candidate is undone unless it is confirmed.
pub(in crate::write) const CONFIRM_BEFORE: &str = "confirm-before";
/// Position of such a commit, if the candidate was written since.
pub(in crate::write) const COMMITTED: &str = "committed";
/// Author of the records that take edits out after the purge.
const AUTHOR: &str = "annals";

impl Transaction {
    /// If it purges something, puts a void in place of each edit of what it purges, so that nothing answers it: its owner
    /// sees the void, which prevents the commit of the candidate until a rebase drops it.
    ///
    /// Errors: those of the changes so far, and of reading long values.
    pub(super) fn take_out_purged_edits(&mut self) -> Result<()> {
        let is_purge = |change: &Change| {
            let instance = match &change.action {
                Action::Purge(action::Purge { instance })
                | Action::PurgeCopy(action::PurgeCopy { instance, .. }) => instance,
                _ => return false,
            };
            !is_candidate(instance)
        };
        // A record of a history is written as it was.
        if self.is_of_history
            || !self.record.changes.iter().any(is_purge)
            || !has_candidates(self.base.graph())
        {
            return Ok(());
        }
        let after = self.current()?.clone();
        for (candidate, patch) in purged_edits(&after)? {
            self.update(&candidate, patch)?;
        }
        Ok(())
    }
}

/// Takes edits out of candidates whose instances were purged by a version of Annals that left them there.
pub(crate) fn forget(committer: &Arc<Committer>) -> Result<()> {
    if purged_edits(&committer.snapshot())?.is_empty() {
        return Ok(());
    }
    transact(committer, |t| {
        t.author(AUTHOR).message("edits of purged instances are taken out of candidates");
        let base = t.base().clone();
        purged_edits(&base)?.into_iter().try_for_each(|(candidate, patch)| t.update(&candidate, patch))
    })
    .map(drop)
}

fn has_candidates(graph: &Graph) -> bool {
    let extents = &graph.entities.lists.by_type.extents;
    let candidates = graph.names.find(CANDIDATE).and_then(|name| extents.of(name));
    candidates.is_some_and(|slots| slots.len() > 0)
}

/// For each candidate that edits an instance which is purged in this snapshot: what takes these edits out.
fn purged_edits(snapshot: &Snapshot) -> Result<Vec<(InstanceId, Patch)>> {
    let graph = snapshot.graph();
    let extents = &graph.entities.lists.by_type.extents;
    let slots = graph.names.find(CANDIDATE).and_then(|name| extents.of(name));
    let mut found = Vec::new();
    for slot in slots.into_iter().flat_map(|slots| slots.iter()) {
        let Some(candidate) = graph.entities.get(slot)? else { continue };
        if graph.purges.last.0 > candidate.place.position
            && let Some(patch) = without_purged(snapshot, &candidate)
        {
            found.push((InstanceId::Entity(candidate.id.clone()), patch));
        }
    }
    Ok(found)
}

fn without_purged(snapshot: &Snapshot, candidate: &Instance) -> Option<Patch> {
    let graph = snapshot.graph();
    let named = candidate.properties.iter();
    let properties: Vec<_> = named.map(|(name, value)| (graph.names.name(name), value)).collect();
    let has = |wanted: &str| properties.iter().any(|(name, _)| ***name == *wanted);
    let is_committed = has(CONFIRM_BEFORE);
    let mut edits: Vec<_> =
        properties.iter().filter(|(name, _)| name.starts_with(RECORDS_PROPERTY)).collect();
    edits.sort_by_key(|(name, _)| *name);
    let mut own = HashSet::new();
    let mut patch: Option<Patch> = None;
    for (name, value) in edits {
        let Value::Bytes(bytes) = value else { continue };
        // Bytes that are no record hold no edit.
        let Ok(mut record) = decode_record(Position::ZERO, bytes) else { continue };
        let mut has_purged = false;
        for edit in &mut record.changes {
            if is_of_purged(snapshot, edit, candidate.place.position, is_committed, &mut own) {
                *edit = Change::from(action::Void);
                has_purged = true;
            }
        }
        if has_purged {
            let bytes = Value::Bytes(encode_record(&record).into());
            patch = Some(patch.unwrap_or_default().set(name, bytes));
        }
    }
    let committed = i64::try_from(candidate.place.position).unwrap_or(i64::MAX);
    match patch {
        Some(patch) if is_committed && !has(COMMITTED) => Some(patch.set(COMMITTED, committed)),
        patch => patch,
    }
}

/// True if the instance of an edit was purged after `written`, the position of the latest edit. Until a candidate is
/// committed, its edits may name instances that only they create: `own`.
fn is_of_purged(
    snapshot: &Snapshot,
    edit: &Change,
    written: u64,
    is_committed: bool,
    own: &mut HashSet<InstanceId>,
) -> bool {
    let instance = edit.action.instance();
    let given = edit.action.new_id().zip(instance.as_ref()).filter(|_| !is_committed);
    let given = given.map(|(id, instance)| instance_id(kind_of(instance), id.clone()));
    let is_new = given.is_some() && given == instance;
    let is_gone = |instance: InstanceId| {
        !own.contains(&instance) && snapshot.revision(&instance).is_none_or(|found| found.birth.0 > written)
    };
    let mut named = edit.action.named_instances().peekable();
    if !is_new && named.peek().is_some() && named.all(is_gone) {
        return true;
    }
    own.extend(given);
    false
}
