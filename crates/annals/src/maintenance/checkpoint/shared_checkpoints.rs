//! The checkpoints of a store that several repositories share: the register of their log names those in force.

use std::collections::HashSet;
use std::fmt;

use super::file::{Checkpoints, KEPT, SUFFIX};
use crate::graph::Graph;
use crate::log::Term;
use crate::model::Instant;
use crate::upkeep::{Replaced, SharedUpkeep, Upkeep};
use crate::{ErrorKind, Position, Result};

/// Most checkpoints that wait for their removal. Others wait in the store until there is room.
const REPLACED_MAX: usize = 256;
/// Digits of each number of a name.
const DIGITS: usize = 20;

/// The name of a checkpoint, which no writer of another term and no other graph of the same term gives.
pub(super) struct SharedName {
    position: Position,
    term: Term,
    generation: u64,
}

impl SharedName {
    pub(super) fn of(graph: &Graph, term: Term) -> SharedName {
        SharedName { position: graph.position, term, generation: graph.generation }
    }

    fn parse(name: &str) -> Option<SharedName> {
        let mut numbers = name.strip_suffix(SUFFIX)?.split('-').map(|digits| {
            let number = digits.parse().ok();
            number.filter(|_| digits.len() == DIGITS)
        });
        let (position, term, generation) = (numbers.next()??, numbers.next()??, numbers.next()??);
        numbers.next().is_none().then_some(SharedName {
            position: Position(position),
            term: Term(term),
            generation,
        })
    }
}

impl fmt::Display for SharedName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let SharedName { position, term, generation } = self;
        write!(f, "{:0DIGITS$}-{:0DIGITS$}-{generation:0DIGITS$}{SUFFIX}", position.0, term.0)
    }
}

/// The checkpoints in force, newest first.
pub(super) fn listed(upkeep: &SharedUpkeep) -> Result<Vec<(Position, String)>> {
    let names = upkeep.load()?.map(|upkeep| upkeep.checkpoints).unwrap_or_default();
    let position = |name: String| SharedName::parse(&name).map(|parsed| (parsed.position, name));
    Ok(names.into_iter().filter_map(position).collect())
}

/// Takes checkpoints of other generations out of force: they hold what was purged, and are removed after the grace.
pub(super) fn replace_others(upkeep: &SharedUpkeep, term: Term, generation: u64) -> Result<()> {
    let now = upkeep.now()?;
    let is_own = |name: &str| SharedName::parse(name).is_some_and(|parsed| parsed.generation == generation);
    let replace = |value: &mut Upkeep| {
        let (own, others): (_, Vec<String>) =
            std::mem::take(&mut value.checkpoints).into_iter().partition(|name| is_own(name));
        value.checkpoints = own;
        add_replaced(value, others, now);
    };
    upkeep.change(term, replace).map(drop)
}

/// Lists names for their removal, as many as there is room for. [`Checkpoints::remove_replaced`] finds the others.
fn add_replaced(value: &mut Upkeep, names: impl IntoIterator<Item = String>, since: Instant) {
    let room = REPLACED_MAX.saturating_sub(value.replaced.len());
    value.replaced.extend(names.into_iter().take(room).map(|name| Replaced { name, since }));
}

impl Checkpoints {
    /// True if several repositories share the store.
    pub(crate) fn is_shared(&self) -> bool {
        self.upkeep.is_some()
    }

    /// Lists a written checkpoint as the newest.
    ///
    /// Errors: `NotWriter` if `term` is not in force any more: then it is removed. `Unavailable`: then it is listed later, or
    /// removed by [`Checkpoints::remove_replaced`].
    pub(super) fn put_in_force(&self, upkeep: &SharedUpkeep, term: Term, name: String) -> Result<()> {
        let listed = upkeep.now().and_then(|now| {
            upkeep.change(term, |value| {
                value.checkpoints.retain(|known| *known != name);
                value.checkpoints.insert(0, name.clone());
                // By their positions, of which each has as many digits.
                value.checkpoints.sort_by(|a, b| b.cmp(a));
                let others = value.checkpoints.split_off(value.checkpoints.len().min(KEPT));
                value.replaced.retain(|replaced| replaced.name != name);
                add_replaced(value, others, now);
            })
        });
        match listed {
            Err(error) if error.kind() == ErrorKind::NotWriter => {
                // No other repository knows the name.
                self.remove(vec![name])?;
                Err(error)
            }
            listed => listed.map(drop),
        }
    }

    /// Removes the checkpoints that were replaced before the grace, and lists those that were never in force: their writers
    /// ended before they could list them. The caller holds the maintenance lock, and writes in `term`.
    ///
    /// Errors: `NotWriter` if `term` is not in force any more; those of the store and of the register.
    pub(crate) fn remove_replaced(&self, term: Term) -> Result<()> {
        let Some(upkeep) = &self.upkeep else { return Ok(()) };
        let stored = self.store.list().map_err(|source| self.failed("list checkpoints", "", source))?;
        let is_of_earlier = |name: &str| match SharedName::parse(name) {
            Some(parsed) => parsed.term <= term,
            None => name.ends_with(SUFFIX),
        };
        let stored: Vec<String> = stored.into_iter().filter(|name| is_of_earlier(name)).collect();
        let now = upkeep.now()?;
        let value = upkeep.change(term, |value| {
            let known = value.replaced.iter().map(|replaced| &replaced.name).chain(&value.checkpoints);
            let known: HashSet<String> = known.cloned().collect();
            add_replaced(value, stored.iter().filter(|name| !known.contains(*name)).cloned(), now);
        })?;
        let is_due = |replaced: &&Replaced| upkeep.is_over(replaced.since, now);
        let due: Vec<String> = value.replaced.iter().filter(is_due).map(|due| due.name.clone()).collect();
        if due.is_empty() {
            return Ok(());
        }
        // No other writer gives these names, so a removal that comes late removes nothing else.
        self.remove(due.clone())?;
        upkeep.change(term, |value| value.replaced.retain(|replaced| !due.contains(&replaced.name))).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back() {
        let name = SharedName { position: Position(42), term: Term(3), generation: u64::MAX }.to_string();
        let read = SharedName::parse(&name).unwrap();
        assert_eq!((read.position, read.term, read.generation), (Position(42), Term(3), u64::MAX));
        for other in ["", "x", &name[1..], &name.replace('-', "+"), &format!("{:020}.checkpoint", 42)] {
            assert!(SharedName::parse(other).is_none(), "{other}");
        }
    }
}
