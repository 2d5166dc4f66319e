//! Hooks of the application that check each transaction before it is durable, and may refuse it.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, PoisonError, RwLock, Weak};

use crate::graph::Graph;
use crate::graph::indexed::Indexed;
use crate::model::Record;
use crate::read::{Pending, Snapshot, Source, Watch, WatchedChange};
use crate::{Error, ErrorKind, Position, Result};

/// A transaction that is about to become durable.
pub struct Proposal {
    before: Snapshot,
    after: Snapshot,
    record: Arc<Record>,
}

impl Proposal {
    /// The graph without it.
    pub fn before(&self) -> &Snapshot {
        &self.before
    }

    /// The graph with it. Reads of the past may not have the proposed record yet.
    pub fn after(&self) -> &Snapshot {
        &self.after
    }

    /// The record as it would be written: author, message and changes.
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// Its effects on a part of the graph, with old and new values.
    ///
    /// Errors: `InvalidArgument` for a part that cannot be watched; those of reading.
    pub fn changes(&self, watch: &Watch) -> Result<Vec<WatchedChange>> {
        watch.check()?;
        let touched = self.after.touched_by(self.after.position(), &self.record)?;
        self.after.watched_between(watch, &self.before, &self.after, touched)
    }
}

type Hook = dyn Fn(&Proposal) -> std::result::Result<(), String> + Send + Sync;

/// The hooks of a repository.
#[derive(Default)]
pub(crate) struct Validators {
    hooks: RwLock<Vec<(Arc<str>, Weak<Hook>)>>,
}

/// Keeps a hook in use until it is dropped. Made by [`Repository::validate`](crate::Repository::validate).
#[must_use = "the hook is asked as long as this is kept"]
pub struct Validator {
    _hook: Arc<Hook>,
}

thread_local! {
    // True while a hook runs on this thread.
    static IS_IN_HOOK: Cell<bool> = const { Cell::new(false) };
}

/// Refuses to commit in a hook: the commit would wait for the hook itself.
pub(super) fn check_not_in_hook() -> Result<()> {
    if !IS_IN_HOOK.get() {
        return Ok(());
    }
    let text =
        "commit: a hook that validates a transaction cannot commit another one; hand it to another thread";
    Err(Error::new(ErrorKind::InvalidArgument, text))
}

impl Validators {
    pub(crate) fn add(
        &self,
        name: &str,
        hook: impl Fn(&Proposal) -> std::result::Result<(), String> + Send + Sync + 'static,
    ) -> Validator {
        let hook: Arc<Hook> = Arc::new(hook);
        let mut hooks = self.hooks.write().unwrap_or_else(PoisonError::into_inner);
        hooks.retain(|(_, hook)| hook.strong_count() > 0);
        hooks.push((name.into(), Arc::downgrade(&hook)));
        Validator { _hook: hook }
    }

    fn live(&self) -> Vec<(Arc<str>, Arc<Hook>)> {
        let hooks = self.hooks.read().unwrap_or_else(PoisonError::into_inner);
        hooks.iter().filter_map(|(name, hook)| Some((Arc::clone(name), hook.upgrade()?))).collect()
    }

    /// True if there is a hook.
    pub(super) fn are_there(&self) -> bool {
        let hooks = self.hooks.read().unwrap_or_else(PoisonError::into_inner);
        hooks.iter().any(|(_, hook)| hook.strong_count() > 0)
    }

    /// Calls the hooks for a record that leads from the published graph to `graph`.
    ///
    /// Errors: as [`Validators::ask`].
    pub(in crate::write) fn check(
        &self,
        published: Arc<Indexed>,
        source: &Arc<Source>,
        mut graph: Graph,
        record: &Record,
    ) -> Result<()> {
        let record = Arc::new(record.clone());
        let events = graph.take_events();
        let pending =
            Pending { position: graph.position.0, record: Arc::clone(&record), base: Position::ZERO };
        let after = Arc::new(published.with(graph, Arc::new(events)));
        let before = Snapshot::new(published, Arc::clone(source));
        let after = Snapshot::with_pending(after, Arc::clone(source), pending);
        self.ask(&Proposal { before, after, record })
    }

    /// Calls the hooks for a dry run.
    ///
    /// Errors: as [`Validators::ask`].
    pub(in crate::write) fn check_tried(&self, before: Snapshot, after: &Snapshot) -> Result<()> {
        let Some(Pending { record, .. }) = after.pending() else { return Ok(()) };
        self.ask(&Proposal { before, after: after.clone(), record: Arc::clone(record) })
    }

    /// Errors: `Refused` with the name of the hook and its reason.
    fn ask(&self, proposal: &Proposal) -> Result<()> {
        for (name, hook) in self.live() {
            IS_IN_HOOK.set(true);
            let outcome = catch_unwind(AssertUnwindSafe(|| hook(proposal)));
            IS_IN_HOOK.set(false);
            let reason = match outcome {
                Ok(Ok(())) => continue,
                Ok(Err(reason)) => reason,
                Err(_) => "it panicked".to_owned(),
            };
            let text = format!("refused by {name}: {reason}");
            return Err(Error::new(ErrorKind::Refused, text).with("validator", &name));
        }
        Ok(())
    }
}
