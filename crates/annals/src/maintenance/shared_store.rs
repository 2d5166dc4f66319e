//! Removes objects from a store that several repositories share, in two steps: they are listed first, and removed after a
//! grace, by the writer of the term in force.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant as Clock};

use super::checkpoint::Checkpoints;
use super::compact::{Stop, StoppableLog};
use super::contents::named_contents;
use super::removals::Removing;
use crate::contents::{Contents, SharedContents};
use crate::log::{Log, Term};
use crate::model::Sha256;
use crate::protection::Protection;
use crate::repository::Inner;
use crate::storage::widen;
use crate::upkeep::{ContentName, SharedUpkeep};
use crate::{Error, ErrorKind, Position, Result};

/// Between the mark and the removal; a process that was stopped for longer removes nothing.
const REMOVAL_MAX: Duration = Duration::from_secs(3600);

impl Inner {
    /// Removes what has waited for the grace, and lists what is to leave next. The caller holds the maintenance lock. Shape:
    /// the number of removed contents, and their bytes.
    ///
    /// Errors: `NotWriter`; those of the log, of its register and of the store. Listed objects stay listed.
    pub(crate) fn remove_from_shared(&self, log: &dyn Log) -> Result<(u64, u64)> {
        // Order: the term first. If another one has begun since, the changes of the register are refused.
        let term = self.committer.term();
        if let Some(error) = self.committer.read_only() {
            return Err(error);
        }
        self.remove_replaced(term)?;
        let Some(contents) = &self.committer.contents else { return Ok((0, 0)) };
        contents.as_shared().map_or(Ok((0, 0)), |shared| collect_shared(contents, shared, term, log))
    }
}

impl Inner {
    /// The checkpoints that this repository keeps up: its own, and if those are elsewhere, the ones of other repositories in the
    /// store of contents.
    pub(crate) fn all_checkpoints(&self) -> Vec<Checkpoints> {
        let mut all = Vec::from_iter(self.checkpoints.clone());
        if let (Some(seat), Some(contents)) = (&self.seat, &self.committer.contents)
            && !all.iter().any(Checkpoints::is_shared)
        {
            all.push(Checkpoints::new(Arc::clone(contents.store())).shared(Arc::clone(seat.upkeep())));
        }
        all
    }

    fn remove_replaced(&self, term: Term) -> Result<()> {
        self.all_checkpoints().iter().try_for_each(|checkpoints| checkpoints.remove_replaced(term))
    }
}

impl Removing for Inner {
    fn grace(&self) -> Duration {
        Duration::from_millis(self.options.removal_grace_ms)
    }

    fn remove_what_is_due(&self, begun: &mut Term) -> Result<Option<(u64, u64)>> {
        let Some(seat) = self.seat.as_ref().filter(|_| self.committer.is_writer()) else { return Ok(None) };
        let (upkeep, term) = (seat.upkeep(), self.committer.term());
        let value = upkeep.load_of(term)?;
        let is_due = match value.oldest() {
            Some(since) => upkeep.is_over(since, upkeep.now()?),
            None => false,
        };
        let is_first = *begun != term;
        if !is_due && !is_first {
            return Ok(None);
        }
        let _one = self.maintenance.lock().unwrap_or_else(PoisonError::into_inner);
        if !is_due && value.leaving_names().is_empty() {
            // The log need not be read for that.
            self.remove_replaced(term)?;
            *begun = term;
            return Ok(None);
        }
        let log = self.committer.source().log();
        let removed =
            self.remove_from_shared(&StoppableLog { log: &**log, stop: Stop(&self.is_stopping) })?;
        *begun = term;
        Ok(Some(removed))
    }

    fn warn(&self, text: String) {
        Inner::warn(self, text);
    }
}

/// The names under which a store has contents.
type Names = BTreeMap<Sha256, Vec<ContentName>>;

/// Removes the contents that were unnamed for the grace, and dooms those that are unnamed now. Shape: the number of those
/// removed, and their bytes.
///
/// Nobody else names a content in `term`, and this repository only one that it has pinned.
fn collect_shared(
    contents: &Contents,
    shared: &SharedContents,
    term: Term,
    log: &dyn Log,
) -> Result<(u64, u64)> {
    let (store, upkeep) = (contents.store(), shared.upkeep());
    let stored = store.list().map_err(|error| contents.failed("list contents", "", error))?;
    let mut unnamed = Names::new();
    for name in stored.iter().filter_map(|name| ContentName::parse(name)) {
        unnamed.entry(name.sha256).or_default().push(name);
    }
    remove_left(contents, upkeep, term, &unnamed)?;
    let (mut known, mut removed) = (Position::ZERO, (0, 0));
    loop {
        let last = log.tail()?;
        if !unnamed.is_empty() {
            named_contents(log, known.next(), last)?.keys().for_each(|sha256| drop(unnamed.remove(sha256)));
        }
        known = last;
        let (now, begun) = (upkeep.now()?, Clock::now());
        // While the pins are held, no commit can name another content: it pins it first.
        let pins = contents.pins().lock();
        if log.tail()? != known {
            continue;
        }
        let free = unnamed.iter().filter(|(sha256, _)| !pins.contains_key(sha256));
        let free: Names = free.map(|(sha256, names)| (*sha256, names.clone())).collect();
        let mut names = Vec::new();
        let changed = match Protection::Grace.is_kept() {
            true => upkeep.change(term, |value| names = value.doom(&free, now, upkeep.grace())).map(drop),
            false => {
                names.extend(free.values().flatten());
                Ok(())
            }
        };
        // Order: also if the answer was lost. Before the pins are given back.
        shared.forget(names.iter().map(|name| &name.sha256));
        drop(pins);
        changed?;
        if names.is_empty() {
            return Ok(removed);
        }
        let bytes = remove_names(contents, &names, begun)?;
        upkeep.change(term, |value| value.gone(&names))?;
        names.iter().for_each(|name| drop(unnamed.remove(&name.sha256)));
        removed = (removed.0 + widen(names.len()), removed.1 + bytes);
    }
}

/// Removes what earlier tries have left, which may have been interrupted.
fn remove_left(contents: &Contents, upkeep: &SharedUpkeep, term: Term, stored: &Names) -> Result<()> {
    let mut left = upkeep.load_of(term)?.leaving_names();
    if left.is_empty() {
        return Ok(());
    }
    left.retain(|name| stored.get(&name.sha256).is_some_and(|names| names.contains(name)));
    remove_names(contents, &left, Clock::now())?;
    let now = upkeep.now()?;
    upkeep.change(term, |value| value.forget_left(now)).map(drop)
}

/// Shape: the bytes of the removed objects.
fn remove_names(contents: &Contents, names: &[ContentName], begun: Clock) -> Result<u64> {
    let (store, names) = (contents.store(), names.iter().map(ToString::to_string).collect::<Vec<_>>());
    let bytes = names.iter().map(|name| store.length(name).unwrap_or(0)).sum();
    if begun.elapsed() > REMOVAL_MAX {
        let text = "contents: the removal was stopped for too long; it is done again later";
        return Err(Error::new(ErrorKind::Unavailable, text));
    }
    store.remove(&names).map_err(|error| contents.failed("remove contents", "", error))?;
    Ok(bytes)
}
